import { setTimeout as sleep } from 'node:timers/promises'
import type { Head, NetworkNode } from '../e2e/support/network.ts'
import { Broken, need } from '../support/campaign.ts'

const PATIENCE_MS = 3_000
const NEED_MS = 60_000
const PAUSE_MS = 150
/** CometBFT's own limit of `/blockchain`. */
const HEADERS_MAX = 20

/** What the RPC of a node answers; undefined when it does not. */
export async function askNode({ rpc }: NetworkNode, path: string, patienceMs = PATIENCE_MS): Promise<unknown> {
  try {
    const response = await fetch(`${rpc}${path}`, { signal: AbortSignal.timeout(patienceMs) })
    return ((await response.json()) as { result?: unknown }).result
  } catch {
    return undefined
  }
}

/** The same of a node that runs. Throws when there is no result. */
export async function needAnswer<T>(node: NetworkNode, path: string): Promise<T> {
  const result = await askNode(node, path, NEED_MS)
  if (result === undefined) throw new Broken(`${node.home} does not answer ${path}`)
  return result as T
}

/** The first height whose block a node still has. */
export async function earliestOf(node: NetworkNode): Promise<number> {
  const { sync_info: told } = await needAnswer<{ sync_info: { earliest_block_height: string } }>(node, '/status')
  return Number(told.earliest_block_height)
}

/** What a node tells of its blocks up to `height`. Undefined when it has removed these, perhaps just now. */
export async function askUnlessPruned<T>(node: NetworkNode, height: number, path: string): Promise<T | undefined> {
  const answer = (await askNode(node, path, NEED_MS)) as T | undefined
  if (answer !== undefined || (await earliestOf(node)) > height) return answer
  throw new Broken(`${node.home} does not answer ${path}`)
}

/** What all nodes have told of a chain, and what contradicts it. */
export interface ChainBook {
  /** Takes what a node tells of its application's head. Throws Broken. */
  readonly takeHead: (at: number, head: Head) => void
  /** Takes a block of a node, as text that has to be the same on all. Throws Broken. */
  readonly takeHeader: (at: number, height: number, text: string) => void
  /** The highest height that each node has told; 0 before. */
  readonly heights: () => readonly number[]
  /** How many heights two nodes or more have told the same header of. */
  readonly compared: () => number
}

/** Creates one for `count` nodes. No height may fall, and what two nodes tell of one height must be the same. */
export function createChainBook(count: number): ChainBook {
  const heights = Array.from({ length: count }, () => 0)
  const hashes = new Map<number, { readonly at: number; readonly text: string }>()
  const headers = new Map<number, { readonly at: number; readonly text: string }>()
  const compared = new Set<number>()
  const agree = (book: typeof hashes, what: string, at: number, height: number, text: string): void => {
    const first = book.get(height)
    if (first === undefined) book.set(height, { at, text })
    else if (first.text !== text)
      throw new Broken(`height ${height}: the ${what} of node ${at} is ${text}, that of node ${first.at} ${first.text}`)
    if (first !== undefined && first.at !== at && book === headers) compared.add(height)
  }
  return {
    takeHead: (at, { height, appHash }) => {
      const before = heights[at] ?? 0
      if (height < before) throw new Broken(`node ${at} went back from height ${before} to ${height}`)
      heights[at] = height
      // Before the first block there is no state to agree on.
      if (height > 0) agree(hashes, 'app hash', at, height, appHash)
    },
    takeHeader: (at, height, text) => agree(headers, 'header', at, height, text),
    heights: () => [...heights],
    compared: () => compared.size,
  }
}

interface Meta {
  readonly block_id: { readonly hash: string }
  readonly header: { readonly height: string }
}

/** A chain that is watched through the RPC of all nodes. */
export interface Watch extends Pick<ChainBook, 'heights' | 'compared'> {
  /** Reads all headers of all nodes that were not read before. Throws Broken. */
  readonly readHeaders: () => Promise<void>
  /** Asks all nodes but those that cannot answer. Resolves with the highest height that is known. */
  readonly askHighest: (silent: readonly number[]) => Promise<number>
  /** What was not as it has to be, so far. */
  readonly failure: () => Error | undefined
  readonly stop: () => Promise<void>
}

async function headOf(node: NetworkNode, patienceMs?: number): Promise<Head | undefined> {
  const answer = (await askNode(node, '/abci_info', patienceMs)) as
    | { response: { last_block_height?: string; last_block_app_hash?: string } }
    | undefined
  const { last_block_height: height, last_block_app_hash: appHash = '' } = answer?.response ?? {}
  return height === undefined ? undefined : { height: Number(height), appHash }
}

/** Begins to watch. Each node is asked by itself: one that is paused does not hold up the others. */
export function watchNodes(nodes: readonly NetworkNode[]): Watch {
  const book = createChainBook(nodes.length)
  const read = nodes.map(() => 0)
  let failure: Error | undefined
  let isOver = false
  const follow = async (node: NetworkNode, at: number): Promise<void> => {
    for (; !isOver; await sleep(PAUSE_MS)) {
      const head = await headOf(node)
      if (head !== undefined) book.takeHead(at, head)
    }
  }
  const watching = nodes.map((node, at) =>
    follow(node, at).catch((error: unknown) => {
      failure ??= error as Error
    }),
  )
  const readHeadersOf = async (node: NetworkNode, at: number): Promise<void> => {
    const { sync_info: info } = await needAnswer<{
      sync_info: { earliest_block_height: string; latest_block_height: string }
    }>(node, '/status')
    const last = Number(info.latest_block_height)
    need(last >= (read[at] ?? 0), () => `node ${at} has blocks up to ${last}, and had them up to ${read[at]}`)
    for (let from = Math.max((read[at] ?? 0) + 1, Number(info.earliest_block_height)); from <= last; ) {
      const to = Math.min(last, from + HEADERS_MAX - 1)
      const told = await askUnlessPruned<{ block_metas: readonly Meta[] }>(
        node,
        to,
        `/blockchain?minHeight=${from}&maxHeight=${to}`,
      )
      for (const { block_id: id, header } of told?.block_metas ?? [])
        book.takeHeader(at, Number(header.height), JSON.stringify([id.hash, header]))
      from = to + 1
    }
    read[at] = last
  }
  return {
    heights: book.heights,
    compared: book.compared,
    askHighest: async (silent) => {
      const asked = nodes.filter((_, at) => !silent.includes(at))
      const heads = await Promise.all(asked.map((node) => headOf(node, NEED_MS)))
      return Math.max(...book.heights(), ...heads.map((head) => head?.height ?? 0))
    },
    failure: () => failure,
    readHeaders: async () => void (await Promise.all(nodes.map(readHeadersOf))),
    stop: async () => {
      isOver = true
      await Promise.all(watching)
    },
  }
}
