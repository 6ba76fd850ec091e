/** A new node that begins with another one's snapshot. Source: statesync/syncer.go. */
import { toHex } from '../../base/bytes.ts'
import { ApplySnapshotChunkResult, OfferSnapshotResult, type Snapshot } from '../types.ts'
import type { ChainContext } from './context.ts'
import type { ChainNode } from './node.ts'
import { NOTHING, textOf } from './values.ts'

/** How often chunks may be asked for again. CometBFT has no such limit, and would go on for ever. */
const RETRIES_MAX = 10

const nameOf = (table: Readonly<Record<string, number>>, value: number | undefined): string =>
  Object.entries(table).find(([, one]) => one === value)?.[0] ?? String(value)

/** A snapshot that is restored: what the light client has verified, and the chunks. */
interface Restore {
  readonly snapshot: Snapshot
  readonly appHash: Uint8Array
  readonly chunks: readonly Uint8Array[]
}

/** A snapshot, and the nodes that have it. */
interface Offered {
  readonly snapshot: Snapshot
  readonly nodes: ChainNode[]
}

/** The newest snapshot of the chain's nodes. Expects that those of one height and format are the same on all of them. */
async function newestSnapshot({ judge, validators }: ChainContext): Promise<Offered | undefined> {
  const found = new Map<string, Offered>()
  for (const node of validators) {
    const { snapshots = [] } = await node.call('listSnapshots', {})
    for (const snapshot of snapshots) {
      const name = `${snapshot.height}/${snapshot.format}`
      const known = found.get(name)
      if (known === undefined) {
        found.set(name, { snapshot, nodes: [node] })
        continue
      }
      judge.check(
        'State Sync',
        textOf(known.snapshot) === textOf(snapshot),
        () =>
          `${node.name} and ${known.nodes[0]?.name} have different snapshots of height ${snapshot.height} and format ${snapshot.format}`,
      )
      known.nodes.push(node)
    }
  }
  return [...found.values()].reduce<Offered | undefined>(
    (best, one) => (best === undefined || one.snapshot.height > best.snapshot.height ? one : best),
    undefined,
  )
}

/** All chunks of a snapshot. Expects the same bytes from each node that has it. */
async function loadChunks({ judge }: ChainContext, { snapshot, nodes }: Offered): Promise<readonly Uint8Array[]> {
  const { height, format, chunks } = snapshot
  const loaded: Uint8Array[] = []
  for (let chunk = 0; chunk < chunks; chunk++) {
    for (const node of nodes) {
      const { chunk: bytes = NOTHING } = await node.call('loadSnapshotChunk', { height, format, chunk })
      const first = (loaded[chunk] ??= bytes)
      judge.check(
        'State Sync',
        textOf(first) === textOf(bytes),
        () =>
          `${node.name} and ${nodes[0]?.name} have different bytes for chunk ${chunk} of the snapshot of height ${height}`,
      )
    }
  }
  return loaded
}

/** Gives the chunks to `node`. Returns why it did not take them; undefined when it did. */
async function apply(node: ChainNode, { snapshot, appHash, chunks }: Restore): Promise<string | undefined> {
  const { result } = await node.call('offerSnapshot', { snapshot, appHash })
  if (result !== OfferSnapshotResult.accept) return `answered OfferSnapshot with ${nameOf(OfferSnapshotResult, result)}`
  const queue = chunks.map((_, index) => index)
  let retries = 0
  for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
    const chunk = chunks[index] ?? NOTHING
    const { result: verdict, refetchChunks = [] } = await node.call('applySnapshotChunk', {
      index,
      chunk,
      sender: 'node0',
    })
    const isRetry = verdict === ApplySnapshotChunkResult.retry
    if (verdict !== ApplySnapshotChunkResult.accept && !isRetry)
      return `answered ApplySnapshotChunk of chunk ${index} with ${nameOf(ApplySnapshotChunkResult, verdict)}`
    const again = [...refetchChunks, ...(isRetry ? [index] : [])]
    if (again.length > 0 && ++retries > RETRIES_MAX) return `asked ${retries} times for chunks again`
    queue.unshift(...again)
  }
  return undefined
}

/** Restores a snapshot into `node`, whose Info must then tell its height and the app hash of its block. */
async function restore(
  { judge }: ChainContext,
  node: ChainNode,
  { snapshot, appHash, chunks }: Restore,
): Promise<void> {
  const { height } = snapshot
  const refused = await apply(node, { snapshot, appHash, chunks })
  judge.check(
    'State Sync',
    refused === undefined,
    () => `${node.name} ${refused}, and nobody had changed the snapshot of height ${height}`,
  )
  const info = await node.info()
  judge.check(
    'State Sync',
    info.height === height && toHex(info.appHash) === toHex(appHash),
    () =>
      `after the snapshot of height ${height} Info of ${node.name} reports block ${info.height} with the app hash ` +
      `${toHex(info.appHash) || '(empty)'}, and the chain has ${toHex(appHash)}`,
  )
}

/** A snapshot that somebody has changed: one bit of a chunk differs. */
function changed({ next }: ChainContext, given: Restore): Restore {
  const at = next(given.chunks.length)
  const chunks = given.chunks.map((chunk, index) => {
    if (index !== at || chunk.length === 0) return chunk
    const copy = Uint8Array.from(chunk)
    const place = next(copy.length)
    copy[place] = (copy[place] as number) ^ (1 << next(8))
    return copy
  })
  return { ...given, chunks }
}

/**
 * Offers a changed snapshot to a new node, which is given up then. The node may refuse it, or report another app hash. If it
 * reports that of the chain, it has to answer and execute blocks as the others do.
 */
async function restoreChanged(
  context: ChainContext,
  openNode: () => Promise<ChainNode>,
  given: Restore,
): Promise<void> {
  const { judge, queries, validators } = context
  const { height } = given.snapshot
  const node = await openNode()
  try {
    if ((await apply(node, changed(context, given))) !== undefined) return
    const info = await node.info()
    if (info.height !== height || toHex(info.appHash) !== toHex(given.appHash)) return
    await node.replay(height)
    const [own, others] = [await node.view(queries), await (validators[0] as ChainNode).view(queries)]
    judge.check('State Sync', own === others, () => `it answers ${own}, and the chain ${others}`)
  } catch (thrown) {
    const what = thrown instanceof Error ? thrown.message : String(thrown)
    throw judge.error(
      'State Sync',
      `${node.name} was given a snapshot of height ${height} that somebody had changed, and took it or threw: ${what}`,
      thrown,
    )
  } finally {
    await node.close()
  }
}

/**
 * Starts a new node from the newest snapshot, and executes the blocks since then on it. Throws an Error when no node lists a
 * snapshot of a block that was committed.
 */
export async function stateSync(context: ChainContext, openNode: () => Promise<ChainNode>): Promise<ChainNode> {
  const { consensus, judge } = context
  const offered = await newestSnapshot(context)
  if (offered === undefined) throw new Error('no node lists a snapshot')
  const { snapshot } = offered
  judge.check(
    'State Sync',
    consensus.blocks.has(snapshot.height),
    () =>
      `${offered.nodes[0]?.name} lists a snapshot of height ${snapshot.height}, and the chain is at ${consensus.height}`,
  )
  const chunks = await loadChunks(context, offered)
  const given = { snapshot, appHash: consensus.appHashAt(snapshot.height), chunks }
  if (chunks.some(({ length }) => length > 0)) await restoreChanged(context, openNode, given)
  const node = await openNode()
  try {
    await restore(context, node, given)
    await node.replay(snapshot.height)
    await node.checkInfo()
  } catch (thrown) {
    await node.close()
    throw thrown
  }
  return node
}
