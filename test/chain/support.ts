import type {
  CompleteApplication,
  BeginBlockRequest,
  ExecTxResult,
  FinalizeBlockRequest,
  FinalizeBlockResponse,
  InfoResponse,
  PrepareProposalResponse,
} from '../../src/abci/types.ts'
import { createApp } from '../../src/app/app.ts'
import type { AppOptions } from '../../src/app/context.ts'
export { random } from '../../src/abci/testing/index.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { openMemoryStore } from '../support/memoryStore.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import type { Store } from '../../src/store/store.ts'
import { CHAIN_ID } from '../support/testChain.ts'
import { EARLY_DELEGATIONS, runScript, type Script } from '../vectors/script.ts'

let made: Script | undefined

/** The script of test/vectors, run once, with delegations in its first part too. */
export const script = (): Script => (made ??= runScript(undefined, EARLY_DELEGATIONS))

const silent = { info: () => {}, error: () => {} }

export const appOn = (store: Store, options: Partial<AppOptions> = {}): CompleteApplication =>
  createApp({ store, version: 'test', node: { os: 'ubuntu' }, logger: silent, ...options })

export const memory = (): Store => openMemoryStore({ tables })

/** The store in a file, made when it is not there. */
export const onDisk = (path: string): SqliteStore => openSqliteStore({ path, tables, views })

/** The committed height that Info tells. */
export const heightOf = (app: CompleteApplication): number =>
  (app.info({ version: '', blockVersion: 0, p2pVersion: 0, abciVersion: '' }) as InfoResponse).lastBlockHeight ?? -1

/** A block as the 0.37 dialect begins it. */
export function beginOf({
  height,
  time,
  hash,
  decidedLastCommit,
  misbehavior,
  nextValidatorsHash,
  proposerAddress,
}: FinalizeBlockRequest): BeginBlockRequest {
  const empty = new Uint8Array(0)
  const header = {
    version: { block: 11, app: 1 },
    chainId: CHAIN_ID,
    height,
    time,
    lastBlockId: { hash: empty, partSetHeader: { total: 0, hash: empty } },
    lastCommitHash: empty,
    dataHash: empty,
    validatorsHash: empty,
    nextValidatorsHash,
    consensusHash: empty,
    appHash: empty,
    lastResultsHash: empty,
    evidenceHash: empty,
    proposerAddress,
  }
  return {
    hash,
    header: header as unknown as BeginBlockRequest['header'],
    // Its votes have no flag.
    lastCommitInfo: {
      ...decidedLastCommit,
      votes: decidedLastCommit.votes.map((vote) => ({ ...vote, blockIdFlag: 0 })),
    },
    byzantineValidators: misbehavior,
  }
}

/** The calls of the 0.37 dialect for one block, but for Commit, one after the other. */
export function legacyCalls(app: CompleteApplication, block: FinalizeBlockRequest): readonly (() => unknown)[] {
  return [
    () => app.beginBlock(beginOf(block)),
    ...block.txs.map((tx) => () => app.deliverTx({ tx })),
    () => app.endBlock({ height: block.height }),
  ]
}

/** What of a block's answer consensus hashes: results, updates, parameters. */
export const consensusPart = ({
  txResults = [],
  validatorUpdates,
  consensusParamUpdates,
}: FinalizeBlockResponse): unknown => ({
  validatorUpdates,
  consensusParamUpdates,
  txResults: txResults.map(({ code, data, gasWanted, gasUsed, log }: ExecTxResult) => ({
    code,
    data,
    gasWanted,
    gasUsed,
    log,
  })),
})

const nothing = new Uint8Array(0)
const proposed = {
  misbehavior: [],
  hash: nothing,
  height: 1,
  time: { seconds: 0, nanos: 0 },
  nextValidatorsHash: nothing,
  proposerAddress: nothing,
}
const lastCommit = { round: 0, votes: [] }

/** What PrepareProposal makes of these transactions. */
export const prepare = (
  app: CompleteApplication,
  txs: readonly Uint8Array[],
  maxTxBytes = 1_000_000,
): readonly Uint8Array[] =>
  (app.prepareProposal({ ...proposed, maxTxBytes, txs, localLastCommit: lastCommit }) as PrepareProposalResponse).txs ??
  []

/** What ProcessProposal says of these transactions. */
export const judge = (app: CompleteApplication, txs: readonly Uint8Array[]): unknown =>
  app.processProposal({ ...proposed, txs, proposedLastCommit: lastCommit })

/** ExtendVote, then VerifyVoteExtension. */
export function extendVotes(app: CompleteApplication, txs: readonly Uint8Array[]): unknown {
  const extended = app.extendVote({ ...proposed, txs, proposedLastCommit: lastCommit })
  return [
    extended,
    app.verifyVoteExtension({ hash: nothing, validatorAddress: nothing, height: 1, voteExtension: nothing }),
  ]
}

export const finalize = (app: CompleteApplication, block: FinalizeBlockRequest): FinalizeBlockResponse =>
  app.finalizeBlock(block) as FinalizeBlockResponse
