import { type Address, addressBytes } from '../../base/address.ts'
import type { Amount } from '../../base/amount.ts'
import { u64be } from '../../base/bytes.ts'
import { type PubKey, pubKeyBytes } from '../../base/pubKey.ts'
import type { State, StateReader } from '../../store/state.ts'
import type { IndexOf, RowOf, Table } from '../../store/table.ts'
import {
  absences,
  accountUpdates,
  candidacies,
  type Candidacy,
  ELIGIBLE,
  isEligible,
  type SetMember,
  setMembers,
  unbondings,
} from './tables.ts'

function first<K extends object, R extends K, I extends string>(
  state: StateReader,
  of: Table<K, R, I> & { readonly indexes: Readonly<Record<I, IndexOf<R>>> },
  index: I,
  prefix: Uint8Array,
): R | undefined {
  for (const row of state.scan(of, { index, prefix })) return row
  return undefined
}

/** The record of an address, live or withdrawn. */
export const getByOwner = (state: StateReader, owner: Address): Candidacy | undefined =>
  first(state, candidacies, 'byOwner', addressBytes(owner))

/** The candidacy of an address while it is live. */
export function getLiveByOwner(state: StateReader, owner: Address): Candidacy | undefined {
  const candidacy = getByOwner(state, owner)
  return candidacy?.withdrawn === false ? candidacy : undefined
}

/** The live candidacy of a key. */
export const getLiveByPubKey = (state: StateReader, key: PubKey): Candidacy | undefined =>
  first(state, candidacies, 'livePubKey', pubKeyBytes(key))

/** The candidacy of an id. */
export const getById = (state: StateReader, id: number): Candidacy | undefined => state.get(candidacies, { id })

/** Writes a candidacy as it is after an operation of block time `time` (seconds). */
export function putUpdated(state: State, candidacy: Candidacy, time: number): void {
  state.put(candidacies, { ...candidacy, updatedAt: time })
}

/** Eligible candidacies in the order of protocol.md §4.1, as they are asked for. Bound: the caller's. */
export const listEligible = (state: StateReader): Iterable<Candidacy> =>
  state.scan(candidacies, { index: 'byRank', prefix: ELIGIBLE })

/** All live candidacies in rank order, eligible ones first. Bound: all candidacies; for queries. */
export const listLive = (state: StateReader): Iterable<Candidacy> => state.scan(candidacies, { index: 'byRank' })

/** The validator set as last sent, by the bytes of its keys. Bound: 2 · max_vals, at most 400. */
export const listSet = (state: StateReader): readonly SetMember[] => [...state.scan(setMembers)]

/** True when this candidacy is in the validator set as last sent. */
export const isInSet = (state: StateReader, candidacyId: number): boolean =>
  first(state, setMembers, 'byCandidacy', u64be(candidacyId)) !== undefined

/** Unbonding entries of one candidacy, by number. Bound: entries made within one unbonding period. */
export const listUnbondings = (state: StateReader, candidacyId: number): readonly RowOf<typeof unbondings>[] => [
  ...state.scan(unbondings, { index: 'byCandidacy', prefix: u64be(candidacyId) }),
]

/** Base units on their way back to one candidacy. */
export const pendingUnbonding = (state: StateReader, candidacyId: number): Amount =>
  listUnbondings(state, candidacyId).reduce((sum, entry) => sum + entry.amount, 0n)

/** Changes what becomes of the candidacy's pending account update, if it has one. */
export function closePendingUpdate(state: State, candidacyId: number, status: 'REPLACED' | 'CANCELLED'): void {
  const pending = first(state, accountUpdates, 'pendingByCandidacy', u64be(candidacyId))
  if (pending !== undefined) state.put(accountUpdates, { ...pending, status })
}

/**
 * Drops the withdrawn record of an address, if it has one. Its unbonding, votes and keys stay: they carry the
 * candidacy's id.
 */
export function dropWithdrawn(state: State, owner: Address): void {
  const record = getByOwner(state, owner)
  if (record === undefined) return
  if (!record.withdrawn) throw new Error(`stake: the live candidacy of ${owner} would be replaced`)
  state.remove(candidacies, { id: record.id })
  state.remove(absences, { candidacyId: record.id })
}

/** True when this is the key of an eligible candidacy. */
export function isEligibleKey(state: StateReader, key: PubKey): boolean {
  const candidacy = getLiveByPubKey(state, key)
  return candidacy !== undefined && isEligible(candidacy)
}

/**
 * Makes every active candidacy inactive whose key is not listed. Unbounded: all active candidacies; once in a program's
 * life.
 */
export function deactivateAllBut(state: State, preserved: ReadonlySet<PubKey>, time: number): void {
  for (const candidacy of listLive(state)) {
    if (candidacy.active && !preserved.has(candidacy.pubKey)) putUpdated(state, { ...candidacy, active: false }, time)
  }
}
