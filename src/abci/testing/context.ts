import type { QueryRequest } from '../types.ts'
import type { Consensus } from './consensus.ts'
import type { ChainNode } from './node.ts'
import type { Random } from './random.ts'
import type { Judge } from './requirementError.ts'

/** What the parts of a test chain share. */
export interface ChainContext {
  readonly consensus: Consensus
  readonly judge: Judge
  readonly next: Random
  /** The nodes of validators: node i signs as the i-th validator of the set. */
  readonly validators: readonly ChainNode[]
  /** Nodes that are asked nothing but the decided blocks: the follower, and those that have state synced. */
  readonly followers: ChainNode[]
  /** What shows the committed state, beside Info. */
  readonly queries: readonly QueryRequest[]
  /** Transactions that were seen, the newest last; a bounded number. */
  readonly seen: Uint8Array[]
  /** Transactions of the mempool by their hex, in the order in which they came. */
  readonly mempool: Map<string, Uint8Array>
  /** Opens a node with a number of its own and no state; undefined when there is no factory. */
  readonly openNode: (() => Promise<ChainNode>) | undefined
  /**
   * Restarts a node if the seed says so, and returns whether it did. `hasMempool`: false where all nodes check what waits
   * right afterwards.
   */
  disturb(node: ChainNode, hasMempool?: boolean): Promise<boolean>
}

/** All nodes, the followers first. */
export const nodesOf = ({ validators, followers }: ChainContext): readonly ChainNode[] => [...followers, ...validators]
