import { accounts } from '../../src/modules/accounts/keeper.ts'
import { supplyOf } from '../../src/modules/chain/keeper.ts'
import { proposals } from '../../src/modules/governance/tables.ts'
import { batches } from '../../src/modules/delegation/tables.ts'
import { candidacies, unbondings } from '../../src/modules/stake/tables.ts'
import type { StateReader } from '../../src/store/state.ts'

/**
 * balances + shares + unbonding + batches + escrow, minus genesis supply + minted − burned: 0 always. Source: protocol.md §5,
 * Conservation, and §12.
 */
export function supplyGap(state: StateReader): bigint {
  let held = 0n
  for (const { balance } of state.scan(accounts)) held += balance
  for (const { shares } of state.scan(candidacies)) held += shares
  for (const { amount } of state.scan(unbondings)) held += amount
  for (const { amount } of state.scan(batches)) held += amount
  for (const { escrow } of state.scan(proposals)) held += escrow
  return held - supplyOf(state)
}
