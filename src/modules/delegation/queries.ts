import { maxOf } from '../../base/amount.ts'
import type { StateReader } from '../../store/state.ts'
import { field } from '../../tx/fields.ts'
import { type Address, address } from '../../values/address.ts'
import { amount, ratio, uint } from '../../values/number.ts'
import { listOf, orNull, record, type ShapeValue } from '../../values/shape.ts'
import { time } from '../../values/time.ts'
import { defineListQuery, defineQuery, page, pageOf, type QueryEntry } from '../query.ts'
import type { Candidacy } from '../stake/tables.ts'
import { listDelegations, listStakesOf, pendingInBatches, worthOf } from './keeper.ts'
import { compRateAt, getById, getByOwner, selfShares, waitingRaise } from '../stake/keeper.ts'
import { pubKeyObject } from '../../values/pubKeyObject.ts'
import type { Delegation } from './tables.ts'

const pendingEntry = record('PendingDelegation', { amount, completion_height: uint })

/** Source: protocol.md §12, svc_queryDelegator. */
const delegatorEntry = record('Delegator', {
  delegator_address: address,
  validator_address: orNull(address),
  pub_key: orNull(pubKeyObject),
  delegate_amount: amount,
  award_amount: amount,
  withdraw_amount: amount,
  slash_amount: amount,
  shares: amount,
  created_at: orNull(time),
  updated_at: orNull(time),
  pending: listOf(pendingEntry),
})

/** Source: protocol.md §12, svc_queryDelegations. */
const delegationEntry = record('Delegation', { delegator_address: address, shares: amount, units: amount })

/** Source: protocol.md §12, svc_queryStake. */
const stake = record('Stake', {
  self_shares: amount,
  delegated_shares: amount,
  delegators: uint,
  room: amount,
  comp_rate: ratio,
  next_comp_rate: orNull(ratio),
  next_comp_rate_height: orNull(uint),
  pending: amount,
})

/** The queries about delegations. Source: protocol.md §12. */
export const delegationQueries: readonly QueryEntry[] = [
  defineListQuery({
    method: 'svc_queryDelegator',
    call: 'stake.delegator.query',
    path: '/stake/delegator/<address>',
    doc: 'What an account has delegated at the head, by candidacy: what it put in, earned, lost, took out and is worth, and what unbonds.',
    input: { delegatorAddress: field(address) },
    height: 'ignored',
    item: delegatorEntry,
    run: ({ state }, { delegatorAddress }) => ({ items: delegatorEntries(state, delegatorAddress) }),
  }),
  defineListQuery({
    method: 'svc_queryDelegations',
    call: 'stake.validator.queryDelegations',
    path: '/stake/delegations/<address>',
    doc: 'The delegations of a validator, by delegator, and what each is worth.',
    input: { validatorAddress: field(address), ...page },
    positional: 1,
    item: delegationEntry,
    run: ({ state }, { validatorAddress, ...given }) => {
      const candidacy = getByOwner(state, validatorAddress)
      if (candidacy === undefined) return { items: [] }
      return {
        items: pageOf(listDelegations(state, candidacy), given, ({ delegator, units }) => ({
          delegator_address: delegator,
          shares: worthOf(units, candidacy),
          units,
        })),
      }
    },
  }),
  defineQuery({
    method: 'svc_queryStake',
    call: 'stake.validator.queryStake',
    path: '/stake/stake/<address>',
    doc: 'Whose the shares of a validator are, what room is left, and its commission; data null when it has no record.',
    input: { validatorAddress: field(address) },
    result: orNull(stake),
    run: ({ state, height }, { validatorAddress }) => {
      const candidacy = getByOwner(state, validatorAddress)
      if (candidacy === undefined) return undefined
      const raise = waitingRaise(candidacy, height)
      return {
        self_shares: selfShares(candidacy),
        delegated_shares: candidacy.delegated,
        delegators: candidacy.delegators,
        room: maxOf(0n, candidacy.maxShares - candidacy.shares),
        comp_rate: compRateAt(candidacy, height),
        next_comp_rate: raise?.rate,
        next_comp_rate_height: raise?.from,
        pending: pendingInBatches(state, candidacy.id),
      }
    },
  }),
]

/**
 * One entry for each candidacy that holds something of an account, or held it until a slash burned all. Bound: as
 * `listStakesOf`.
 */
function* delegatorEntries(state: StateReader, delegator: Address): Iterable<ShapeValue<typeof delegatorEntry>> {
  for (const { candidacyId, rows, pending } of listStakesOf(state, delegator)) {
    const candidacy = getById(state, candidacyId)
    yield {
      delegator_address: delegator,
      validator_address: candidacy?.ownerAddress,
      pub_key: candidacy?.pubKey,
      ...sumsOf(candidacy, rows),
      pending: pending.map(({ amount: units, heightPaid }) => ({ amount: units, completion_height: heightPaid })),
    }
  }
}

/** What an account put into a candidacy and took out, and what it has. */
function sumsOf(candidacy: Candidacy | undefined, rows: readonly Delegation[]) {
  const sum = (of: (row: Delegation) => bigint): bigint => rows.reduce((total, row) => total + of(row), 0n)
  const shares = sum((row) => (candidacy?.pool === row.pool ? worthOf(row.units, candidacy) : 0n))
  const [put, taken] = [sum((row) => row.delegateAmount), sum((row) => row.withdrawAmount)]
  const gained = shares + taken - put
  return {
    delegate_amount: put,
    award_amount: maxOf(0n, gained),
    withdraw_amount: taken,
    slash_amount: maxOf(0n, -gained),
    shares,
    created_at: rows.length === 0 ? undefined : Math.min(...rows.map((row) => row.createdAt)),
    updated_at: rows.length === 0 ? undefined : Math.max(...rows.map((row) => row.updatedAt)),
  }
}
