import { address } from '../../../values/address.ts'
import { uint } from '../../../values/number.ts'
import { pubKeyObject } from '../../../values/pubKeyObject.ts'
import { orNull, record } from '../../../values/shape.ts'
import { defineListQuery, page, pageOf } from '../../query.ts'
import { absencesOf, getById, listSet } from '../keeper.ts'

/** Source: protocol.md §10, svc_queryAbsences. */
const absence = record('Absence', { pub_key: pubKeyObject, owner_address: orNull(address), absent_blocks: uint })

/** Who of the set misses blocks now. Source: protocol.md §5, §8. */
export const queryAbsences = defineListQuery({
  method: 'svc_queryAbsences',
  call: 'stake.validator.queryAbsences',
  path: '/stake/absences',
  doc: 'How many commits in a row each member of the validator set has missed, until now; misses count only while it is active.',
  input: page,
  item: absence,
  // Cost: the set, which has 2 · max_vals members at most, and two rows by key for each that is answered.
  run: ({ state }, given) => ({
    items: pageOf(listSet(state), given, ({ pubKey, candidacyId }) => ({
      pub_key: pubKey,
      owner_address: getById(state, candidacyId)?.ownerAddress,
      absent_blocks: absencesOf(state, candidacyId),
    })),
  }),
})
