import { reasonOf } from '../comet/errors.ts'
import type { TrustedHeader } from '../comet/light.ts'
import type { NodeRpc } from '../comet/rpc.ts'
import { UserError } from '../node/errors.ts'
import { type FlagsOf, option } from './options.ts'
import { parseHash, parseHeight } from '../node/settings.ts'

/** The options that name a header which somebody knows to be right. */
export const trustOptions = [
  option('--trust-height <height>', 'with --trust-hash, height of a header that is known to be right, to start from', {
    parse: parseHeight,
  }),
  option('--trust-hash <hash>', 'hash of that header, 64 hex digits'),
] as const

/** The header that the flags name, if any. Throws a UserError. */
export function trustedHeaderFrom({
  trustHeight: height,
  trustHash: hash,
}: FlagsOf<typeof trustOptions>): TrustedHeader | undefined {
  if (height === undefined && hash === undefined) return undefined
  if (height === undefined || hash === undefined)
    throw new UserError('--trust-height and --trust-hash must be given together')
  return { height, hash: parseHash(hash, '--trust-hash') }
}

/** Into how many stretches the measured blocks are divided; the fastest one counts. */
const STRETCHES = 10

/** The fewest blocks of a stretch, unless the chain has fewer in all. */
const STRETCH_BLOCKS_MIN = 10

/** What CometBFT's light client takes by default. No measurement makes the period longer. */
const PERIOD_MS_MAX = 168 * 60 * 60 * 1000

async function readPeriod(rpc: NodeRpc): Promise<number> {
  const { earliestHeight, latestHeight } = await rpc.status()
  // At the height of a block: without one CometBFT looks for those of the next block, which it may not have written yet.
  const blocks = await rpc.evidenceBlocks(latestHeight)
  // The very first block has the time of genesis, which may be long before the second.
  const first = Math.max(earliestHeight + 1, latestHeight - blocks)
  const span = latestHeight - first
  if (span < 1) throw new UserError('too few blocks to measure the time from block to block. Try again in a moment')
  const count = Math.max(1, Math.min(STRETCHES, Math.floor(span / STRETCH_BLOCKS_MIN)))
  const heights = Array.from({ length: count + 1 }, (_, at) => first + Math.floor((span * at) / count))
  const timesMs = await Promise.all(heights.map((height) => rpc.blockTime(height)))
  const [, ...rest] = heights
  const blockMs = rest.map(
    (height, at) => (Number(timesMs[at + 1]) - Number(timesMs[at])) / (height - Number(heights[at])),
  )
  const periodMs = Math.floor((blocks * Math.min(...blockMs) * 2) / 3)
  if (periodMs < 1) throw new UserError('the times of its blocks do not increase')
  return periodMs
}

const periodAt = (rpc: NodeRpc): Promise<number> =>
  readPeriod(rpc).catch((error: unknown) => {
    throw new UserError(`${rpc.url}: ${reasonOf(error)}`)
  })

/**
 * For how long the header of a block may be trusted on a chain, in ms: two thirds of the time in which those who signed
 * it can still be punished, which is min(unstake_wait_period − 2, 100,000) blocks (protocol.md §4). Whoever can no longer
 * be punished may sign another history for nothing. The time of a block is measured over that many blocks, or as many as
 * the chain has; of ten stretches the fastest counts, so that a pause of the chain does not prolong the period. Of several
 * nodes the shortest period counts, so that one honest node is enough; none makes it longer than 168 hours. Two thirds is
 * the share that CometBFT advises: it leaves time to find and report an attack. Throws a UserError when a node has too
 * few blocks or does not answer.
 */
export const measureTrustPeriod = async (nodes: readonly NodeRpc[]): Promise<number> =>
  Math.min(PERIOD_MS_MAX, ...(await Promise.all(nodes.map(periodAt))))

/** Prints a time such as `11 h 11 min`, rounded down; below two minutes in seconds. */
export function printPeriod(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 2) return `${Math.floor(ms / 1000)} s`
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
