import type { Address } from '../../../base/address.ts'
import { addBalance, balanceOf, moveBalance } from '../../accounts/keeper.ts'
import { governanceErrors } from '../errors.ts'
import type { ProposalKind } from './kind.ts'

/**
 * Pays from escrow, or from a hold_account where its balance covers it. Source: protocol.md §6, transfer_fund [ext].
 */
export const transferFund: ProposalKind = {
  at: 'approval',
  carryOut: (state, _block, { proposer, transferFrom, transferTo, amount, escrow }) => {
    const from = transferFrom as Address
    const to = transferTo as Address
    if (from === proposer) {
      addBalance(state, to, escrow)
      return { row: { escrow: 0n } }
    }
    if (balanceOf(state, from) < amount) return { rejected: governanceErrors.insufficientBalance.log }
    moveBalance(state, from, to, amount)
    return {}
  },
  drop: (state, { transferFrom, escrow }) => {
    if (escrow > 0n) addBalance(state, transferFrom as Address, escrow)
    return { escrow: 0n }
  },
  detail: ({ amount, transferFrom, transferTo, reason }) => ({
    amount: amount.toString(),
    from: transferFrom,
    to: transferTo,
    reason,
  }),
}
