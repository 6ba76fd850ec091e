import type {
  Application,
  CheckTxResponse,
  ConsensusParams,
  ExecTxResult,
  FinalizeBlockResponse,
  Misbehavior,
  QueryRequest,
  QueryResponse,
  ValidatorUpdate,
} from '../types.ts'
import type { Random } from './random.ts'
import type { Requirement } from './requirementError.ts'

/**
 * Opens the application of a node, by the node's number. Called with the same number again, it is the same node after a
 * restart: an application that keeps its state on disk opens it again, and one that keeps it in memory begins anew. Each
 * number that was not there before needs a state of its own, which is empty.
 * @example const factory: ApplicationFactory = (node) => openApplication(`${folder}/${node}.db`)
 */
export type ApplicationFactory<A extends Application = Application> = (node: number) => A | Promise<A>

/**
 * The settings of a test chain.
 * @example const options: TestChainOptions = { seed: 7, appState: { accounts: [] }, queries: [{ path: '/count' }] }
 */
export interface TestChainOptions<A extends Application = Application> {
  /** What every choice of the chain is made from. Default: 1. */
  readonly seed?: number
  /** The validators of genesis, or how many of them, each with power 10. Default: 4. */
  readonly validators?: number | readonly ValidatorUpdate[]
  /**
   * How many of the validators run the application, with a factory. One node more follows the chain and is asked nothing but
   * the decided blocks. Default: 3.
   */
  readonly nodes?: number
  /** `app_state` of the genesis file: bytes as they are, anything else as JSON. Default: empty. */
  readonly appState?: unknown
  /** Default: test-chain. */
  readonly chainId?: string
  /** Default: 1. */
  readonly initialHeight?: number
  /** Unix seconds of genesis. Default: 1,700,000,000. */
  readonly genesisTime?: number
  /**
   * The consensus parameters of genesis. Default: blocks of 1,000,000 bytes, and vote extensions from the first block on if
   * the application has `extendVote`.
   */
  readonly consensusParams?: ConsensusParams
  /** Queries that show the committed state: their answers may change at Commit only. Default: none. */
  readonly queries?: readonly Partial<QueryRequest>[]
  /** How many blocks are proposed, and not decided, before each one that is. Default: 2. */
  readonly rounds?: number
  /** Of so many calls about one is preceded by a restart of its node, with a factory; 0 is never. Default: 40. */
  readonly restarts?: number
  /**
   * Releases what an application holds. It is called before a node is opened again, by `close` of the chain, and for all nodes
   * when `createTestChain` throws.
   */
  readonly close?: (application: A, node: number) => void | Promise<void>
}

/**
 * What the next block is like.
 * @example await chain.block({ absent: [chain.validators[1].key], seconds: 3600 })
 */
export interface BlockOptions {
  /** The block's transactions. Default: what the proposer prepares of the mempool. */
  readonly txs?: readonly Uint8Array[]
  /** Keys of validators that did not sign the last block. */
  readonly absent?: readonly string[]
  /** Keys of validators that voted for no block instead. */
  readonly nil?: readonly string[]
  readonly misbehavior?: readonly Misbehavior[]
  /** Seconds since the block before. Default: 1. */
  readonly seconds?: number
  /** What the proposers of undecided blocks have in their mempools, one for each. Default: beginnings of the mempool. */
  readonly mempools?: readonly (readonly Uint8Array[])[]
}

/**
 * A block that all nodes have committed.
 * @example const { results: [result] } = await chain.block({ txs: [tx] })
 */
export interface TestBlock {
  readonly height: number
  readonly txs: readonly Uint8Array[]
  /** Of each transaction, in their order. */
  readonly results: readonly ExecTxResult[]
  readonly response: FinalizeBlockResponse
  /** False when the validators rejected it. It is executed all the same, as a block is that others have decided. */
  readonly isAccepted: boolean
}

/**
 * A validator of the current set.
 * @example const [{ key, power }] = chain.validators
 */
export interface TestValidator {
  /** The public key as text: lower-case hex for ed25519. */
  readonly key: string
  readonly address: Uint8Array
  readonly power: number
}

/**
 * A chain in this process. Its methods are called one at a time, and throw a RequirementError at the first requirement that
 * the application breaks.
 * @example const { results } = await chain.block({ txs: [tx] })
 */
export interface TestChain {
  /** The height of the last block; that before the initial height at first. */
  readonly height: number
  /** Unix seconds of the last block. */
  readonly time: number
  /** The app hash after the last block. */
  readonly appHash: Uint8Array
  /** The transactions that wait, in the order in which they came. */
  readonly mempool: readonly Uint8Array[]
  /** The validators of the last height, or of the first one before it. */
  readonly validators: readonly TestValidator[]
  /** How many cases of each requirement were checked. */
  readonly checked: ReadonlyMap<Requirement, number>
  /** CheckTx on the validators' nodes. A transaction with code 0 waits in the mempool. */
  send(tx: Uint8Array): Promise<CheckTxResponse>
  /**
   * One height: some blocks that are not decided, and one that is, which all nodes execute and commit. Throws an Error for a key
   * of `absent` or `nil` that no validator of the last block has.
   */
  block(options?: BlockOptions): Promise<TestBlock>
  /**
   * Random heights, with validators that are absent or misbehave. `txsOf` makes the transactions that are sent before each;
   * what CheckTx refuses is dropped. `options` are those of every block.
   */
  run(blocks: number, txsOf?: (next: Random) => readonly Uint8Array[], options?: BlockOptions): Promise<void>
  /** Query on the first node. */
  query(request: Partial<QueryRequest>): Promise<QueryResponse>
  /** Evidence of misbehaviour by a validator at a height, by default the last one. */
  misbehaviorOf(key: string, options?: { readonly type?: number; readonly height?: number }): Misbehavior
  /** Stops each node and starts it again, or one by its number. Throws an Error without a factory. */
  restart(node?: number): Promise<void>
  /**
   * Starts one more node from the newest snapshot; it follows the chain from then on. Returns its number. Throws an Error
   * without a factory, or when no node lists a snapshot.
   */
  stateSync(): Promise<number>
  /** Closes the applications. */
  close(): Promise<void>
}
