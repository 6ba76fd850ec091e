import { createHash } from 'node:crypto'
import {
  type Application,
  ApplySnapshotChunkResult,
  baseApplication,
  type CompleteApplication,
  OfferSnapshotResult,
  ProposalStatus,
  type Snapshot,
  VerifyStatus,
} from '../../../src/abci/index.ts'

/** The state of the small application: names that were registered, with who was absent and who misbehaved. */
export interface SmallState {
  readonly height: number
  readonly names: readonly string[]
  readonly absences: number
  readonly misbehaviors: number
}

/** What the small application keeps on its disk. */
export interface Disk {
  state: SmallState
  snapshots: { readonly snapshot: Snapshot; readonly chunks: readonly Uint8Array[] }[]
}

const EMPTY: SmallState = { height: 0, names: [], absences: 0, misbehaviors: 0 }
const SNAPSHOT_INTERVAL = 3
const CHUNK_BYTES = 40

const sha256 = (bytes: Uint8Array | string): Uint8Array => createHash('sha256').update(bytes).digest()
const utf8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

/** The app hash of a state; none before the first block. */
export const hashOf = (state: SmallState): Uint8Array =>
  state.height === 0 ? new Uint8Array(0) : sha256(JSON.stringify(state))

/** A transaction that registers a name. */
export const register = (name: string): Uint8Array => Buffer.from(`register ${name}`)

/** An empty disk. */
export const emptyDisk = (): Disk => ({ state: EMPTY, snapshots: [] })

/** The application, with what its tests change of it. */
export interface Small {
  readonly application: CompleteApplication & Application
  readonly disk: Disk
  /** The block that was executed, and not committed yet. */
  next: SmallState
}

function snapshotOf(state: SmallState): Disk['snapshots'][number] {
  const bytes = Buffer.from(JSON.stringify(state))
  const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK_BYTES) }, (_, at) =>
    bytes.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  )
  const snapshot = {
    height: state.height,
    format: 1,
    chunks: chunks.length,
    hash: sha256(bytes),
    metadata: new Uint8Array(0),
  }
  return { snapshot, chunks }
}

/** The state in the bytes of a snapshot; undefined for bytes that hold none. */
function stateIn(bytes: Buffer): SmallState | undefined {
  try {
    return JSON.parse(bytes.toString()) as SmallState
  } catch {
    return undefined
  }
}

/** A registry of names: a small application that is correct, with vote extensions and snapshots. */
export function openSmall(disk: Disk): Small {
  const nameOf = (tx: Uint8Array): string | undefined => /^register ([a-z0-9]+)$/.exec(utf8(tx))?.[1]
  const isFree = (tx: Uint8Array): boolean => {
    const name = nameOf(tx)
    return name !== undefined && !disk.state.names.includes(name)
  }
  let restored: { readonly appHash: Uint8Array; readonly chunks: Uint8Array[]; readonly count: number } | undefined
  const application: CompleteApplication = {
    ...baseApplication,
    beginBlock: () => ({}),
    deliverTx: () => ({}),
    endBlock: () => ({}),
    info: () => ({ lastBlockHeight: disk.state.height, lastBlockAppHash: hashOf(disk.state) }),
    query: () => ({ value: Buffer.from(String(disk.state.names.length)), height: disk.state.height }),
    checkTx: ({ tx }) => (isFree(tx) ? {} : { code: 1, log: 'not a free name' }),
    prepareProposal: (request) => baseApplication.prepareProposal({ ...request, txs: request.txs.filter(isFree) }),
    processProposal: ({ txs }) => ({ status: ProposalStatus[txs.every(isFree) ? 'accept' : 'reject'] }),
    extendVote: ({ height }) => ({ voteExtension: Buffer.from(`at ${height}`) }),
    verifyVoteExtension: ({ height, voteExtension }) => ({
      status: VerifyStatus[utf8(voteExtension) === `at ${height}` ? 'accept' : 'reject'],
    }),
    finalizeBlock: ({ height, txs, decidedLastCommit, misbehavior }) => {
      const names = [...disk.state.names]
      const txResults = txs.map((tx) => {
        const name = nameOf(tx)
        if (name === undefined || names.includes(name)) return { code: 1, log: 'not a free name' }
        names.push(name)
        return { data: Buffer.from(name), gasUsed: 1 }
      })
      const absent = decidedLastCommit.votes.filter(({ blockIdFlag }) => blockIdFlag === 1).length
      const absences = disk.state.absences + absent
      small.next = { height, names, absences, misbehaviors: disk.state.misbehaviors + misbehavior.length }
      return { txResults, appHash: hashOf(small.next) }
    },
    commit: () => {
      disk.state = small.next
      if (disk.state.height % SNAPSHOT_INTERVAL === 0) disk.snapshots.push(snapshotOf(disk.state))
      return {}
    },
    listSnapshots: () => ({ snapshots: disk.snapshots.map(({ snapshot }) => snapshot) }),
    loadSnapshotChunk: ({ height, chunk }) => {
      const found = disk.snapshots.find(({ snapshot }) => snapshot.height === height)?.chunks[chunk]
      return found === undefined ? {} : { chunk: found }
    },
    offerSnapshot: ({ snapshot, appHash }) => {
      if (snapshot?.format !== 1) return { result: OfferSnapshotResult.rejectFormat }
      restored = { appHash, chunks: [], count: snapshot.chunks }
      return { result: OfferSnapshotResult.accept }
    },
    applySnapshotChunk: ({ index, chunk }) => {
      if (restored === undefined) return { result: ApplySnapshotChunkResult.abort }
      restored.chunks[index] = chunk
      if (restored.chunks.length < restored.count) return { result: ApplySnapshotChunkResult.accept }
      const state = stateIn(Buffer.concat(restored.chunks))
      if (state === undefined || !Buffer.from(hashOf(state)).equals(restored.appHash))
        return { result: ApplySnapshotChunkResult.rejectSnapshot }
      disk.state = state
      return { result: ApplySnapshotChunkResult.accept }
    },
  }
  const small: Small = { application, disk, next: disk.state }
  return small
}
