/** What blocks do to proposals; the events of operations stand with them. Source: protocol.md §9. */
import { defineEvent, type EventEntry } from '../event.ts'

/** A proposal ended at its point. */
export const resolvedEvent = defineEvent({
  type: 'svc.governance.resolved',
  attributes: ['proposal_id', 'result'],
  doc: 'A proposal ended at its point.',
})

/** All of them. */
export const governanceEvents: readonly EventEntry[] = [resolvedEvent]
