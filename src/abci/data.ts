/** What ABCI's requests and responses are made of. */

/**
 * Seconds since 1970-01-01 UTC, negative before, and 0 to 999,999,999 nanoseconds forwards. Go's zero time is
 * −62135596800.
 */
export interface Timestamp {
  seconds: number
  nanos: number
}
/** A span of time; `nanos` has the sign of `seconds`. */
export interface Duration {
  seconds: number
  nanos: number
}

/** A validator by its 20-byte address and its voting power. */
export interface Validator {
  address: Uint8Array
  power: number
}
/** A public key by its kind: one member is set. */
export interface PublicKey {
  ed25519?: Uint8Array
  secp256k1?: Uint8Array
  bls12381?: Uint8Array
  mldsa65?: Uint8Array
  secp256k1eth?: Uint8Array
}
/** Sets a validator's voting power from height + 2 on; 0 removes it. */
export interface ValidatorUpdate {
  pubKey: PublicKey
  power: number
}

/** One validator's part in the last commit: a BlockIdFlag, or in 0.37 whether it signed. */
export interface VoteInfo {
  validator: Validator
  signedLastBlock: boolean
  blockIdFlag: number
}
/** VoteInfo with the vote's extension. */
export interface ExtendedVoteInfo extends VoteInfo {
  voteExtension: Uint8Array
  extensionSignature: Uint8Array
}
/** Who voted for the last block, in which round. */
export interface CommitInfo {
  round: number
  votes: readonly VoteInfo[]
}
/** CommitInfo with the votes' extensions. */
export interface ExtendedCommitInfo {
  round: number
  votes: readonly ExtendedVoteInfo[]
}
/** Proven misbehaviour of a validator; `type` is a MisbehaviorType. */
export interface Misbehavior {
  type: number
  validator: Validator
  height: number
  time: Timestamp
  totalVotingPower: number
}

/** A named list of attributes, by which transactions can be found. */
export interface Event {
  type?: string
  attributes?: readonly EventAttribute[]
}
/** One attribute; `index` asks the node to index it. */
export interface EventAttribute {
  key?: string
  value?: string
  index?: boolean
}

/** A snapshot: equal hash, height and format mean equal bytes. Metadata at most 4 MB. */
export interface Snapshot {
  height: number
  format: number
  chunks: number
  hash: Uint8Array
  metadata: Uint8Array
}
/** A chain of proof operations, innermost first. */
export interface ProofOps {
  ops: readonly ProofOp[]
}
/** One proof operation in the encoding that its type names. */
export interface ProofOp {
  type: string
  key: Uint8Array
  data: Uint8Array
}

/** The consensus parameters; a group that is set replaces all of its members. `authority` only in 0.40. */
export interface ConsensusParams {
  block?: { maxBytes: number; maxGas: number }
  evidence?: { maxAgeNumBlocks: number; maxAgeDuration: Duration; maxBytes: number }
  validator?: { pubKeyTypes: readonly string[] }
  version?: { app: number }
  abci?: { voteExtensionsEnableHeight: number }
  authority?: { authority: string }
}

/** 0.37: the header of the decided block. */
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

/** Why a transaction is checked: it is new, or a block was committed since. */
export const CheckTxType = { new: 0, recheck: 1 } as const
/** The verdict on a proposed block; unknown stops the node. */
export const ProposalStatus = { unknown: 0, accept: 1, reject: 2 } as const
/** The verdict on a vote extension; unknown stops the node. */
export const VerifyStatus = { unknown: 0, accept: 1, reject: 2 } as const
/** How a validator voted on the last block. */
export const BlockIdFlag = { unknown: 0, absent: 1, commit: 2, nil: 3 } as const
/** What a validator did wrong. */
export const MisbehaviorType = { unknown: 0, duplicateVote: 1, lightClientAttack: 2 } as const
/** The verdict on an offered snapshot; unknown and abort end state sync. */
export const OfferSnapshotResult = {
  unknown: 0,
  accept: 1,
  abort: 2,
  reject: 3,
  rejectFormat: 4,
  rejectSender: 5,
} as const
/** The verdict on a chunk; unknown and abort end state sync. */
export const ApplySnapshotChunkResult = {
  unknown: 0,
  accept: 1,
  abort: 2,
  retry: 3,
  retrySnapshot: 4,
  rejectSnapshot: 5,
} as const
