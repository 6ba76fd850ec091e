import { defineQuery } from '../../define.ts'
import { getById, listSet } from '../keeper.ts'
import { printPubKey } from './printValidator.ts'

/** The rows of validator_set. Source: protocol.md §8. */
export const querySet = defineQuery({
  path: '/stake/set',
  doc: 'The validator set as CometBFT was last told it: pub_key, candidacy_id, power, proven.',
  run: ({ state }) => ({
    data: listSet(state).map(({ pubKey, candidacyId, power, proven }) => ({
      pub_key: printPubKey(pubKey),
      candidacy_id: candidacyId,
      power,
      proven,
    })),
  }),
})

/**
 * The same with the owners' addresses; null for a record that was replaced. Source: protocol.md §10,
 * svc_queryValidatorSet.
 */
export const querySetOwners = defineQuery({
  path: '/stake/set/owners',
  doc: 'The validator set as CometBFT was last told it: pub_key, owner_address, power, proven.',
  run: ({ state }) => ({
    data: listSet(state).map(({ pubKey, candidacyId, power, proven }) => ({
      pub_key: printPubKey(pubKey),
      owner_address: getById(state, candidacyId)?.ownerAddress ?? null,
      power,
      proven,
    })),
  }),
})
