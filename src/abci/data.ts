/** The structures that occur within ABCI's requests and responses. */

/**
 * Seconds since 1970-01-01 UTC, negative before it, plus 0 to 999,999,999 nanoseconds. Go's zero time is
 * −62135596800.
 * @example const time: Timestamp = { seconds: 1_700_000_000, nanos: 0 }
 */
export interface Timestamp {
  seconds: number
  nanos: number
}
/**
 * A span of time. `nanos` has the sign of `seconds`.
 * @example const day: Duration = { seconds: 86_400, nanos: 0 }
 */
export interface Duration {
  seconds: number
  nanos: number
}

/**
 * A validator, by its 20-byte address, and its voting power.
 * @example const powers = new Map(votes.map(({ validator }: { validator: Validator }) => [hex(validator.address), validator.power]))
 */
export interface Validator {
  address: Uint8Array
  power: number
}
/**
 * A public key. Exactly one member is set, which tells the kind of the key.
 * @example const pubKey: PublicKey = { ed25519: new Uint8Array(32) }
 */
export interface PublicKey {
  ed25519?: Uint8Array
  secp256k1?: Uint8Array
  bls12381?: Uint8Array
  mldsa65?: Uint8Array
  secp256k1eth?: Uint8Array
}
/**
 * Sets a validator's voting power from height + 2 on. Power 0 removes the validator.
 * @example const update: ValidatorUpdate = { pubKey: { ed25519: key }, power: 10 }
 */
export interface ValidatorUpdate {
  pubKey: PublicKey
  power: number
}

/**
 * One validator's part in the last commit: a BlockIdFlag, or in 0.37 whether it signed.
 * @example const absent = votes.filter(({ blockIdFlag }: VoteInfo) => blockIdFlag === BlockIdFlag.absent)
 */
export interface VoteInfo {
  validator: Validator
  signedLastBlock: boolean
  blockIdFlag: number
}
/**
 * VoteInfo with the extension of the vote.
 * @example const prices = localLastCommit.votes.map(({ voteExtension }: ExtendedVoteInfo) => decode(voteExtension))
 */
export interface ExtendedVoteInfo extends VoteInfo {
  voteExtension: Uint8Array
  extensionSignature: Uint8Array
}
/**
 * Who voted for the last block, and in which round.
 * @example const signed = ({ votes }: CommitInfo) => votes.filter(({ blockIdFlag }) => blockIdFlag === BlockIdFlag.commit)
 */
export interface CommitInfo {
  round: number
  votes: readonly VoteInfo[]
}
/**
 * CommitInfo with the extensions of the votes.
 * @example const count = ({ votes }: ExtendedCommitInfo) => votes.length
 */
export interface ExtendedCommitInfo {
  round: number
  votes: readonly ExtendedVoteInfo[]
}
/**
 * Proven misbehaviour of a validator. `type` is a MisbehaviorType.
 * @example for (const { validator, height } of misbehavior) punish(validator.address, height)
 */
export interface Misbehavior {
  type: number
  validator: Validator
  height: number
  time: Timestamp
  totalVotingPower: number
}

/**
 * A named list of attributes, by which transactions can be found.
 * @example const event: Event = { type: 'transfer', attributes: [{ key: 'to', value: 'bob', index: true }] }
 */
export interface Event {
  type?: string
  attributes?: readonly EventAttribute[]
}
/**
 * One attribute of an event. `index` asks the node to index it.
 * @example const attribute: EventAttribute = { key: 'to', value: 'bob', index: true }
 */
export interface EventAttribute {
  key?: string
  value?: string
  index?: boolean
}

/**
 * A snapshot. Two snapshots with the same hash, height and format consist of the same bytes. Metadata has at most 4
 * MB.
 * @example const snapshot: Snapshot = { height: 1000, format: 1, chunks: 3, hash, metadata: new Uint8Array(0) }
 */
export interface Snapshot {
  height: number
  format: number
  chunks: number
  hash: Uint8Array
  metadata: Uint8Array
}
/**
 * A chain of proof operations, innermost first.
 * @example const proofOps: ProofOps = { ops: [{ type: 'ics23:smt', key, data }] }
 */
export interface ProofOps {
  ops: readonly ProofOp[]
}
/**
 * One proof operation, in the encoding that its type names.
 * @example const op: ProofOp = { type: 'ics23:smt', key, data }
 */
export interface ProofOp {
  type: string
  key: Uint8Array
  data: Uint8Array
}

/**
 * The consensus parameters. A group that is set replaces all of its members. Only 0.40 has `authority`.
 * @example const params: ConsensusParams = { block: { maxBytes: 4_194_304, maxGas: -1 } }
 */
export interface ConsensusParams {
  block?: { maxBytes: number; maxGas: number }
  evidence?: { maxAgeNumBlocks: number; maxAgeDuration: Duration; maxBytes: number }
  validator?: { pubKeyTypes: readonly string[] }
  version?: { app: number }
  abci?: { voteExtensionsEnableHeight: number }
  authority?: { authority: string }
}

/**
 * 0.37: the header of the decided block.
 * @example beginBlock: ({ header }) => { open(header.height, header.time); return {} }
 */
export interface Header {
  version: { block: number; app: number }
  chainId: string
  height: number
  time: Timestamp
  lastBlockId: { hash: Uint8Array; partSetHeader: { total: number; hash: Uint8Array } }
  lastCommitHash: Uint8Array
  dataHash: Uint8Array
  validatorsHash: Uint8Array
  nextValidatorsHash: Uint8Array
  consensusHash: Uint8Array
  appHash: Uint8Array
  lastResultsHash: Uint8Array
  evidenceHash: Uint8Array
  proposerAddress: Uint8Array
}

/**
 * Why a transaction is checked: because it is new, or because a block was committed since.
 * @example if (type === CheckTxType.recheck) return {}
 */
export const CheckTxType = { new: 0, recheck: 1 } as const
/**
 * The verdict on a proposed block. `unknown` stops the node.
 * @example processProposal: () => ({ status: ProposalStatus.accept })
 */
export const ProposalStatus = { unknown: 0, accept: 1, reject: 2 } as const
/**
 * The verdict on a vote extension. `unknown` stops the node.
 * @example verifyVoteExtension: () => ({ status: VerifyStatus.accept })
 */
export const VerifyStatus = { unknown: 0, accept: 1, reject: 2 } as const
/**
 * How a validator voted on the last block.
 * @example const signed = vote.blockIdFlag !== BlockIdFlag.absent
 */
export const BlockIdFlag = { unknown: 0, absent: 1, commit: 2, nil: 3 } as const
/**
 * What a validator did wrong.
 * @example if (type === MisbehaviorType.duplicateVote) slash(validator)
 */
export const MisbehaviorType = { unknown: 0, duplicateVote: 1, lightClientAttack: 2 } as const
/**
 * The verdict on an offered snapshot. `unknown` and `abort` end state sync.
 * @example offerSnapshot: () => ({ result: OfferSnapshotResult.reject })
 */
export const OfferSnapshotResult = {
  unknown: 0,
  accept: 1,
  abort: 2,
  reject: 3,
  rejectFormat: 4,
  rejectSender: 5,
} as const
/**
 * The verdict on a chunk. `unknown` and `abort` end state sync.
 * @example applySnapshotChunk: () => ({ result: ApplySnapshotChunkResult.accept })
 */
export const ApplySnapshotChunkResult = {
  unknown: 0,
  accept: 1,
  abort: 2,
  retry: 3,
  retrySnapshot: 4,
  rejectSnapshot: 5,
} as const
