import { concat, u64be } from '../../base/bytes.ts'
import { stateCodec } from '../../codec/state.ts'
import { address, addressOrNone } from '../../values/account.ts'
import { proposalId } from '../../values/key.ts'
import { amount, uint } from '../../values/number.ts'
import { flag, text } from '../../values/text.ts'
import { type RowOf, table } from '../../store/table.ts'

/** The kinds of proposal a chain can hold. */
export type ProposalType = 'change_param' | 'deploy_libeni' | 'retire_program' | 'transfer_fund'

/** Result of a proposal; '' while it is open. */
export type ProposalResult = '' | 'Approved' | 'Rejected' | 'Expired'

/**
 * Proposals, kept for ever. `pending` while its point still brings something: the last tally, or what an approval
 * carries out there. expireBlockHeight is 0 where a timestamp is the point.
 */
export const proposals = table('proposals', {
  tag: 0x10,
  key: { id: proposalId },
  row: {
    type: text,
    proposer: address,
    candidacyId: uint,
    blockHeight: uint,
    place: uint,
    expireBlockHeight: uint,
    expireTimestamp: uint,
    createdAt: uint,
    result: text,
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
    status: text,
  },
  message: stateCodec('svc.state.Proposal'),
  indexes: {
    byPlace: (row) => concat(u64be(row.blockHeight), u64be(row.place)),
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
  row: { voter: address, answer: text, blockHeight: uint },
  message: stateCodec('svc.state.Vote'),
})

/**
 * The node's own, written by the fetcher of libraries: what became of a library on this node. Never under the app hash.
 * Source: protocol.md §7.
 */
export const libraryStatus = table('library_status', {
  tag: 0xf1,
  hashed: false,
  key: { proposalId },
  row: { status: text },
})

/** One proposal. */
export type Proposal = RowOf<typeof proposals>

/** Tables of this module. */
export const governanceTables = [proposals, votes, libraryStatus] as const
