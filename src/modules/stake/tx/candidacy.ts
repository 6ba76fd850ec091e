import { printPubKey } from '../../../values/pubKey.ts'
import { type Field, field, type MessageOf, nested, optional, type ValuesOf } from '../../../tx/fields.ts'
import { textOf } from '../../../values/text.ts'
import type { Applied, TxContext } from '../../define.ts'
import type { EventEntry } from '../../event.ts'
import { changeCandidacy } from '../keeper.ts'
import type { Candidacy } from '../tables.ts'

/** Length limits of a description in bytes of UTF-8, in operations and in genesis. Source: protocol.md §3. */
export const DESCRIPTION_BYTES_MAX = { name: 128, website: 256, location: 128, email: 256, profile: 2048 } as const

/**
 * Gas of activate and deactivate. They change one flag, but what is free is written into every node's history for ever.
 * Source: protocol.md §2, Gas and fees.
 */
export const ACTIVATION_GAS = 21_000

const member = (name: keyof typeof DESCRIPTION_BYTES_MAX) => optional(field(textOf(DESCRIPTION_BYTES_MAX[name])))

/** Fields of a validator description. Source: interface, Validator description object. */
const members = {
  name: member('name'),
  website: member('website'),
  location: member('location'),
  email: member('email'),
  profile: member('profile'),
}

/** The description member of declare and update. */
export const description = (): Field<MessageOf<typeof members>, ValuesOf<typeof members>> =>
  nested(members, 'name, website, location, email, profile: all text')

/** The event of most candidacy operations. */
export type CandidacyEvent = EventEntry<{ readonly owner: string; readonly pub_key: string }>

/** What the event of a candidacy operation names. */
export const appliedTo = ({
  ownerAddress,
  pubKey,
}: Pick<Candidacy, 'ownerAddress' | 'pubKey'>): Applied<CandidacyEvent> => ({
  attributes: { owner: ownerAddress, pub_key: printPubKey(pubKey) },
  validators: [ownerAddress],
})

/** Changes a candidacy, now; returns what the event names. */
export function change(
  { state, block }: TxContext,
  candidacy: Candidacy,
  changes: Parameters<typeof changeCandidacy>[2],
): Applied<CandidacyEvent> {
  changeCandidacy(state, candidacy, changes, block.time)
  return appliedTo({ ...candidacy, ...changes })
}
