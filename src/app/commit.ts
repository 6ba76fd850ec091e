import type { Handler } from '../abci/types.ts'
import { type Chain, keepParams, needOpen } from './chain.ts'
import { retainHeightOf } from './retain.ts'

/**
 * Writes the open block in one SQLite transaction and replies after it is on disk; the check state begins anew from the
 * new head. What is below the answer's retainHeight may go, in CometBFT as here.
 */
export const commit =
  (chain: Chain): Handler<'commit'> =>
  () => {
    const { store, snapshots, queries, onCommitted, onRetired } = chain.options
    const open = needOpen(chain, 'Commit')
    const { prepared, block, transactions, end } = open
    if (prepared === undefined || end === undefined)
      throw new Error(`Commit of block ${block.height} came before its end`)
    const { height, timeMs, chainId } = block
    const retainHeight = retainHeightOf(chain, open)
    store.commit(prepared, {
      height,
      timeMs,
      chainId,
      transactions,
      ...(retainHeight === 0 ? {} : { blocksFrom: retainHeight }),
    })
    keepParams(chain, prepared.changes)
    chain.genesis = undefined
    chain.open = undefined
    chain.check = undefined
    queries?.committed()
    snapshots?.beginAt?.(height)
    onCommitted?.(height, prepared.changes)
    if (end.retiredVersion !== undefined) onRetired?.(end.retiredVersion, height)
    return { appHash: prepared.appHash, retainHeight }
  }
