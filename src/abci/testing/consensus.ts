import { createHash } from 'node:crypto'
import {
  BlockIdFlag,
  type CommitInfo,
  type ConsensusParams,
  type ExtendVoteRequest,
  type FinalizeBlockRequest,
  type FinalizeBlockResponse,
  type InitChainRequest,
  type InitChainResponse,
  type Misbehavior,
  type PrepareProposalRequest,
  type ProcessProposalRequest,
} from '../types.ts'
import { NOTHING, textOf } from './values.ts'
import { commitInfo, keyAddress, updateValidators, type ValidatorSet } from './validatorSets.ts'

/** What of a block is given by those who vote and by the clock. */
export interface Circumstances {
  readonly absent: readonly string[]
  readonly nil: readonly string[]
  readonly misbehavior: readonly Misbehavior[]
  /** Seconds since the block before. */
  readonly seconds: number
}

/** A proposed block, with the requests about it. */
export interface Proposal {
  readonly hash: Uint8Array
  readonly height: number
  readonly txs: readonly Uint8Array[]
  readonly process: ProcessProposalRequest
  readonly extend: ExtendVoteRequest
  readonly finalize: FinalizeBlockRequest
}

/** A block that was decided, and what executing it led to. */
export interface DecidedBlock {
  readonly request: FinalizeBlockRequest
  readonly response: FinalizeBlockResponse
}

/** What CometBFT takes for a block of unlimited size. */
const BLOCK_BYTES_MAX = 100 * 1024 * 1024

const hashOf = (value: unknown): Uint8Array => createHash('sha256').update(textOf(value)).digest()

/** CometBFT's own part of the chain: the validator sets, the parameters and the decided blocks, which all nodes share. */
export class Consensus {
  readonly init: InitChainRequest
  /** The answer to InitChain. */
  genesis: InitChainResponse = {}
  /** The last height that was decided; that before the initial height at first. */
  height: number
  /** The time of the last block. */
  time: { readonly seconds: number; readonly nanos: number }
  params: ConsensusParams
  readonly sets = new Map<number, ValidatorSet>()
  readonly blocks = new Map<number, DecidedBlock>()
  /** The vote extensions of the last block, by the keys of their validators. */
  extensions: ReadonlyMap<string, Uint8Array> = new Map()

  constructor(init: InitChainRequest) {
    this.init = init
    this.height = init.initialHeight - 1
    this.time = init.time
    this.params = init.consensusParams ?? {}
  }

  /** Takes the answer to InitChain: its validators, if it has some, replace those of genesis. */
  start(response: InitChainResponse): void {
    this.genesis = response
    const { validators = [] } = response
    const set = updateValidators(new Map(), validators.length > 0 ? validators : this.init.validators)
    for (const at of [1, 2]) this.sets.set(this.height + at, set)
    this.params = { ...this.params, ...response.consensusParams }
  }

  /** The validators of a height. */
  setAt(height: number): ValidatorSet {
    return this.sets.get(height) ?? new Map()
  }

  /** What PrepareProposal is told as the largest size. */
  get txBytesMax(): number {
    const { maxBytes = -1 } = this.params.block ?? {}
    return maxBytes < 0 ? BLOCK_BYTES_MAX : maxBytes
  }

  /** True when the votes of `height` carry extensions. */
  hasExtensions(height: number): boolean {
    const { voteExtensionsEnableHeight = 0 } = this.params.abci ?? {}
    return voteExtensionsEnableHeight > 0 && height >= voteExtensionsEnableHeight
  }

  private lastCommit({ absent, nil }: Circumstances): CommitInfo {
    return this.blocks.has(this.height) ? commitInfo(this.setAt(this.height), absent, nil) : { round: 0, votes: [] }
  }

  private common(proposer: string, { misbehavior, seconds }: Circumstances) {
    const height = this.height + 1
    return {
      misbehavior,
      height,
      time: { seconds: this.time.seconds + seconds, nanos: this.time.nanos },
      nextValidatorsHash: hashOf([...this.setAt(height + 1)]),
      proposerAddress: keyAddress(proposer),
    }
  }

  /** The request of a proposer with these transactions in its mempool. */
  prepare(
    proposer: string,
    txs: readonly Uint8Array[],
    maxTxBytes: number,
    circumstances: Circumstances,
  ): PrepareProposalRequest {
    const { round, votes } = this.lastCommit(circumstances)
    const keys = [...this.setAt(this.height).keys()]
    const extended = votes.map((vote, at) => {
      const given = vote.blockIdFlag === BlockIdFlag.commit ? this.extensions.get(keys[at] as string) : undefined
      const extensionSignature = given === undefined ? NOTHING : hashOf([keys[at], given])
      return { ...vote, voteExtension: given ?? NOTHING, extensionSignature }
    })
    return { ...this.common(proposer, circumstances), txs, maxTxBytes, localLastCommit: { round, votes: extended } }
  }

  /** The block of these transactions at the next height. */
  propose(proposer: string, txs: readonly Uint8Array[], circumstances: Circumstances): Proposal {
    const lastCommit = this.lastCommit(circumstances)
    const content = { ...this.common(proposer, circumstances), txs }
    const hash = hashOf([content, lastCommit])
    const proposed = { ...content, hash, proposedLastCommit: lastCommit }
    return {
      hash,
      height: content.height,
      txs,
      process: proposed,
      extend: proposed,
      finalize: { ...content, hash, decidedLastCommit: lastCommit },
    }
  }

  /** Takes what executing the next block led to. Throws a RequirementError for validator updates that CometBFT refuses. */
  decide(request: FinalizeBlockRequest, response: FinalizeBlockResponse): void {
    const { height, time } = request
    this.sets.set(height + 2, updateValidators(this.setAt(height + 1), response.validatorUpdates ?? []))
    this.params = { ...this.params, ...response.consensusParamUpdates }
    this.blocks.set(height, { request, response })
    this.height = height
    this.time = time
  }

  /** The app hash after `height`, which must have been decided. */
  appHashAt(height: number): Uint8Array {
    return this.blocks.get(height)?.response.appHash ?? NOTHING
  }
}
