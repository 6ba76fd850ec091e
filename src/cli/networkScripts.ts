import { GO_MAX_PROCS_LINE } from '../comet/goMaxProcs.ts'
import type { PlannedNode } from './commands/testnet.ts'
import { printEndpoint } from '../node/settings.ts'

/** Quotes a word for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A word as a person types it into a shell: quoted where it has to be. */
export const shellWord = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : quoted(text))

const SIGNING = 'With --unlock ACCOUNT --auth-token-file FILE it signs for callers who send the token.'

const head = (says: string): string => `#!/bin/sh\n# ${says}\ncd "$(dirname "$0")" || exit 1\n`

/** Lines that replace the shell by the program that `variable` names, else by that on PATH, else by `own`. */
const execLines = (variable: string, name: string, own: readonly string[], args: string): string =>
  `if [ -n "\${${variable}:-}" ]; then exec "$${variable}" ${args} "$@"; fi\n` +
  `if command -v ${name} >/dev/null 2>&1; then exec ${name} ${args} "$@"; fi\n` +
  `exec ${own.map(quoted).join(' ')} ${args} "$@"\n`

/**
 * The ABCI address of each node. It is relative to the home, so that a copied home works and the socket's path is never
 * too long.
 */
export const SOCKET = 'unix://abci.sock'

/**
 * The scripts of one home by name. Each replaces itself by its program, so that signals reach that. `programs`: the
 * command line of svcd and the path of CometBFT, for a machine that has neither on PATH.
 */
export function homeScripts(
  { name, rpcPort, gatewayPort }: PlannedNode,
  programs: { readonly svcd: readonly string[]; readonly cometbft: string },
): Readonly<Record<string, string>> {
  const svcdLines = (args: string): string => execLines('SVCD', 'svcd', programs.svcd, args)
  return {
    'app.sh':
      head(`Starts the application of ${name}. SVCD can name the program.`) +
      svcdLines(`start --home . --abci ${SOCKET}`),
    'cometbft.sh':
      head(`Starts the CometBFT of ${name}, which waits for the application. SVCD_COMETBFT can name the program.`) +
      `${GO_MAX_PROCS_LINE}\n` +
      execLines('SVCD_COMETBFT', 'cometbft', [programs.cometbft], 'node --home .'),
    'gateway.sh':
      head(`Starts the gateway of ${name}. SVCD can name the program. ${SIGNING}`) +
      svcdLines(`gateway --home . --node http://127.0.0.1:${rpcPort} --listen 127.0.0.1:${gatewayPort}`),
  }
}

/** The script that runs every node of the network, and the gateway of the first, until Ctrl-C. */
export const startAllScript = (
  nodes: readonly PlannedNode[],
): string => `${head('Runs all nodes on this machine until Ctrl-C or SIGTERM.')}
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

/** The README.txt of the network. `arePublic`: its accounts are those of the public mnemonic. */
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
    ? 'Its accounts are those of the public test mnemonic, so anybody has their keys. Keep nothing of value here.'
    : 'The mnemonic of its accounts was printed once, when this folder was created, and is not stored in it.'
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
To write a key file for account 0:  svcd keys import owner0 --mnemonic --index 0 --home node0

To start all nodes on this machine, with the gateway of node0 (Ctrl-C stops them):

  ./start.sh

To start one node, run each line in a terminal of its own:

  node0/app.sh
  node0/cometbft.sh
  node0/gateway.sh

The scripts use the programs that SVCD and SVCD_COMETBFT name, else those on PATH, else those that created this folder.

To start all nodes in containers, at the same addresses of this machine, with docker-compose 1.29 or later. Build the image
\`svcd\` with \`docker build -t svcd .\` in svcd's sources, or name another one in SVCD_IMAGE:

  docker-compose up -d
  docker-compose down

Use either the scripts or the containers, never both at once.

To run the nodes under systemd (249 or newer), as the user who created this folder. Check the paths and the user in the units first:

  sudo install -m 644 systemd/*.service /etc/systemd/system/ && sudo systemctl daemon-reload
  sudo systemctl enable --now svcd-app@node0 svcd-gateway@node0

The CometBFT of a node starts and stops with its application. The parts of a node write only in its home.

To use several machines, give their names to svcd testnet with --host a,b,c, then copy each home to its machine and start it there. Never
run one home in two places: two nodes with one key sign twice, and the chain punishes that.

Keep node*/config/priv_validator_key.json and node*/config/node_key.json secret.
`
}
