import { accounts, queryAccount } from './accounts/keeper.ts'
import { transfer } from './accounts/tx/transfer.ts'
import { indexEvents } from './chain/events.ts'
import { chain, counters, querySupply, totals } from './chain/keeper.ts'
import { delegationTables, delegationsView } from './delegation/tables.ts'
import type { TxEntry } from './define.ts'
import type { ChainEvent, EventEntry } from './event.ts'
import { governanceEvents } from './governance/events.ts'
import { governanceQueries } from './governance/queries.ts'
import { governanceTables } from './governance/tables.ts'
import { proposeChangeParam } from './governance/proposals/changeParam.ts'
import { proposeDeployLibEni } from './governance/proposals/deployLibEni.ts'
import { proposeRetireProgram } from './governance/proposals/retireProgram.ts'
import { proposeTransferFund } from './governance/proposals/transferFund.ts'
import { proposeUpgradeProgram } from './governance/proposals/upgradeProgram.ts'
import { vote } from './governance/tx/vote.ts'
import { params, paramsQueries } from './params/keeper.ts'
import type { QueryEntry } from './query.ts'
import { stakeEvents } from './stake/events.ts'
import { stakeQueries } from './stake/queries.ts'
import { delegationQueries } from './delegation/queries.ts'
import { stakeTables, validatorsView } from './stake/tables.ts'
import { acceptCandidacyAccountUpdate } from './stake/tx/acceptCandidacyAccountUpdate.ts'
import { activateCandidacy } from './stake/tx/activateCandidacy.ts'
import { deactivateCandidacy } from './stake/tx/deactivateCandidacy.ts'
import { declareCandidacy } from './stake/tx/declareCandidacy.ts'
import { delegate } from './delegation/tx/delegate.ts'
import { updateCandidacy } from './stake/tx/updateCandidacy.ts'
import { updateCandidacyAccount } from './stake/tx/updateCandidacyAccount.ts'
import { verifyCandidacy } from './stake/tx/verifyCandidacy.ts'
import { withdraw } from './delegation/tx/withdraw.ts'
import { withdrawCandidacy } from './stake/tx/withdrawCandidacy.ts'

/** Every transaction type. The gateway's methods, the client's functions and the docs come from this list. */
export const txEntries: readonly TxEntry[] = [
  declareCandidacy,
  updateCandidacy,
  withdrawCandidacy,
  activateCandidacy,
  deactivateCandidacy,
  updateCandidacyAccount,
  acceptCandidacyAccountUpdate,
  verifyCandidacy,
  delegate,
  withdraw,
  proposeChangeParam,
  proposeDeployLibEni,
  proposeRetireProgram,
  proposeUpgradeProgram,
  proposeTransferFund,
  vote,
  transfer,
]

/**
 * Every query that the chain answers, beside `/store/<table>/<key>`. The gateway's methods, the client's functions and the
 * docs come from this list.
 */
export const queryEntries: readonly QueryEntry[] = [
  ...stakeQueries,
  ...delegationQueries,
  ...governanceQueries,
  ...paramsQueries,
  queryAccount,
  querySupply,
]

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
  ...stakeEvents,
  ...governanceEvents,
  ...indexEvents,
]

const INDEX_TYPES = new Set(indexEvents.map(({ type }) => type))

/** True for an event that only makes its transaction or block findable. */
export const isIndexEvent = ({ type }: Pick<ChainEvent, 'type'>): boolean => INDEX_TYPES.has(type)
