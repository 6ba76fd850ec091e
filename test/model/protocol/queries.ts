import { batchesOf, claimsOf, isClosing, ownPart, rateInForce, worth } from './delegation.ts'
import { type Candidacy, recordOf, type State } from './state.ts'
import { base64, larger, printRatio, sum } from './values.ts'

/** What the queries about delegations answer. Source: protocol.md §12, Queries. */

const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
const keyOf = ({ pubKey }: Candidacy) => ({ type: 'tendermint/PubKeyEd25519', value: base64(pubKey) })

function entryOf(state: State, delegator: string, id: number) {
  const validator = state.candidacies.find((one) => one.id === id)
  const rows = state.delegations
    .filter((row) => row.candidacyId === id && row.delegator === delegator && !isClosing(state, row))
    .sort((a, b) => a.pool - b.pool)
  const units = sum(rows.flatMap((row) => (row.pool === validator?.pool ? row.units : [])))
  const shares = validator === undefined ? 0n : worth(validator, units)
  const delegated = sum(rows.map(({ delegateAmount }) => delegateAmount))
  const withdrawn = sum(rows.map(({ withdrawAmount }) => withdrawAmount))
  const net = shares + withdrawn - delegated
  const pending = batchesOf(state, id).flatMap((batch) =>
    claimsOf(state, batch)
      .filter((claim) => claim.delegator === delegator)
      .map((claim) => ({
        amount: String((claim.units * batch.amount) / batch.units),
        completion_height: batch.heightPaid,
      })),
  )
  const [first, last] = [rows[0], rows.at(-1)]
  return {
    delegator_address: delegator,
    validator_address: validator?.ownerAddress ?? null,
    pub_key: validator === undefined ? null : keyOf(validator),
    delegate_amount: String(delegated),
    award_amount: String(larger(0n, net)),
    withdraw_amount: String(withdrawn),
    slash_amount: String(larger(0n, -net)),
    shares: String(shares),
    created_at: first === undefined ? null : timeOf(first.createdAt),
    updated_at: last === undefined ? null : timeOf(last.updatedAt),
    pending,
  }
}

export const queryDelegator = (state: State, delegator: string) =>
  [
    ...new Set(
      [...state.delegations, ...state.claims].flatMap((row) => (row.delegator === delegator ? row.candidacyId : [])),
    ),
  ]
    .sort((a, b) => a - b)
    .map((id) => entryOf(state, delegator, id))

export function queryDelegations(state: State, owner: string) {
  const record = recordOf(state, owner)
  return state.delegations
    .filter(({ candidacyId, pool }) => candidacyId === record?.id && pool === record.pool)
    .sort((a, b) => (a.delegator < b.delegator ? -1 : 1))
    .map(({ delegator, units }) => ({
      delegator_address: delegator,
      shares: String(worth(record as Candidacy, units)),
      units: String(units),
    }))
}

/** `svc_queryStake`. A raise of the commission waits while the next block does not have it. */
export function queryStake(state: State, owner: string) {
  const record = recordOf(state, owner)
  if (record === undefined) return null
  const { shares, maxShares, delegated, delegators, nextCompRate, nextCompRateHeight } = record
  const waits = nextCompRateHeight > state.chain.lastHeight
  return {
    self_shares: String(ownPart(record)),
    delegated_shares: String(delegated),
    delegators,
    room: String(larger(0n, maxShares - shares)),
    comp_rate: printRatio(rateInForce(record, state.chain.lastHeight)),
    next_comp_rate: waits ? printRatio(nextCompRate) : null,
    next_comp_rate_height: waits ? nextCompRateHeight : null,
    pending: String(sum(batchesOf(state, record.id).map(({ amount }) => amount))),
  }
}
