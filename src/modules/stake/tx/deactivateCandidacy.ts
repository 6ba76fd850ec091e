import { defineTx, effects, isError } from '../../define.ts'
import { defineEvent } from '../../event.ts'
import { CANDIDACY } from '../events.ts'
import { allowed } from '../transitions.ts'
import { ACTIVATION_GAS, change } from './candidacy.ts'

/** Source: interface, deactivate; protocol.md §3. */
export const deactivateCandidacy = defineTx({
  operation: 'deactivateCandidacy',
  call: 'stake.validator.deactivate',
  event: defineEvent({ type: 'svc.stake.deactivate', attributes: CANDIDACY, doc: 'A candidacy became inactive.' }),
  doc: "Deactivates the sender's candidacy; its shares stay.",
  input: {},
  gas: () => ACTIVATION_GAS,
  execute: (context) => {
    const candidacy = allowed(context, 'deactivate')
    return isError(candidacy) ? candidacy : effects(() => change(context, candidacy, { active: false }))
  },
})
