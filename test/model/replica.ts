import { rmSync } from 'node:fs'
import {
  type CompleteApplication,
  ApplySnapshotChunkResult,
  type FinalizeBlockRequest,
  type FinalizeBlockResponse,
  OfferSnapshotResult,
  type PrepareProposalResponse,
  ProposalStatus,
} from '../../src/abci/types.ts'
import { toHex } from '../../src/base/bytes.ts'
import { tables } from '../../src/modules/registry.ts'
import { writeSnapshot } from '../../src/store/snapshot/write.ts'
import type { SqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { appOn, consensusPart, heightOf, legacyCalls, onDisk } from '../chain/support.ts'
import type { Init } from '../sim/recordedChain.ts'
import type { Random } from '../sim/traffic.ts'
import { Broken } from '../support/campaign.ts'
import { applyTo, listSnapshots, loadChunk, offerTo } from '../support/snapshotNodes.ts'

/** The transactions that the model lets into a block above the head. */
type Admit = (txs: readonly Uint8Array[]) => readonly Uint8Array[]

const textOf = (txs: readonly Uint8Array[]): string => txs.map((tx) => Buffer.from(tx).toString('base64')).join()

/**
 * A node on SQLite to which everything happens that happens to nodes: it is restarted at any moment, proposes and judges
 * blocks that are not decided, executes them ahead of the decision, rolls its last block back and goes on from a
 * snapshot. After every block it must have the app hash of the first replica.
 */
export class Replica {
  private readonly folder: string
  private readonly next: Random
  private readonly init: Init
  private files = 0
  private path = ''
  private store!: SqliteStore
  private app!: CompleteApplication
  /** What waits until the answer in progress is sent. */
  private work: (() => void)[] = []
  /** What happened, by its name. */
  readonly met = new Map<string, number>()

  constructor(folder: string, next: Random, init: Init) {
    this.folder = folder
    this.next = next
    this.init = init
    this.open()
    this.start()
  }

  private meet(what: string): void {
    this.met.set(what, (this.met.get(what) ?? 0) + 1)
  }

  private open(path = `${this.folder}/${this.files++}.db`): void {
    this.path = path
    this.store = onDisk(path)
  }

  /** A program that starts on the store. A node that will be restored from a snapshot gets no InitChain. */
  private start(isRestored = false): void {
    this.work = []
    const snapshots = {
      folder: `${this.path}.snapshots`,
      restorePath: `${this.path}.restore`,
      replaceBy: this.store.replaceBy,
      beginAt: () => undefined,
    }
    this.app = appOn(this.store, { snapshots, afterAnswer: (work) => void this.work.push(work) })
    if (heightOf(this.app) === 0 && !isRestored) this.app.initChain(this.init)
  }

  private restart(): void {
    this.meet('restart')
    this.store.close()
    this.open(this.path)
    this.start()
  }

  /** PrepareProposal and ProcessProposal must judge as the model does; sometimes the proposal is executed ahead. */
  private propose({ decidedLastCommit, ...block }: FinalizeBlockRequest, admit: Admit): void {
    const { txs = [] } = this.app.prepareProposal({
      ...block,
      maxTxBytes: 10_000_000,
      localLastCommit: { round: 0, votes: [] },
    }) as PrepareProposalResponse
    const expected = admit(block.txs)
    if (textOf(txs) !== textOf(expected))
      throw new Broken(`PrepareProposal takes ${txs.length} transactions, the model ${expected.length}`)
    const isRight = expected.length === block.txs.length
    const { status } = this.app.processProposal({ ...block, proposedLastCommit: decidedLastCommit }) as {
      status: number
    }
    if ((status === ProposalStatus.accept) !== isRight)
      throw new Broken(`ProcessProposal answers ${status}, the model says ${isRight}`)
    if (this.next(4) === 0 || !isRight) return
    this.meet('run ahead')
    for (const work of this.work.splice(0)) work()
  }

  /** Proposals before the decision: other blocks, and the one that will be decided. */
  private proposeSome(block: FinalizeBlockRequest, admit: Admit): void {
    const { next } = this
    while (next(2) === 0) {
      const txs = admit(next(3) === 0 ? block.txs : block.txs.filter(() => next(3) > 0))
      const seconds = block.time.seconds + next(2)
      this.propose(
        { ...block, txs, misbehavior: next(2) === 0 ? [] : block.misbehavior, time: { seconds, nanos: 0 } },
        admit,
      )
      this.meet('another proposal')
    }
    if (next(2) === 0) this.propose(block, admit)
  }

  private decide(block: FinalizeBlockRequest, expected: FinalizeBlockResponse, admit: Admit): void {
    const { next } = this
    this.proposeSome(block, admit)
    while (next(8) === 0) {
      const calls = legacyCalls(this.app, block)
      for (const call of calls.slice(0, next(calls.length + 1))) call()
      if (next(2) === 0) this.app.finalizeBlock(block)
      this.restart()
      this.proposeSome(block, admit)
    }
    if (next(4) === 0) for (const call of legacyCalls(this.app, block)) call()
    else {
      const answer = this.app.finalizeBlock(block) as FinalizeBlockResponse
      const [mine, theirs] = [answer, expected].map((one) => JSON.stringify([consensusPart(one), one.events]))
      if (mine !== theirs) throw new Broken(`the replica answers ${mine}, the first one ${theirs}`)
    }
    this.app.commit({})
    this.compareHash(expected)
  }

  private compareHash({ appHash }: FinalizeBlockResponse): void {
    if (toHex(this.store.appHash()) !== toHex(appHash as Uint8Array))
      throw new Broken('the replica has another app hash')
  }

  /** Takes the last block back, which then comes again. */
  private rollback(): void {
    this.meet('rollback')
    this.store.rollback()
    this.start()
  }

  /** A new node takes the place of this one, from a snapshot of it. */
  private async restore(expected: FinalizeBlockResponse): Promise<void> {
    this.meet('snapshot')
    const { app, store, path } = this
    writeSnapshot(store, tables, `${path}.snapshots`, 2_000 + this.next(50_000))
    const [snapshot] = listSnapshots(app)
    if (snapshot === undefined) throw new Broken('the replica offers no snapshot')
    this.open()
    this.start(true)
    const offered = offerTo(this.app, snapshot, expected.appHash as Uint8Array)
    if (offered !== OfferSnapshotResult.accept) throw new Broken(`the snapshot is answered ${offered}`)
    for (let index = 0; index < snapshot.chunks; index++) {
      const { result } = applyTo(this.app, index, await loadChunk(app, snapshot, index))
      if (result !== ApplySnapshotChunkResult.accept) throw new Broken(`chunk ${index} is answered ${result}`)
    }
    store.close()
    for (const end of ['', '-wal', '-shm', '.snapshots']) rmSync(path + end, { recursive: true, force: true })
    this.compareHash(expected)
  }

  /** Runs the block, which the first replica answered with `expected`. */
  async run(block: FinalizeBlockRequest, expected: FinalizeBlockResponse, admit: Admit): Promise<void> {
    const { next } = this
    for (const tx of block.txs) if (next(4) === 0) this.app.checkTx({ tx, type: 0 })
    this.decide(block, expected, admit)
    if (next(12) === 0) {
      this.rollback()
      this.decide(block, expected, admit)
    }
    if (next(25) === 0) await this.restore(expected)
    if (next(20) === 0 && toHex(this.store.recomputeRoot()) !== toHex(this.store.appHash()))
      throw new Broken('the rows of the replica are not those hashed')
  }

  close(): void {
    this.store.close()
  }
}
