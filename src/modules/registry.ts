import { accounts } from './accounts/keeper.ts'
import { indexEvents } from './chain/events.ts'
import { chain, counters, totals } from './chain/keeper.ts'
import { delegationTables, delegationsView } from './delegation/tables.ts'
import type { TxEntry } from './define.ts'
import type { ChainEvent, EventEntry } from './event.ts'
import { txEntries } from './gen/operations.ts'
import { queries } from './gen/queries.ts'
import { governanceEvents } from './governance/events.ts'
import { governanceQueries } from './governance/queries.ts'
import { governanceTables } from './governance/tables.ts'
import { params, paramsQueries } from './params/keeper.ts'
import type { QueryEntry } from './query.ts'
import { stakeEvents } from './stake/events.ts'
import { stakeQueries } from './stake/queries.ts'
import { delegationQueries } from './delegation/queries.ts'
import { stakeTables, validatorsView } from './stake/tables.ts'
import type { Table } from '../store/table.ts'
import type { KeyType, ValueType } from '../values/valueType.ts'

/** Every transaction type. The gateway's methods, the client's functions and the docs come from this list. */
export { txEntries }

/**
 * Every query that the chain answers, beside `/store/<table>/<key>`. The gateway's methods, the client's functions and the
 * docs come from this list.
 */
export const queryEntries: readonly QueryEntry[] = [
  ...stakeQueries,
  ...delegationQueries,
  ...governanceQueries,
  ...paramsQueries,
  ...queries,
]

/** A table of the chain: the types of its columns, from src/values, also read and print what people write. */
export interface ChainTable extends Table {
  readonly key: Readonly<Record<string, KeyType<unknown>>>
  readonly row: Readonly<Record<string, ValueType<unknown>>>
}

/** Every table, hashed ones and the node's own. */
export const tables = [
  accounts,
  ...stakeTables,
  ...delegationTables,
  ...governanceTables,
  params,
  totals,
  counters,
  chain,
] as const

/** SQL views that show derived values to people. */
export const views = [validatorsView, delegationsView] as const

/** A transaction type by its name in TxBody's oneof. */
export const txEntryOf: ReadonlyMap<string, TxEntry> = new Map(txEntries.map((entry) => [entry.operation, entry]))

/** Every event, with those that only make transactions and blocks findable at the end. Source: protocol.md §9. */
export const eventEntries: readonly EventEntry[] = [
  ...txEntries.map(({ event }) => event),
  // biome-ignore lint/plugin: their order reaches no answer of the chain
  ...[stakeEvents, governanceEvents].flatMap((events) => Object.values(events)),
  ...indexEvents,
]

const INDEX_TYPES = new Set(indexEvents.map(({ type }) => type))

/** True for an event that only makes its transaction or block findable. */
export const isIndexEvent = ({ type }: Pick<ChainEvent, 'type'>): boolean => INDEX_TYPES.has(type)
