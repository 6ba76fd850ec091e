import { type Address, address, addressOrNone } from '../../values/address.ts'
import { concat, u64be } from '../../base/bytes.ts'
import { createSortedMap, type SortedMap } from '../../base/sortedMap.ts'
import { stateCodec } from '../../codec/state.ts'
import { type ProposalId, proposalId, proposalIdBytes } from '../../values/pubKey.ts'
import { amount, uint } from '../../values/number.ts'
import type { ShapeValue } from '../../values/shape.ts'
import { enumOf, flag, text, yesNo } from '../../values/text.ts'
import { derivedTable, type RowOf, table } from '../../store/table.ts'
import type { VotingPowers } from '../stake/tables.ts'
import { PROPOSAL_TYPES } from '../gen/proposalTypes.ts'

/** What became of a retirement of the program. */
export const RETIREMENT_STATUSES = ['init', 'success', 'rejected'] as const

/** Results of a proposal that has ended. */
export const PROPOSAL_RESULTS = ['Approved', 'Rejected', 'Expired'] as const

/** The Result of a proposal; '' while it is open. */
export const proposalResult = enumOf('', ...PROPOSAL_RESULTS)

/** The order of listProposals: by block, then index in the block. */
const place = (row: { readonly blockHeight: number; readonly place: number }): Uint8Array =>
  concat(u64be(row.blockHeight), u64be(row.place))

/**
 * Proposals, kept for ever. `pending` while its point still brings something: the last tally, or what an approval
 * carries out there. expireBlockHeight is 0 where a timestamp is the point.
 */
export const proposals = table('proposals', {
  tag: 0x10,
  key: { id: proposalId },
  row: {
    type: enumOf(...PROPOSAL_TYPES),
    proposer: address,
    candidacyId: uint,
    blockHeight: uint,
    place: uint,
    expireBlockHeight: uint,
    expireTimestamp: uint,
    createdAt: uint,
    result: proposalResult,
    resultMsg: text,
    resultBlockHeight: uint,
    resultAt: uint,
    pending: flag,
    yesPower: uint,
    noPower: uint,
    totalPower: uint,
    reason: text,
    name: text,
    value: text,
    version: text,
    fileUrl: text,
    md5: text,
    retiredVersion: text,
    preservedValidators: text,
    transferFrom: addressOrNone,
    transferTo: addressOrNone,
    amount,
    escrow: amount,
    status: enumOf('', ...RETIREMENT_STATUSES),
  },
  message: stateCodec('svc.state.Proposal'),
  indexes: {
    byPlace: place,
    // For queries alone: the proposals of a type, of a result, or of both, in the order of byPlace.
    byType: (row) => concat(text.toKey(row.type), place(row)),
    byResult: (row) => concat(text.toKey(row.result), place(row)),
    byTypeAndResult: (row) => concat(text.toKey(row.type), text.toKey(row.result), place(row)),
    dueByHeight: (row) => (row.pending && row.expireBlockHeight > 0 ? u64be(row.expireBlockHeight) : undefined),
    dueByTime: (row) => (row.pending && row.expireBlockHeight === 0 ? u64be(row.expireTimestamp) : undefined),
    openByCandidacy: (row) => (row.result === '' ? u64be(row.candidacyId) : undefined),
    ongoingLibrary: (row) => (row.type === 'deploy_libeni' && row.pending ? text.toKey(row.name) : undefined),
    deployedLibrary: (row) =>
      row.type === 'deploy_libeni' && !row.pending && row.result === 'Approved'
        ? concat(text.toKey(row.name), u64be(row.blockHeight), u64be(row.place))
        : undefined,
    standingRetirement: (row) =>
      row.type === 'retire_program' && (row.result === '' || row.result === 'Approved')
        ? text.toKey(row.retiredVersion)
        : undefined,
  },
})

/** Votes by the candidacy that gave them; they stay with it when it changes hands. `voter` is its owner then. */
export const votes = table('votes', {
  tag: 0x11,
  key: { proposalId, candidacyId: uint },
  row: { voter: address, answer: yesNo, blockHeight: uint },
  message: stateCodec('svc.state.Vote'),
})

/** One vote. */
export type Vote = RowOf<typeof votes>

/** Answers to one proposal by candidacy id. A vote makes new ones of these. */
export type Answers = Pick<SortedMap<number, Vote['answer']>, 'get' | 'size' | 'with'>

/** Voting power in whole tokens: for, against, and of the whole set. */
export interface Tally {
  readonly yes: number
  readonly no: number
  readonly total: number
}

interface ProposalAnswers {
  readonly proposalId: ProposalId
  readonly byCandidacy: Answers
  /** The tally after the last vote, by the powers that were then in force; undefined before it is counted. */
  readonly counted?: { readonly powers: VotingPowers; readonly tally: Tally }
}

/** The answers in `votes` to each open proposal, in memory: a tally asks for those of the whole validator set. */
export const answers = derivedTable('answers', {
  tag: 0xf3,
  key: { proposalId },
  derive: (state, { proposalId: id }): ProposalAnswers => {
    const byCandidacy = createSortedMap<number, Vote['answer']>((a, b) => a - b)
    for (const { candidacyId, answer } of state.scan(votes, { prefix: proposalIdBytes(id) }))
      byCandidacy.set(candidacyId, answer)
    return { proposalId: id, byCandidacy }
  },
  sizeOf: ({ byCandidacy }) => byCandidacy.size,
})

/** What became of a library. */
export const libraryStatusType = enumOf('init', 'ready', 'failed', 'deployed', 'collapsed', 'rejected')

/** A status of a library. */
export type LibraryStatus = ShapeValue<typeof libraryStatusType>

/** The statuses of libraries before their point. */
const BEFORE_POINT: ReadonlySet<string> = new Set(['init', 'ready', 'failed'])
const NO_KEY = new Uint8Array(0)

/**
 * The node's own, written by the fetcher of libraries: what became of a library on this node. Never under the app hash.
 * Source: protocol.md §7.
 */
export const libraryStatus = table('library_status', {
  tag: 0xf1,
  hashed: false,
  key: { proposalId },
  row: { status: libraryStatusType },
  indexes: { beforePoint: ({ status }) => (BEFORE_POINT.has(status) ? NO_KEY : undefined) },
})

type Row = RowOf<typeof proposals>

/** The kinds of proposal a chain can hold. */
export type ProposalType = Row['type']

/** Result of a proposal; '' while it is open. */
export type ProposalResult = Row['result']

/**
 * The columns that each kind of proposal has of its own, which its file adds. Those of the other kinds are blank in its
 * row.
 */
export interface OwnColumns {}

type OwnColumn = OwnColumns[ProposalType]

/** The columns that kinds have of their own, blank: how a row shows those of other kinds. */
export const blankColumns: Pick<Row, OwnColumn> = {
  name: '',
  value: '',
  version: '',
  fileUrl: '',
  md5: '',
  retiredVersion: '',
  preservedValidators: '',
  transferFrom: '',
  transferTo: '',
  amount: 0n,
  escrow: 0n,
  status: '',
}

type OwnFieldsByType = {
  readonly [T in ProposalType]: { readonly type: T } & {
    readonly [C in OwnColumns[T]]: Exclude<Row[C], ''> extends Address ? Address : Row[C]
  }
}

/** What a proposal of one kind, or of any, says beside what all say. */
export type OwnFields<T extends ProposalType = ProposalType> = OwnFieldsByType[T]

/** A proposal of one kind. */
export type ProposalOf<T extends ProposalType> = Omit<Row, OwnColumn | 'type'> & OwnFieldsByType[T]

/** A proposal of any kind: `type` tells which fields it has. */
export type Proposal = ProposalOf<ProposalType>

/** Tables of this module. */
export const governanceTables = [proposals, votes, libraryStatus] as const
