import { defineEvent } from '../event.ts'

/** What blocks do to proposals; the events of operations stand with them. Source: protocol.md §9. */
export const governanceEvents = {
  resolved: defineEvent({
    type: 'svc.governance.resolved',
    attributes: ['proposal_id', 'result'],
    doc: 'A proposal ended at its point.',
  }),
} as const
