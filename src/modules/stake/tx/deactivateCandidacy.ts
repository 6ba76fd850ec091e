import type { TxError } from '../../../base/txError.ts'
import { defineTx, type Effects, effects, isError, type TxContext } from '../../define.ts'
import { changeCandidacy, getByOwner } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { appliedTo } from './candidacy.ts'

/**
 * Takes the sender's candidacy out of the race for the validator set; its shares stay. Source: interface, deactivate;
 * protocol.md §3.
 */
export const deactivateCandidacy = defineTx({
  operation: 'deactivateCandidacy',
  method: 'svc_deactivateCandidacy',
  call: 'stake.validator.deactivate',
  event: 'svc.stake.deactivate',
  doc: "Deactivates the sender's candidacy; its shares stay.",
  input: {},
  gas: () => 0,
  execute: executeDeactivate,
})

function executeDeactivate({ state, block, sender }: TxContext): TxError | Effects {
  const candidacy = allowed(getByOwner(state, sender), 'deactivate')
  if (isError(candidacy)) return candidacy
  return effects(() => {
    changeCandidacy(state, candidacy, { active: false }, block.time)
    return appliedTo(candidacy)
  })
}
