import { defineTx, effects, isError } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { CANDIDACY } from '../events.ts'
import { poolOver, startClosingBatch } from '../../delegation/keeper.ts'
import { clearAbsence, closePendingUpdate, startUnbonding } from '../keeper.ts'
import { allowed } from '../transitions.ts'
import { change } from './candidacy.ts'

/** The pubKey is free afterwards. Source: interface, withdraw; protocol.md §3. */
export const withdrawCandidacy = defineTx({
  operation: 'withdrawCandidacy',
  call: 'stake.validator.withdraw',
  event: defineEvent({
    type: 'svc.stake.withdraw',
    attributes: CANDIDACY,
    doc: 'A candidacy was withdrawn, and its shares unbond.',
  }),
  doc: "Ends the sender's candidacy; its shares, and what is delegated to it, are paid out after unstake_wait_period blocks.",
  input: {},
  gas: () => 0,
  execute: (context) => {
    const { state, block } = context
    const candidacy = allowed(context, 'withdraw')
    if (isError(candidacy)) return candidacy
    return effects(() => {
      startUnbonding(state, candidacy, block)
      startClosingBatch(state, candidacy, block)
      closePendingUpdate(state, candidacy.id, 'CANCELLED')
      clearAbsence(state, candidacy.id)
      return change(context, candidacy, { withdrawn: true, active: false, shares: 0n, ...poolOver(candidacy) })
    })
  },
})
