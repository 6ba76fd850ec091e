import type { Address } from '../../base/address.ts'
import type { PubKey } from '../../base/pubKey.ts'
import type { State } from '../../store/state.ts'
import { takeNumber } from '../chain/keeper.ts'
import { candidacies } from './tables.ts'

/** A candidacy that genesis makes; its shares stand beside the balances. */
export interface GenesisCandidacy {
  readonly owner: Address
  readonly pubKey: PubKey
  readonly shares: bigint
  readonly maxShares: bigint
  readonly compRate: bigint
  readonly description: Readonly<Record<'name' | 'website' | 'location' | 'email' | 'profile', string>>
}

/** Writes the genesis candidacies, ids in the order listed. Source: protocol.md §4, InitChain. */
export function putGenesisCandidacies(state: State, list: readonly GenesisCandidacy[], genesisTime: number): void {
  for (const { owner, pubKey, shares, maxShares, compRate, description } of list) {
    state.put(candidacies, {
      id: takeNumber(state, 'nextCandidacyId'),
      pubKey,
      ownerAddress: owner,
      shares,
      maxShares,
      compRate,
      ...description,
      verified: false,
      active: true,
      withdrawn: false,
      blockHeight: 0,
      createdAt: genesisTime,
      updatedAt: genesisTime,
    })
  }
}
