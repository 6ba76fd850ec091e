import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { homeFiles } from '../src/comet/home.ts'
import { countOk } from './codes.ts'
import type { Context } from './context.ts'
import { transferGenesis } from './genesis.ts'
import { type AppKind, type NodeOptions, startNode } from './node.ts'
import { memoryOf } from './proc.ts'
import { SUBJECTS } from './transactions.ts'

/** The load's name in the table. What is counted is transactions in the blocks that are replayed. */
export const REPLAY = 'replay of blocks of transfers'

const TRANSFERS = 50_000
// About half of what is under way is in each block.
const UNDER_WAY = 2000
const PIECE_MS = 3000

/** A stopped chain: the node to start again, and its blocks from the first to the last with transfers. */
interface MadeChain {
  readonly options: NodeOptions
  readonly from: number
  readonly to: number
  readonly transfers: number
  /** Of the transfers. */
  readonly failed: number
}

/** Makes at least TRANSFERS of them under saturating load, and ends the node. */
async function makeChain({ programs, generator, newFolder, freePorts }: Context, app: AppKind): Promise<MadeChain> {
  const [rpc = 0, p2p = 0] = await freePorts(2)
  const options = { programs, app, home: newFolder(), ports: [rpc, p2p] as const, appState: transferGenesis }
  const pool = app === 'svcd' ? 'transfer' : 'kv'
  await generator.prepare({ pool, fresh: true, size: 2 * TRANSFERS })
  const node = await startNode(options)
  try {
    const from = (await node.rpc.committedHeight()) + 1
    let transfers = 0
    for (let fresh = true; transfers < TRANSFERS; fresh = false) {
      const { committed } = await generator.run({
        load: 'saturate',
        target: { host: node.host, port: node.port },
        pool,
        fresh,
        size: UNDER_WAY,
        warmUpMs: 0,
        measuredMs: PIECE_MS,
      })
      if (committed === 0) throw new Error(`${app}: no transfer came into a block`)
      transfers += committed
    }
    const to = await node.rpc.committedHeight()
    return { options, from, to, transfers, failed: transfers - (await countOk(node, from, to)) }
  } finally {
    await node.stop()
  }
}

/**
 * How long CometBFT took to hand an application the blocks `from` to `to`, by the times in its log: starting both
 * programs and the genesis are not counted, nor the empty blocks of earlier rounds.
 */
function replayMsOf(home: string, { from, to }: MadeChain): number {
  const lines = readFileSync(homeFiles(home).log, 'utf8').split('\n')
  const begun = lines.findLastIndex((line) => line.includes('ABCI Handshake App Info'))
  const timeOf = (pattern: RegExp): number => {
    const line = lines.slice(begun).find((one) => pattern.test(one)) ?? ''
    return Date.parse(/^I\[([\d-]+)\|([\d:.]+)\]/.exec(line)?.slice(1).join('T') ?? '')
  }
  const ms =
    timeOf(new RegExp(`Applying block .*height=${to + 1}\\b|Completed ABCI Handshake`)) -
    timeOf(new RegExp(`Applying block .*height=${from}\\b`))
  if (!(ms > 0)) throw new Error(`the log of ${home} does not tell how long the replay took`)
  return ms
}

/**
 * Replay: the application has lost its state, and CometBFT hands it every block anew. The blocks are made once, so every
 * round replays the same ones.
 */
export async function measureReplay(context: Context, nodeFlags: readonly string[]): Promise<void> {
  const { rounds, samples, say } = context
  const chains: MadeChain[] = []
  for (const app of ['kvSocket', 'svcd'] as const) chains.push(await makeChain(context, app))
  for (let round = 0; round < rounds; round++) {
    for (const chain of chains) {
      const { from, to, transfers, failed, options } = chain
      const { app, home } = options
      for (const end of ['', '-wal', '-shm']) rmSync(join(home, 'data', `state.db${end}`), { force: true })
      const node = await startNode({
        ...options,
        ...(app === 'svcd' && { nodeFlags }),
        settings: { log_level: 'consensus:info,*:error' },
      })
      const memory = memoryOf(node.pids.app as number)
      await node.stop()
      const seconds = replayMsOf(home, chain) / 1000
      const blocks = to - from + 1
      const unknown = { p50Ms: Number.NaN, p99Ms: Number.NaN, appUs: Number.NaN, cometUs: Number.NaN }
      const sample = { subject: SUBJECTS[app], round, ...unknown, ...memory, failed }
      samples.push({ ...sample, load: REPLAY, perSecond: transfers / seconds })
      samples.push({ ...sample, load: `${REPLAY}, in blocks`, perSecond: blocks / seconds })
      say(
        `round ${round + 1}, ${SUBJECTS[app]}: ${blocks} blocks with ${transfers} transfers replayed in ${seconds.toFixed(2)} s`,
      )
    }
  }
}
