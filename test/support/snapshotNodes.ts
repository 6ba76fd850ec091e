/** Nodes in process that make snapshots and take those of others. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type {
  ApplySnapshotChunkResponse,
  CompleteApplication,
  ListSnapshotsResponse,
  LoadSnapshotChunkResponse,
  Snapshot,
} from '../../src/abci/types.ts'
import { addressBytes } from '../../src/values/address.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { account, nodeKey, TestChain, tokens } from './testChain.ts'

/** The hash of chunks and of metadata. */
export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

/** One node. `home`: the beginning of the paths of its files. */
export type SnapshotNode = ReturnType<typeof snapshotNode>

interface NodeOptions {
  readonly interval?: number
  readonly chunkBytes?: number
  readonly chainId?: string
}

let files = 0

/**
 * A node with a place for snapshots in `folder` that makes one every `interval` blocks, in chunks of `chunkBytes`, on the
 * spot.
 */
export function snapshotNode(folder: string, { interval = 5, chunkBytes = 300, chainId }: NodeOptions = {}) {
  const home = join(folder, String(files++))
  const store = openSqliteStore({ path: `${home}.db`, tables, views })
  const log: { fields: object; message: string }[] = []
  const note = (fields: object, message: string): void => void log.push({ fields, message })
  const beginAt = (height: number): void => {
    if (height % interval === 0) writeSnapshot(store, tables, `${home}.snapshots`, chunkBytes)
  }
  const snapshots = {
    folder: `${home}.snapshots`,
    restorePath: `${home}.restore`,
    replaceBy: (path: string) => store.replaceBy(path),
    beginAt,
    chainId,
  }
  /** All of its committed state, and whether a restore is under way. */
  const picture = (): unknown => [
    store.height(),
    store.appHash(),
    store.recomputeRoot(),
    store.block(2),
    tables.map((table) => [...store.scan(table as never)]),
    existsSync(`${home}.restore`),
  ]
  const chain = new TestChain({ store, app: { snapshots, logger: { info: note, error: note } } })
  return { chain, store, home, log, picture }
}

export function livingNode(folder: string): SnapshotNode {
  const one = snapshotNode(folder)
  one.chain.init({
    accounts: [{ address: account(77).address, balance: tokens(7) }],
    candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(100) }],
  })
  one.chain.advanceTo(3)
  return one
}

export const listSnapshots = (app: CompleteApplication): readonly Snapshot[] =>
  (app.listSnapshots({}) as ListSnapshotsResponse).snapshots ?? []

/** A chunk of one; empty when there is none. */
export const loadChunk = async (
  app: CompleteApplication,
  { height, format }: Snapshot,
  chunk: number,
): Promise<Uint8Array> =>
  ((await app.loadSnapshotChunk({ height, format, chunk })) as LoadSnapshotChunkResponse).chunk ?? new Uint8Array(0)

export const offerTo = (app: CompleteApplication, snapshot: Snapshot, appHash: Uint8Array): number =>
  (app.offerSnapshot({ snapshot, appHash }) as { result: number }).result

export const applyTo = (
  app: CompleteApplication,
  index: number,
  chunk: Uint8Array,
  sender = 'peer',
): ApplySnapshotChunkResponse => app.applySnapshotChunk({ index, chunk, sender }) as ApplySnapshotChunkResponse

/** A node with a snapshot of block 10, and what it offers. `appHash`: of that block. */
export async function servingNode(folder: string) {
  const server = snapshotNode(folder)
  const { app } = server.chain
  server.chain.init({
    accounts: Array.from({ length: 40 }, (_, at) => ({ address: account(at + 10).address, balance: tokens(1000) })),
    candidacies: [
      { owner: account(1), key: nodeKey(1), shares: tokens(100) },
      { owner: account(2), key: nodeKey(2), shares: tokens(50) },
    ],
  })
  server.chain.deliver(account(12), 'transfer', { to: addressBytes(account(13).address), value: '5' })
  server.chain.advanceTo(10)
  const snapshot = listSnapshots(app)[0] as Snapshot
  const chunks = await Promise.all(
    Array.from({ length: snapshot.chunks }, (_, index) => loadChunk(app, snapshot, index)),
  )
  return { server, snapshot, chunks, appHash: server.store.appHash() }
}
