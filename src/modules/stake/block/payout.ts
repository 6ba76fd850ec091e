import type { State } from '../../../store/state.ts'
import { addBalance } from '../../accounts/keeper.ts'
import type { Block, ChainEvent } from '../../define.ts'
import { unbondings } from '../tables.ts'

/**
 * EndBlock (d): pays out the unbonding entries whose height is reached, to the owner at the time of withdraw, by
 * number. Bound: withdrawals of one block, or of one change of the period. Source: protocol.md §3, withdraw.
 */
export function payUnbonded(state: State, block: Block): readonly ChainEvent[] {
  const due = []
  for (const entry of state.scan(unbondings, { index: 'byHeightPaid' })) {
    if (entry.heightPaid > block.height) break
    due.push(entry)
  }
  due.sort((a, b) => a.number - b.number)
  return due.map(({ number, ownerAddress, amount }) => {
    state.remove(unbondings, { number })
    addBalance(state, ownerAddress, amount)
    return {
      type: 'svc.stake.unbonded',
      attributes: [
        ['owner', ownerAddress],
        ['amount', amount.toString()],
      ],
    }
  })
}
