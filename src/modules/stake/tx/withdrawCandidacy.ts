import { defineTx, effects, isError, type Outcome, type TxContext } from '../../define.ts'
import { clearAbsence, closePendingUpdate, startUnbonding } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { change } from './candidacy.ts'

/** The pubKey is free afterwards. Source: interface, withdraw; protocol.md §3. */
export const withdrawCandidacy = defineTx({
  operation: 'withdrawCandidacy',
  call: 'stake.validator.withdraw',
  event: 'svc.stake.withdraw',
  doc: "Ends the sender's candidacy; its shares are paid out after unstake_wait_period blocks.",
  input: {},
  gas: () => 0,
  execute: executeWithdraw,
})

function executeWithdraw(context: TxContext): Outcome {
  const { state, block } = context
  const candidacy = allowed(context, 'withdraw')
  if (isError(candidacy)) return candidacy
  return effects(() => {
    startUnbonding(state, candidacy, block)
    closePendingUpdate(state, candidacy.id, 'CANCELLED')
    clearAbsence(state, candidacy.id)
    return change(context, candidacy, { withdrawn: true, active: false, shares: 0n })
  })
}
