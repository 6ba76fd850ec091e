import { txEvent } from '../../src/modules/chain/events.ts'
import { eventEntries, txEntries } from '../../src/modules/registry.ts'
import { table } from './markdown.ts'

const OPERATIONS = new Map(txEntries.map(({ event, operation }) => [event, operation]))

/** Every event with its attributes, and what emits it. */
export const eventsTable = (): string =>
  table(
    ['Event', 'Attributes', 'Emitted by', 'What it says'],
    eventEntries.map((event) => {
      const operation = OPERATIONS.get(event)
      const always = [...(operation === undefined ? [] : ['sender']), ...event.attributes]
      const names = [...always, ...event.optional.map((name) => `${name}?`)].map((name) => `\`${name}\``)
      return [
        `\`${event.type}\``,
        names.join(', '),
        operation === undefined ? (event === txEvent ? 'every operation' : 'blocks') : `\`${operation}\``,
        event.doc,
      ]
    }),
  )
