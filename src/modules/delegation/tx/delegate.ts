import { AMOUNT_MAX, TOKEN } from '../../../base/amount.ts'
import { invalidParameter } from '../../../base/txError.ts'
import { field } from '../../../tx/fields.ts'
import { address } from '../../../values/address.ts'
import { amount } from '../../../values/number.ts'
import { takeBalance } from '../../accounts/keeper.ts'
import { defineTx } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { addDelegation, hasTooManyBatches, unitsBought } from '../keeper.ts'
import { delegationErrors } from '../errors.ts'
import { getLiveByOwner } from '../../stake/keeper.ts'

/** What names a delegation in an event: the owner of the candidacy, and base units. */
export const DELEGATION = ['owner', 'amount'] as const

/** Gas of delegate and withdraw. Source: protocol.md §12. */
export const DELEGATION_GAS = 63_000

/** Source: protocol.md §12 [ext]. */
export const delegate = defineTx({
  operation: 'delegate',
  call: 'stake.delegator.accept',
  event: defineEvent({
    type: 'svc.stake.delegate',
    attributes: DELEGATION,
    doc: 'An account delegated base units to a candidacy.',
  }),
  doc: "Stakes the sender's tokens with a validator, which shares its awards, less its commission, and its losses.",
  input: {
    validatorAddress: field(address, 'owner of the candidacy'),
    amount: field(amount, 'amount to stake, in base units; at least 1 token'),
  },
  gas: () => DELEGATION_GAS,
  execute: ({ state, block, sender }, { validatorAddress: owner, amount: given }) => {
    const candidacy = getLiveByOwner(state, owner)
    if (candidacy === undefined) return delegationErrors.unknownValidator
    if (owner === sender) return delegationErrors.badRequest
    if (given < TOKEN) return invalidParameter(`amount: expected at least 1 token (${TOKEN}), got ${given}`)
    if (candidacy.shares + given > candidacy.maxShares) return delegationErrors.maxAmountReached
    if (hasTooManyBatches(state, candidacy.id)) return delegationErrors.tooManyBatches
    const units = unitsBought(given, candidacy)
    if (units === 0n)
      return invalidParameter(`amount: expected enough for one unit of the validator's pool, got ${given}`)
    if (candidacy.delegationUnits + units > AMOUNT_MAX)
      return invalidParameter(
        `amount: expected at most ${AMOUNT_MAX} units of the validator's pool in all, got ${given}`,
      )
    return {
      locks: given,
      apply: () => {
        takeBalance(state, sender, given)
        addDelegation(state, candidacy, sender, { amount: given, units }, block.time)
        return { attributes: { owner, amount: given.toString() }, validators: [owner] }
      },
    }
  },
})
