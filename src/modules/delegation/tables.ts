import { concat, u64be } from '../../base/bytes.ts'
import { stateCodec } from '../../codec/state.ts'
import { firstOf, type StateReader } from '../../store/state.ts'
import { derivedTable, type RowOf, table } from '../../store/table.ts'
import { address, addressBytes } from '../../values/address.ts'
import { amount, uint } from '../../values/number.ts'
import { flag } from '../../values/text.ts'

/** What an account has of a candidacy's pool. One of a pool that is over is worth nothing, or waits in a closing batch. */
export const delegations = table('delegations', {
  tag: 0x09,
  key: { candidacyId: uint, pool: uint, delegator: address },
  row: { units: amount, delegateAmount: amount, withdrawAmount: amount, createdAt: uint, updatedAt: uint },
  message: stateCodec('svc.state.Delegation'),
  indexes: {
    // For queries, and to find a row that is worth nothing.
    byDelegator: (row) => concat(addressBytes(row.delegator), u64be(row.candidacyId), u64be(row.pool)),
  },
})

/** One delegation. */
export type Delegation = RowOf<typeof delegations>

/**
 * Delegations of one candidacy on their way back, which are paid at one height. A closed one takes no more of them. The
 * claims of a closing batch, which the end of a candidacy makes, are the delegations of the pool before `pool`.
 */
export const batches = table('batches', {
  tag: 0x0a,
  key: { candidacyId: uint, number: uint },
  row: { amount, units: amount, heightMade: uint, heightPaid: uint, closed: flag, pool: uint },
  message: stateCodec('svc.state.Batch'),
  indexes: {
    byHeightPaid: (row) => concat(u64be(row.heightPaid), u64be(row.candidacyId), u64be(row.number)),
  },
})

/** The number of a candidacy's newest batch, 0 without one, and how many batches it has. Bound: its batches. */
export function numberBatches(state: StateReader, candidacyId: number) {
  const prefix = u64be(candidacyId)
  const newest = firstOf(state.scan(batches, { prefix, reverse: true }))?.number ?? 0
  return { candidacyId, newest, count: newest === 0 ? 0 : state.count(batches, { prefix }) }
}

/** `numberBatches` of each candidacy, in memory: every delegation asks for it. */
export const batchNumbers = derivedTable('batch_numbers', {
  tag: 0xf4,
  key: { candidacyId: uint },
  derive: (state, { candidacyId }) => numberBatches(state, candidacyId),
  sizeOf: () => 4,
})

/** One batch. */
export type Batch = RowOf<typeof batches>

/** What a delegator has of a batch. */
export const claims = table('claims', {
  tag: 0x0b,
  key: { candidacyId: uint, number: uint, delegator: address },
  row: { units: amount },
  message: stateCodec('svc.state.Claim'),
  indexes: {
    // For queries alone.
    byDelegator: (row) => concat(addressBytes(row.delegator), u64be(row.candidacyId), u64be(row.number)),
  },
})

/** Tables of this module. */
export const delegationTables = [delegations, batches, claims] as const

/**
 * Who holds what: each delegation of a pool that goes on, with its worth in whole and part tokens. SQL has no numbers of
 * this size, so `tokens` is exact to 15 digits only; `svc_queryDelegator` gives the base units.
 */
export const delegationsView = {
  name: 'stakes',
  sql: `SELECT d.delegator, c.owner_address, c.pub_key,
      CAST(d.units AS REAL) * CAST(c.delegated AS REAL) / CAST(c.delegation_units AS REAL) / 1e18 AS tokens,
      d.units, d.delegate_amount, d.withdraw_amount, datetime(d.created_at, 'unixepoch') AS created_at,
      datetime(d.updated_at, 'unixepoch') AS updated_at, d.candidacy_id
    FROM delegations d JOIN candidacies c ON c.id = d.candidacy_id AND c.pool = d.pool
    ORDER BY d.delegator, d.candidacy_id`,
} as const
