import { catalogue } from '../../base/txError.ts'

/** Every way a delegation fails, with the exact log. */
export const delegationErrors = catalogue({
  badRequest: [21, 'Bad request', 'protocol.md §12, delegate'],
  unknownValidator: [5, 'Validator does not exist for that address', 'protocol.md §12, delegate and withdraw'],
  maxAmountReached: [21, 'Validator has reached its max amount', 'protocol.md §12, delegate'],
  tooManyBatches: [21, 'Too many unbonding batches', 'protocol.md §12, delegate'],
  noDelegation: [21, 'No delegation', 'protocol.md §12, withdraw'],
  invalidWithdrawal: [21, 'Invalid withdrawal amount', 'protocol.md §12, withdraw'],
})
