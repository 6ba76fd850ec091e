import { join, resolve } from 'node:path'
import { type CommonFlags, type Configure, example, homeFrom, withCommon } from '../command.ts'
import { answer, table } from '../output.ts'
import { parseBlockTime, printEndpoint } from '../settings.ts'
import { UserError } from '../userError.ts'
import type { Testnet } from '../testnet/make.ts'

interface Flags extends CommonFlags {
  readonly validators: string
  readonly fullNodes: string
  readonly output?: string
  readonly chainId: string
  readonly basePort: string
  readonly host: string
  readonly blockTime?: string
  readonly publicKeys?: boolean
}

/** The answer for programs. */
const machineAnswer = (output: string, chainId: string, { mnemonic, nodes }: Testnet): object => ({
  output,
  chain_id: chainId,
  mnemonic,
  nodes: nodes.map(({ home, nodeId, pubKey, owner, peer, rpcPort, gatewayPort, metricsPort }) => ({
    home,
    node_id: nodeId,
    pub_key: pubKey,
    owner: owner ?? null,
    p2p: printEndpoint(peer),
    rpc: `http://127.0.0.1:${rpcPort}`,
    gateway: `http://127.0.0.1:${gatewayPort}`,
    metrics: `http://127.0.0.1:${metricsPort}/metrics`,
  })),
})

function humanAnswer(output: string, { mnemonic, nodes }: Testnet, arePublic: boolean): string {
  const rows = nodes.map(({ name, owner, peer, rpcPort, gatewayPort }) => [
    name,
    owner ?? 'full node',
    printEndpoint(peer),
    `127.0.0.1:${rpcPort}`,
    `127.0.0.1:${gatewayPort}`,
  ])
  const warning = arePublic
    ? 'WARNING: these keys are public. Whatever they hold on any chain belongs to everybody.'
    : 'Write it down: it is shown this once and stored nowhere. Whoever has it owns every account of the chain.'
  return (
    `${table(['node', 'owner', 'peers', 'rpc', 'gateway'], rows)}\n\n` +
    `mnemonic: ${mnemonic}  (m/44'/1'/i'/0'/0', owner i)\n${warning}\n\n` +
    `Start them all:  ${output}/start.sh\nEverything else: ${output}/README.txt`
  )
}

async function run(flags: Flags): Promise<void> {
  const { planNodes } = await import('../testnet/plan.ts')
  const { makeTestnet } = await import('../testnet/make.ts')
  const output = resolve(flags.output ?? join(homeFrom(flags), 'testnet'))
  const { chainId, publicKeys = false } = flags
  if (!/^[A-Za-z0-9._-]{1,50}$/.test(chainId)) {
    throw new UserError(
      `--chain-id: expected 1 to 50 letters, digits, dots, hyphens and underscores, got ${JSON.stringify(chainId)}`,
    )
  }
  const made = makeTestnet({
    output,
    nodes: planNodes(flags),
    chainId,
    publicKeys,
    blockTimeMs: flags.blockTime === undefined ? undefined : parseBlockTime(flags.blockTime),
  })
  answer(flags.json, machineAnswer(output, chainId, made), () => humanAnswer(output, made, publicKeys))
}

/** `svcd testnet`. */
export const configure: Configure = (command) => {
  withCommon(example(command, 'svcd testnet --validators 4 --output my-net'))
    .requiredOption('--validators <count>', 'how many, 1 to 200')
    .option('--full-nodes <count>', 'nodes beside them that follow the chain and sign nothing, 0 to 200', '0')
    .option('--output <dir>', 'an empty or new folder for the homes (default: <home>/testnet)')
    .option('--chain-id <id>', 'name of the chain, 1 to 50 characters', 'svcd-testnet')
    .option('--base-port <port>', 'node i takes the ports from here + 10 i on: peers, RPC, gateway, metrics', '27000')
    .option('--host <list>', 'where peers find the nodes: one host for all, or one for each, a,b,c', '127.0.0.1')
    .option('--block-time <time>', 'time from block to block, such as 1s')
    .option(
      '--public-keys',
      'the accounts of a devnet: anybody has their keys. Made once more, such a network keeps its chain',
    )
    .action(run)
}
