import type { TxError } from '../../../base/txError.ts'
import { defineTx, type Effects, effects, isError, type TxContext } from '../../define.ts'
import { changeCandidacy, clearAbsence, closePendingUpdate, getByOwner, startUnbonding } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { appliedTo } from './candidacy.ts'

/**
 * Ends the sender's candidacy: all shares become one unbonding entry, which is paid out unstake_wait_period blocks
 * later; the pubKey is free. Source: interface, withdraw; protocol.md §3.
 */
export const withdrawCandidacy = defineTx({
  operation: 'withdrawCandidacy',
  method: 'svc_withdrawCandidacy',
  call: 'stake.validator.withdraw',
  event: 'svc.stake.withdraw',
  doc: "Ends the sender's candidacy; its shares are paid out after unstake_wait_period blocks.",
  input: {},
  gas: () => 0,
  execute: executeWithdraw,
})

function executeWithdraw({ state, block, sender }: TxContext): TxError | Effects {
  const candidacy = allowed(getByOwner(state, sender), 'withdraw')
  if (isError(candidacy)) return candidacy
  return effects(() => {
    startUnbonding(state, candidacy, block)
    changeCandidacy(state, candidacy, { withdrawn: true, active: false, shares: 0n }, block.time)
    closePendingUpdate(state, candidacy.id, 'CANCELLED')
    clearAbsence(state, candidacy.id)
    return appliedTo(candidacy)
  })
}
