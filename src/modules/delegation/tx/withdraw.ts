import { TOKEN } from '../../../base/amount.ts'
import { invalidParameter } from '../../../base/txError.ts'
import { field, optional } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { amount } from '../../../values/number.ts'
import { yesNo } from '../../../values/text.ts'
import { defineTx, effects } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { dropDelegation, getDelegation, takeDelegation, unitsSold, worthlessDelegation, worthOf } from '../keeper.ts'
import { delegationErrors } from '../errors.ts'
import { getByOwner } from '../../stake/keeper.ts'
import { DELEGATION, DELEGATION_GAS } from './delegate.ts'

/** Source: protocol.md §12 [ext]. */
export const withdraw = defineTx({
  operation: 'withdraw',
  call: 'stake.delegator.withdraw',
  event: defineEvent({
    type: 'svc.stake.undelegate',
    attributes: DELEGATION,
    doc: 'An account took base units, which unbond now, back from a candidacy.',
  }),
  doc: 'Takes a delegation back, in part or all of it; it is paid out after unstake_wait_period blocks, or up to a 64th of that later.',
  input: {
    validatorAddress: field(address, 'owner of the candidacy'),
    amount: optional(
      field(
        amount,
        'amount to take back, in base units, or completelyWithdraw; where less than 1 token would stay, all of it',
      ),
    ),
    completelyWithdraw: optional(field(yesNo, 'Y takes all of it back')),
  },
  gas: () => DELEGATION_GAS,
  execute: ({ state, block, sender }, { validatorAddress: owner, amount: given, completelyWithdraw }) => {
    const isAll = completelyWithdraw === 'Y'
    if ((given !== undefined) === isAll) return invalidParameter('amount or completelyWithdraw')
    const candidacy = getByOwner(state, owner)
    if (candidacy === undefined) return delegationErrors.unknownValidator
    const withdrawn = (taken: bigint) => ({ attributes: { owner, amount: taken.toString() }, validators: [owner] })
    const delegation = getDelegation(state, candidacy, sender)
    if (delegation === undefined) {
      const worthless = isAll ? worthlessDelegation(state, candidacy, sender) : undefined
      if (worthless === undefined) return delegationErrors.noDelegation
      return effects(() => {
        dropDelegation(state, worthless)
        return withdrawn(0n)
      })
    }
    const own = delegation.units
    const worth = worthOf(own, candidacy)
    if (given !== undefined && (given === 0n || given > worth)) return delegationErrors.invalidWithdrawal
    // With a few units alone in a pool, rounding could make a unit so dear that nobody else can buy one.
    const isTooLittleLeft = given !== undefined && worth - given < TOKEN
    const sold = given === undefined || isTooLittleLeft ? own : unitsSold(given, candidacy)
    const taken = given === undefined || sold >= own ? { units: own, amount: worth } : { units: sold, amount: given }
    return effects(() => {
      takeDelegation(state, candidacy, delegation, taken, block)
      return withdrawn(taken.amount)
    })
  },
})
