import { EVENT_PREFIX, moduleOfEvent } from '../../src/modules/event.ts'
import { eventEntries, isIndexEvent } from '../../src/modules/registry.ts'
import { camel } from '../names.ts'

/** src/client/gen/events.ts: the types of all events that say what happened, by module and name, and their attributes. */
export function eventsSource(): string {
  const told = eventEntries.filter((event) => !isIndexEvent(event))
  const modules = [...new Set(told.map(({ type }) => moduleOfEvent(type)))]
  const nameOf = (type: string): string => camel(type.slice(`${EVENT_PREFIX}${moduleOfEvent(type)}.`.length))
  const names = modules.map((module) => {
    const own = told.filter(({ type }) => moduleOfEvent(type) === module)
    return `  ${module}: {\n${own.map(({ type, doc }) => `    /** ${doc} */\n    ${nameOf(type)}: '${type}',\n`).join('')}  },\n`
  })
  const attributes = told.map(({ type, attributes: always, optional }) => {
    const members = [...always.map((name) => `${name}: string`), ...optional.map((name) => `${name}?: string`)]
    return `  readonly '${type}': { ${members.map((member) => `readonly ${member}`).join('; ')} }\n`
  })
  return [
    '/* Written by tools/gen-client.ts: change the registry, not this file. */',
    '/** The types of the events of the chain, by module. */',
    `export const events = {\n${names.join('')}} as const\n`,
    '/** The attributes of each event; that of an operation also has `sender`. */',
    `export interface EventAttributes {\n${attributes.join('')}}\n`,
    '/** The module whose event it is. */',
    `export const moduleOfEvent = (type: string): string => type.slice(${EVENT_PREFIX.length}).split('.', 1).join()\n`,
    '/** The type of an event. */',
    'export type EventType = keyof EventAttributes\n',
  ].join('\n')
}
