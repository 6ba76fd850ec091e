import type { CommitResponse, RequestKind } from './types.ts'

/** The two ways in which CometBFT hands over a decided block: call by call in 0.37, whole since 0.38. */
export type Dialect = '0.37' | '2.0'

/**
 * What is known of the node's dialect; one for a server, because blocks and commits come on one connection of several.
 */
export interface DialectSeen {
  /** Undefined until the first block. */
  readonly current: Dialect | undefined
  /** Takes note of a request that arrived. */
  see(kind: RequestKind): void
  /** The response as the node expects it: only 0.37 reads an app hash in the commit, where 2.0 reserves its number. */
  commit(response: CommitResponse): CommitResponse
}

const TELLING: { readonly [K in RequestKind]?: Dialect } = {
  beginBlock: '0.37',
  deliverTx: '0.37',
  endBlock: '0.37',
  finalizeBlock: '2.0',
}

/** A dialect not seen yet. */
export function createDialect(): DialectSeen {
  let current: Dialect | undefined
  return {
    get current() {
      return current
    },
    see: (kind) => {
      current = TELLING[kind] ?? current
    },
    commit: (response) => {
      if (current === '0.37' || response.appHash === undefined) return response
      const { appHash: _, ...rest } = response
      return rest
    },
  }
}
