import { DISCONNECTED } from '../../client/errors.ts'
import type { Connection, SvcTopics } from '../../client/index.ts'
import { sentenceOf } from './errors.ts'
import { svc } from './gateway.ts'
import { createStore } from './store.ts'

/** A block without its transactions. */
export type BlockHead = SvcTopics['newBlock']

/** How the page hears of new blocks. */
export interface Line {
  readonly state: 'connecting' | 'live' | 'lost'
  readonly reason: string
  /** The line is lost, but the gateway answers: `reason` is its answer, as a sentence. */
  readonly isAnswered: boolean
  /** The browser's clock when it became so, in ms. */
  readonly since: number
}

/** Blocks that the page keeps for its plots: as many as a subscription may begin in the past. */
export const RECENT_BLOCKS = 100

/** The latest blocks, the oldest first; at most RECENT_BLOCKS. */
export const recentBlocks = createStore<readonly BlockHead[]>([])

/** The newest block; undefined until the gateway has told of one. */
export const head = createStore<BlockHead | undefined>(undefined)

/** Whether the page hears of new blocks. */
export const line = createStore<Line>({ state: 'connecting', reason: '', isAnswered: false, since: Date.now() })

/** The chain's id; empty until it is known. */
export const chainId = createStore('')

/** Each failed try to open the line again is told: it has been lost since the first one. */
function setLine(state: Line['state'], reason = '', isAnswered = false): void {
  const last = line.get()
  line.set({ state, reason, isAnswered, since: last.state === state ? last.since : Date.now() })
}

/** How often the page draws new blocks at most, in ms: a devnet can make hundreds of them in a second. */
const DRAW_MS = 100

// Blocks come one by one, a hundred of them at once in the beginning: the page is told of all that came in one turn.
let arrived: BlockHead[] = []

function takeArrived(): void {
  const all = [...recentBlocks.get(), ...arrived].slice(-RECENT_BLOCKS)
  arrived = []
  recentBlocks.set(all)
  head.set(all.at(-1))
}

function onBlock(block: BlockHead): void {
  if (arrived.length === 0) setTimeout(takeArrived, head.get() === undefined ? 0 : DRAW_MS)
  arrived.push(block)
}

// A gap needs nothing: as many blocks come behind it as the page keeps.
function onState(told: Connection): void {
  if (told.state === 'lost') setLine('lost', told.reason)
  if (told.state !== 'open') return
  setLine('live')
  // Also at first: the chain may be another one than when it was asked for its id.
  void reloadOnReset()
}

/** How long a gateway may be behind the page, whose node catches up, until its chain counts as another one, in ms. */
const BEHIND_MS = 5_000

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

/** Whether the gateway follows a chain that is not the one of `known`: another id, another block there, or none. */
async function isReset(known: BlockHead | undefined): Promise<boolean> {
  const { chain_id: id } = await svc.async.status()
  if (id !== chainId.get()) return true
  if (known === undefined) return false
  const block = await svc.async.getBlock({ block: known.height, limit: 1 })
  return block === null ? (await svc.async.blockNumber()) < known.height : block.hash !== known.hash
}

/**
 * Loads the page anew when the chain under it is another one than before: nothing that it shows, and no nonce that it
 * counted, holds any more. A node that is only behind gets a moment to catch up.
 */
async function reloadOnReset(): Promise<void> {
  const known = head.get()
  try {
    if (!(await isReset(known))) return
    await pause(BEHIND_MS)
    if (await isReset(known)) location.reload()
  } catch {
    // A gateway that is just back may not answer yet. If it is away again, this is asked when it is back.
    await pause(RETRY_MS)
    if (line.get().state === 'live') return reloadOnReset()
  }
}

/** How long the page waits until it tries again to reach a gateway that did not answer at first, in ms. */
const RETRY_MS = 2_000

/** How long the page waits for the first answer, in ms. */
const ANSWER_MS = 30_000

/** Follows the chain for as long as the page is open. */
export async function followChain(): Promise<void> {
  for (;;) {
    try {
      const status = await svc.async.status({ signal: AbortSignal.timeout(ANSWER_MS) })
      // Before the page has a line, the chain may change under what it shows already.
      if (chainId.get() !== '' && chainId.get() !== status.chain_id) location.reload()
      chainId.set(status.chain_id)
      const from = Math.max(1, status.height - RECENT_BLOCKS + 1)
      await svc.subscribe('newBlock', { from, onState }, onBlock)
      return
    } catch (error) {
      const { code } = error as { readonly code?: number }
      setLine('lost', sentenceOf(error as Error), code !== undefined && code !== DISCONNECTED)
      await pause(RETRY_MS)
    }
  }
}
