import { type Address, address } from '../../../values/address.ts'
import { invalidParameter } from '../../../base/txError.ts'
import type { StateReader } from '../../../store/state.ts'
import { field } from '../../../tx/fields.ts'
import { amount } from '../../../values/number.ts'
import { record, type ShapeValue } from '../../../values/shape.ts'
import { text } from '../../../values/text.ts'
import { limited } from '../../../values/valueType.ts'
import { addBalance, balanceOf, moveBalance, shortfallOf } from '../../accounts/keeper.ts'
import { defineEvent } from '../../event.ts'
import { kernelErrors } from '../../errors.ts'
import { escrowOf } from '../../shownRules.ts'
import { valueChanges } from '../../params/keeper.ts'
import { defineProposal, expiringFields, propose, type ProposalKind } from './proposal.ts'

declare module '../tables.ts' {
  interface OwnColumns {
    readonly transfer_fund: 'transferFrom' | 'transferTo' | 'amount' | 'escrow'
  }
}

/** Source: protocol.md §6, transfer_fund [ext]. */
export const proposeTransferFund = defineProposal({
  operation: 'proposeTransferFund',
  doc: 'Proposes a payment from the proposer (held in escrow) or from a present or earlier hold_account.',
  input: {
    transferFrom: field(address),
    transferTo: field(address),
    amount: field(limited(amount, { isPositive: true }), 'amount above 0, in base units'),
    ...expiringFields,
  },
  event: defineEvent({
    type: 'svc.governance.proposeTransferFund',
    attributes: ['proposal_id'],
    doc: 'A payment was proposed.',
  }),
  execute: (context, given) => {
    const { state, sender, block } = context
    const { transferFrom, transferTo, amount: value } = given
    const escrow = escrowOf(transferFrom, sender, value)
    return propose(context, {
      fields: { type: 'transfer_fund', transferFrom, transferTo, amount: value, escrow },
      reason: given.reason,
      height: given.expireBlockHeight,
      timestamp: given.expireTimestamp,
      escrow,
      accounts: [transferFrom, transferTo],
      attributes: {},
      rules: () => {
        if (transferFrom !== sender && !isHoldAccount(state, transferFrom, block.height)) {
          return invalidParameter(
            `transferFrom: expected the sender or a present or earlier hold_account, got ${transferFrom}`,
          )
        }
        if (value === 0n) return invalidParameter('amount: expected more than 0, got 0')
        const shortfall = shortfallOf(state, transferFrom, value)
        return shortfall && { ...kernelErrors.insufficientBalance, shortfall }
      },
    })
  },
})

function isHoldAccount(state: StateReader, account: Address, height: number): boolean {
  for (const { value } of valueChanges(state, 'hold_account', height)) if (value === account) return true
  return false
}

const shape = record('FundTransferDetail', { amount, from: address, to: address, reason: text })

/** Pays from escrow, or from a hold_account that covers it. Source: protocol.md §6, transfer_fund [ext]. */
export const transferFund: ProposalKind<'transfer_fund', ShapeValue<typeof shape>> = {
  shape,
  carriedOut: 'at approval',
  carryOut: (state, _block, proposal) => {
    const { proposer, transferFrom, transferTo, amount: value, escrow } = proposal
    if (transferFrom === proposer) {
      addBalance(state, transferTo, escrow)
      return { proposal: { ...proposal, escrow: 0n } }
    }
    if (balanceOf(state, transferFrom) < value) return { proposal, rejected: kernelErrors.insufficientBalance.log }
    moveBalance(state, transferFrom, transferTo, value)
    return { proposal }
  },
  drop: (state, proposal) => {
    if (proposal.escrow > 0n) addBalance(state, proposal.transferFrom, proposal.escrow)
    return { ...proposal, escrow: 0n }
  },
  detail: ({ amount: value, transferFrom, transferTo, reason: why }) => ({
    amount: value,
    from: transferFrom,
    to: transferTo,
    reason: why,
  }),
}
