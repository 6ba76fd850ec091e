/** Events that only make transactions and blocks findable. Source: protocol.md §9. */
import { defineEvent, type EventEntry } from '../event.ts'

/** Emitted with each transaction, for every account that it concerns. */
export const txEvent = defineEvent({
  type: 'svc.tx',
  attributes: ['account'],
  optional: ['validator'],
  doc: 'The transaction concerns an account; `validator` where it does so as the owner of a candidacy.',
})

/** Emitted with each block, for every account that its own events name. */
export const blockEvent = defineEvent({
  type: 'svc.block',
  attributes: ['validator'],
  doc: "The block's own events name an account as `owner`.",
})

/** All of them. */
export const indexEvents: readonly EventEntry[] = [txEvent, blockEvent]
