import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TOKEN } from '../../../src/base/amount.ts'
import { Svc } from '../../../src/client/index.ts'
import { readValidatorKey } from '../../../src/comet/home.ts'
import { PUBLIC_MNEMONIC } from '../../../src/keys/mnemonic.ts'
import { checkDisk } from './crash.ts'
import { type Cast, makeMoves, type Random, type Tally } from './churnMoves.ts'
import { type Watch, watchChain } from './churnWatch.ts'
import { endNetwork, makeNetwork, type NetworkNode, type RunningNode, startNode, startNodeGateway } from './network.ts'
import { compareDatabases, firstDifference, replayFromGenesis, waitForHead } from './replay.ts'

/** What one campaign is told. `blocks`: where it ends. `output`: an empty or new folder. */
export interface ChurnOptions {
  readonly output: string
  readonly validators: number
  readonly blocks: number
  readonly blockTime: string
  readonly next: Random
  readonly say: (line: string) => void
  /** A fault for the campaign to find: called with the home of the last node when the chain runs. */
  readonly disturb?: (home: string) => void
}

export interface Churned {
  readonly moves: ReadonlyMap<string, Tally>
  /** Heights whose set differs from the one before in its keys. */
  readonly changes: number
  /** The sizes that the set had. */
  readonly sizes: readonly number[]
  /** Heights with a key in the set that nobody signs with. */
  readonly unsigned: number
  /** Heights that all databases hold, with one app hash each. */
  readonly compared: number
  /** Heights that one node replayed from genesis to the same app hashes. */
  readonly replayed: number
}

/** Accounts that start without a candidacy. */
const SPARE = 4
const START_MS_MAX = 120_000
/** For each block: a replay writes every one of them to disk. */
const REPLAY_MS_MAX = 1_000
/** At least one move is committed in so many blocks. */
const BLOCKS_OF_A_MOVE = 5

/** Genesis with short periods and funded accounts. The homes hold the same file. */
function writeGenesis(nodes: readonly NetworkNode[], accounts: readonly string[], next: Random): void {
  const path = join(nodes[0]?.home ?? '', 'config', 'genesis.json')
  const genesis = JSON.parse(readFileSync(path, 'utf8')) as {
    app_state: { candidacies: { shares: string; max_shares: string }[]; stake: object }
  }
  const { app_state: state } = genesis
  const units = (tokens: number): string => (BigInt(tokens) * TOKEN).toString()
  const changed = {
    ...state,
    accounts: accounts.map((address) => ({ address, balance: units(20_000_000) })),
    params: { max_vals: nodes.length, unstake_wait_period: 30 },
    stake: { ...state.stake, max_absent_blocks: 60 },
    candidacies: state.candidacies.map((one) => ({
      ...one,
      shares: units(100_000 + next(900_000)),
      max_shares: units(1_000_000),
    })),
  }
  const text = JSON.stringify({ ...genesis, app_state: changed }, undefined, 2)
  for (const { home } of nodes) writeFileSync(join(home, 'config', 'genesis.json'), text)
}

function whatWasSeen(
  sets: Watch['sets'],
  nodeKeys: ReadonlySet<string>,
): Pick<Churned, 'changes' | 'sizes' | 'unsigned'> {
  const keys = [...sets.values()].map((set) => [...set.keys()].sort())
  return {
    changes: keys.filter((one, at) => at > 0 && one.join() !== keys[at - 1]?.join()).length,
    sizes: [...new Set(keys.map(({ length }) => length))].sort((a, b) => a - b),
    unsigned: keys.filter((one) => one.some((key) => !nodeKeys.has(key))).length,
  }
}

async function replay(node: NetworkNode, blocks: number): Promise<number> {
  const { before, after } = await replayFromGenesis(node, START_MS_MAX + blocks * REPLAY_MS_MAX)
  const height = firstDifference(before, after)
  if (height !== undefined || after.length < before.length) {
    throw new Error(`replayed from genesis, ${node.home} differs at ${height ?? 'its end'}`)
  }
  checkDisk(node)
  return before.length
}

/** What the campaign must have brought about, or it proves nothing. */
function checkSeen({ changes, sizes, moves }: Churned, blocks: number): void {
  if (sizes.length < 2 || changes < Math.max(2, blocks / 50)) {
    throw new Error(`the set changed ${changes} times, its sizes were ${sizes.join(', ')}: this was no churn`)
  }
  const never = [...moves].filter(([, { done }]) => done === 0).map(([name]) => name)
  if (blocks >= 500 && never.length > 0) throw new Error(`never committed: ${never.join(', ')}`)
}

/**
 * A network whose validators come, go, change keys, owners, stakes and number at random, until block `blocks`. Throws
 * with the first thing that is not as it should be: an app hash of its own, an empty set, a node that ended, a chain
 * that stands still, databases that differ, a replay from genesis to other hashes, or a set that hardly changed.
 * Nothing is left running.
 */
export async function churn(options: ChurnOptions): Promise<Churned> {
  const { output, validators, blocks, blockTime, next, say, disturb } = options
  const nodes = await makeNetwork(output, validators, blockTime)
  const svc = new Svc(nodes[0]?.gateway ?? '')
  const [stranger = '', ...accounts] = Array.from({ length: 1 + validators + SPARE }, (_, at) =>
    svc.accounts.add(PUBLIC_MNEMONIC, (at + validators + SPARE) % (1 + validators + SPARE)),
  )
  const nodeKeys = nodes.map(({ home }) => readValidatorKey(home).pubKey)
  writeGenesis(nodes, [stranger, ...accounts], next)
  try {
    const running = await Promise.all(nodes.map((node) => startNode(node)))
    // Each of them: one that lags has no rows yet that could be disturbed.
    await Promise.all(nodes.map((node, at) => waitForHead(node, running[at] as RunningNode, 1, START_MS_MAX)))
    await startNodeGateway(nodes[0] as NetworkNode)
    disturb?.(nodes.at(-1)?.home ?? '')
    const watch = watchChain(nodes, running, new Set(nodeKeys))
    const waitFor = async (height: number): Promise<void> => {
      while (watch.head() < height) await Promise.race([sleep(100), watch.failed])
    }
    const cast: Cast = { svc, next, accounts, stranger, nodeKeys, blocks: (count) => waitFor(watch.head() + count) }
    // So many moves as well: on a slow machine blocks may outrun them.
    const moving = makeMoves(cast, (done) => watch.head() >= blocks && done * BLOCKS_OF_A_MOVE >= blocks)
    const told = (async () => {
      for (let at = 100; at <= blocks; at += 100) {
        await waitFor(at)
        say(`block ${at}: ${watch.sets.get(at)?.size ?? 0} validators`)
      }
    })()
    const [moves] = await Promise.race([Promise.all([moving, told]), watch.failed])
    await watch.stop()
    const statuses = await Promise.all(running.map((one) => one.end('SIGTERM')))
    if (statuses.some((status) => status !== 0)) throw new Error(`the applications ended with ${statuses.join(', ')}`)
    const compared = compareDatabases(nodes)
    if (compared < blocks) throw new Error(`a database ends at block ${compared}`)
    say(`${compared} blocks in ${validators} databases: one app hash a height`)
    const replayed = await replay(nodes[next(validators)] as NetworkNode, blocks)
    const seen = { moves, ...whatWasSeen(watch.sets, new Set(nodeKeys)), compared, replayed }
    checkSeen(seen, blocks)
    return seen
  } finally {
    await endNetwork()
  }
}
