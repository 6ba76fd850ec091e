import type { PlannedNode } from './commands/testnet.ts'
import { printEndpoint } from './settings.ts'

/** A word of a shell line, whatever it holds. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * What made the network, so that the scripts run where nothing is on PATH: the words that start svcd, and a CometBFT
 * program.
 */
export interface Programs {
  readonly svcd: readonly string[]
  readonly cometbft: string
}

const SIGNING = 'With --unlock ACCOUNT --auth-token-file FILE it signs for callers that send the token.'

const head = (says: string): string => `#!/bin/sh\n# ${says}\ncd "$(dirname "$0")" || exit 1\n`

function svcdLine(programs: Programs, args: string): string {
  return [
    `if [ -n "\${SVCD:-}" ]; then exec "$SVCD" ${args}; fi`,
    `if command -v svcd >/dev/null 2>&1; then exec svcd ${args}; fi`,
    `exec ${programs.svcd.map(quoted).join(' ')} ${args}`,
  ].join('\n')
}

/**
 * ABCI address of each node, from its home and not from the root: a home that was copied runs, and no socket's path
 * gets too long.
 */
export const SOCKET = 'unix://abci.sock'

/** The scripts of one home by their names. Each becomes the program, so a signal reaches it. */
export function homeScripts(
  { name, rpcPort, gatewayPort }: PlannedNode,
  programs: Programs,
): Readonly<Record<string, string>> {
  const node = 'node --home .'
  return {
    'app.sh':
      `${head(`The application of ${name}. SVCD may name the program.`)}` +
      `${svcdLine(programs, `start --home . --abci ${SOCKET} "$@"`)}\n`,
    'cometbft.sh':
      `${head(`CometBFT of ${name}; it waits for the application. SVCD_COMETBFT may name the program.`)}` +
      `if [ -n "\${SVCD_COMETBFT:-}" ]; then exec "$SVCD_COMETBFT" ${node} "$@"; fi\n` +
      `if command -v cometbft >/dev/null 2>&1; then exec cometbft ${node} "$@"; fi\nexec ${quoted(programs.cometbft)} ${node} "$@"\n`,
    'gateway.sh':
      `${head(`The gateway of ${name}. SVCD may name the program. ${SIGNING}`)}` +
      `${svcdLine(programs, `gateway --home . --node http://127.0.0.1:${rpcPort} --listen 127.0.0.1:${gatewayPort} "$@"`)}\n`,
  }
}

/** Starts every node of the network, and the gateway of the first, until Ctrl-C. */
export const startAllScript = (
  nodes: readonly PlannedNode[],
): string => `${head('All nodes on this machine, until Ctrl-C or SIGTERM.')}
pids=''
stop() { trap - INT TERM EXIT; [ -z "$pids" ] || kill $pids 2>/dev/null; wait; }
trap 'stop; exit 0' INT TERM
trap stop EXIT
for node in ${nodes.map(({ name }) => name).join(' ')}; do
  mkdir -p "$node/logs"
  "$node/app.sh" --log-file logs/app.log >>"$node/logs/start.log" 2>&1 & pids="$pids $!"
  "$node/cometbft.sh" >>"$node/logs/cometbft.log" 2>&1 & pids="$pids $!"
done
node0/gateway.sh >>node0/logs/gateway.log 2>&1 & pids="$pids $!"
echo 'gateway http://127.0.0.1:${nodes[0]?.gatewayPort ?? 0} (logs in node*/logs)'
wait
`

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** README.txt of the network. `arePublic`: its accounts are those of the public mnemonic. */
export function readmeText(
  chainId: string,
  nodes: readonly (PlannedNode & { owner?: string | undefined })[],
  arePublic: boolean,
): string {
  const rows = nodes.map(
    ({ name, peer, rpcPort, gatewayPort, metricsPort, owner }) =>
      `  ${name.padEnd(8)} peers ${printEndpoint(peer)}   rpc 127.0.0.1:${rpcPort}   gateway 127.0.0.1:${gatewayPort}   ` +
      `metrics 127.0.0.1:${metricsPort}\n           ${owner === undefined ? 'full node: signs nothing' : `owner ${owner}`}`,
  )
  const accounts = arePublic
    ? 'Its accounts are those of the public test mnemonic: anybody has their keys. Keep nothing of worth here.'
    : 'The mnemonic of its accounts was printed once, when this folder was made, and is kept nowhere in it.'
  const validators = nodes.filter(({ isValidator }) => isValidator).length
  const full = nodes.length - validators
  const who =
    full === 0
      ? counted(validators, 'validator')
      : `${counted(validators, 'validator')} and ${counted(full, 'full node')}`
  return `The chain ${chainId}: ${who}, one home each, one genesis.

${rows.join('\n')}

Account i of the mnemonic owns the candidacy of node i; account 0 is the foundation.
${accounts}
A key file of account 0:  svcd keys import owner0 --mnemonic --index 0 --home node0

Start all of them on this machine, with the gateway of node0; Ctrl-C stops them:

  ./start.sh

Start one node, each line in a terminal of its own:

  node0/app.sh
  node0/cometbft.sh
  node0/gateway.sh

The scripts take svcd and cometbft from SVCD and SVCD_COMETBFT, else from PATH, else from where this folder was made.

All of them in containers, at the same addresses of this machine, with docker-compose 1.29 or the docker compose of today. The image
\`svcd\` is built by \`docker build -t svcd .\` in svcd's sources; SVCD_IMAGE names another:

  docker-compose up -d
  docker-compose down

Scripts or containers, never both at once.

Under systemd (249 or newer), with paths and user in the units as they should be; they run as the user who made this folder:

  sudo install -m 644 systemd/*.service /etc/systemd/system/ && sudo systemctl daemon-reload
  sudo systemctl enable --now svcd-app@node0 svcd-gateway@node0

The CometBFT of a node comes and goes with its application. A node's parts write nowhere but in its home.

On several machines: give svcd testnet their names with --host a,b,c; copy each home to its machine and start it there. Never run one
home in two places: two nodes with one key sign twice, and the chain punishes that.

Secret: node*/config/priv_validator_key.json and node*/config/node_key.json.
`
}
