import { type Address, addressOf } from '../../../base/address.ts'
import { invalidParameter } from '../../../base/txError.ts'
import type { StateReader } from '../../../store/state.ts'
import { address, amount } from '../../../tx/members.ts'
import { balanceOf } from '../../accounts/keeper.ts'
import { defineTx } from '../../define.ts'
import { valuesUpTo } from '../../params/keeper.ts'
import { governanceErrors } from '../errors.ts'
import { pointHeight, pointTimestamp, propose, reason } from './propose.ts'

function isHoldAccount(state: StateReader, address: Address, height: number): boolean {
  for (const value of valuesUpTo(state, 'hold_account', height)) {
    if (value === address) return true
  }
  return false
}

/**
 * Proposes to pay from the proposer's balance, through escrow, or from a hold_account. Source: protocol.md §6,
 * transfer_fund [ext].
 */
export const proposeTransferFund = defineTx({
  operation: 'proposeTransferFund',
  method: 'svc_proposeTransferFund',
  call: 'governance.proposeTransferFund',
  event: 'svc.governance.proposeTransferFund',
  doc: 'Proposes a payment from the proposer (held in escrow) or from a present or earlier hold_account.',
  input: {
    transferFrom: address(),
    transferTo: address(),
    amount: amount('amount above 0, in base units'),
    reason: reason(),
    expireBlockHeight: pointHeight('the proposal expires'),
    expireTimestamp: pointTimestamp('the proposal expires'),
  },
  returns: 'ProposalID',
  gas: (params) => params.governanceProposal,
  execute: (context, message) => {
    const { state, sender, block } = context
    const transferFrom = addressOf(message.transferFrom)
    const value = BigInt(message.amount)
    return propose(context, {
      type: 'transfer_fund',
      point: { height: message.expireBlockHeight, timestamp: message.expireTimestamp },
      row: { transferFrom, transferTo: addressOf(message.transferTo), amount: value, reason: message.reason ?? '' },
      escrow: transferFrom === sender ? value : 0n,
      rules: () => {
        if (transferFrom !== sender && !isHoldAccount(state, transferFrom, block.height)) {
          return invalidParameter(
            `transferFrom: expected the sender or a present or earlier hold_account, got ${transferFrom}`,
          )
        }
        if (value === 0n) return invalidParameter('amount: expected more than 0, got 0')
        return balanceOf(state, transferFrom) < value ? governanceErrors.insufficientBalance : undefined
      },
    })
  },
})
