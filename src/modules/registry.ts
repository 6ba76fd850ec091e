import { queryAccount } from './accounts/query/queryAccount.ts'
import { accountsTables } from './accounts/tables.ts'
import { transfer } from './accounts/tx/transfer.ts'
import { chainTables } from './chain/tables.ts'
import type { QueryEntry, TxEntry } from './define.ts'
import { queryProposal } from './governance/query/queryProposal.ts'
import { queryProposals } from './governance/query/queryProposals.ts'
import { queryVotes } from './governance/query/queryVotes.ts'
import { governanceTables } from './governance/tables.ts'
import { proposeChangeParam } from './governance/tx/proposeChangeParam.ts'
import { proposeDeployLibEni } from './governance/tx/proposeDeployLibEni.ts'
import { proposeRetireProgram } from './governance/tx/proposeRetireProgram.ts'
import { proposeTransferFund } from './governance/tx/proposeTransferFund.ts'
import { proposeUpgradeProgram } from './governance/tx/proposeUpgradeProgram.ts'
import { vote } from './governance/tx/vote.ts'
import { queryParams } from './params/query/queryParams.ts'
import { paramsTables } from './params/tables.ts'
import { queryAccountUpdate } from './stake/query/queryAccountUpdate.ts'
import { queryCandidacyId } from './stake/query/queryCandidacyId.ts'
import { querySet, querySetOwners } from './stake/query/querySet.ts'
import { queryUnbonding } from './stake/query/queryUnbonding.ts'
import { queryValidator } from './stake/query/queryValidator.ts'
import { queryValidators } from './stake/query/queryValidators.ts'
import { stakeTables, validatorsView } from './stake/tables.ts'
import { acceptCandidacyAccountUpdate } from './stake/tx/acceptCandidacyAccountUpdate.ts'
import { activateCandidacy } from './stake/tx/activateCandidacy.ts'
import { deactivateCandidacy } from './stake/tx/deactivateCandidacy.ts'
import { declareCandidacy } from './stake/tx/declareCandidacy.ts'
import { updateCandidacy } from './stake/tx/updateCandidacy.ts'
import { updateCandidacyAccount } from './stake/tx/updateCandidacyAccount.ts'
import { verifyCandidacy } from './stake/tx/verifyCandidacy.ts'
import { withdrawCandidacy } from './stake/tx/withdrawCandidacy.ts'

/**
 * Every transaction type the chain executes. The gateway's methods, the client's functions and the docs come from this
 * list.
 */
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
  queryValidators,
  queryValidator,
  queryCandidacyId,
  queryUnbonding,
  queryAccountUpdate,
  querySet,
  querySetOwners,
  queryProposals,
  queryProposal,
  queryVotes,
  queryParams,
  queryAccount,
]

/** Every table, hashed ones and the node's own. */
export const tables = [...accountsTables, ...stakeTables, ...governanceTables, ...paramsTables, ...chainTables] as const

/** SQL views that show derived values to people. */
export const views = [validatorsView] as const

/** A transaction type by its name in TxBody's oneof. */
export const txEntryOf: ReadonlyMap<string, TxEntry> = new Map(txEntries.map((entry) => [entry.operation, entry]))
