import { accounts, queryAccount } from './accounts/keeper.ts'
import { transfer } from './accounts/tx/transfer.ts'
import { chain, counters, querySupply, totals } from './chain/keeper.ts'
import type { QueryEntry, TxEntry } from './define.ts'
import { governanceQueries } from './governance/queries.ts'
import { governanceTables } from './governance/tables.ts'
import { proposeChangeParam } from './governance/proposals/changeParam.ts'
import { proposeDeployLibEni } from './governance/proposals/deployLibEni.ts'
import { proposeRetireProgram } from './governance/proposals/retireProgram.ts'
import { proposeTransferFund } from './governance/proposals/transferFund.ts'
import { proposeUpgradeProgram } from './governance/proposals/upgradeProgram.ts'
import { vote } from './governance/tx/vote.ts'
import { params, queryParams, queryParamsHistory } from './params/keeper.ts'
import { stakeQueries } from './stake/queries.ts'
import { stakeTables, validatorsView } from './stake/tables.ts'
import { acceptCandidacyAccountUpdate } from './stake/tx/acceptCandidacyAccountUpdate.ts'
import { activateCandidacy } from './stake/tx/activateCandidacy.ts'
import { deactivateCandidacy } from './stake/tx/deactivateCandidacy.ts'
import { declareCandidacy } from './stake/tx/declareCandidacy.ts'
import { updateCandidacy } from './stake/tx/updateCandidacy.ts'
import { updateCandidacyAccount } from './stake/tx/updateCandidacyAccount.ts'
import { verifyCandidacy } from './stake/tx/verifyCandidacy.ts'
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
  proposeChangeParam,
  proposeDeployLibEni,
  proposeRetireProgram,
  proposeUpgradeProgram,
  proposeTransferFund,
  vote,
  transfer,
]

/** Every abci_query path that the chain answers, beside `/store/<table>/<key>`. */
export const queryEntries: readonly QueryEntry[] = [
  ...stakeQueries,
  ...governanceQueries,
  queryParams,
  queryParamsHistory,
  queryAccount,
  querySupply,
]

/** Every table, hashed ones and the node's own. */
export const tables = [accounts, ...stakeTables, ...governanceTables, params, totals, counters, chain] as const

/** SQL views that show derived values to people. */
export const views = [validatorsView] as const

/** A transaction type by its name in TxBody's oneof. */
export const txEntryOf: ReadonlyMap<string, TxEntry> = new Map(txEntries.map((entry) => [entry.operation, entry]))

/** The events that only make transactions and blocks findable; they say nothing else. Source: protocol.md §9. */
export const INDEX_EVENTS: ReadonlySet<string> = new Set(['svc.tx', 'svc.block'])
