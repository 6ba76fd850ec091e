import { isDeepStrictEqual } from 'node:util'
import type { FinalizeBlockResponse } from '../../src/abci/types.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { accounts } from '../../src/modules/accounts/keeper.ts'
import { programVersion } from '../../src/modules/chain/keeper.ts'
import { OPEN_PROPOSALS_OF_ONE_MAX, tallyOf } from '../../src/modules/governance/keeper.ts'
import { type Proposal, proposals, votes } from '../../src/modules/governance/tables.ts'
import { paramsInForce } from '../../src/modules/params/keeper.ts'
import { listSet } from '../../src/modules/stake/keeper.ts'
import { listDelegations, payoutsOf } from '../../src/modules/delegation/keeper.ts'
import { batches, batchNumbers, claims, numberBatches } from '../../src/modules/delegation/tables.ts'
import {
  accountUpdates,
  candidacies,
  isEligible,
  newestPeriods,
  newestOf,
  setMembers,
  unbondings,
  validatorKeys,
} from '../../src/modules/stake/tables.ts'
import type { Store } from '../../src/store/store.ts'
import { addressOfKey } from '../../src/values/address.ts'
import { pubKeyBytes } from '../../src/values/pubKey.ts'
import { countedTally } from '../support/countedTally.ts'
import type { TestChain } from '../support/testChain.ts'

function need(holds: boolean, what: string): void {
  if (!holds) throw new Error(`invariant: ${what}`)
}

/** Throws when a value stands twice. */
function once(values: Iterable<string | number>, what: string): void {
  const seen = new Set<string | number>()
  for (const value of values) {
    need(!seen.has(value), `${what}: ${value} twice`)
    seen.add(value)
  }
}

function checkMoney(store: Store): void {
  for (const { address, balance } of store.scan(accounts)) need(balance >= 0n, `${address} has ${balance}`)
  for (const { number, amount } of store.scan(unbondings)) need(amount >= 0n, `unbonding ${number} holds ${amount}`)
  for (const { id, shares, delegated, maxShares, withdrawn } of store.scan(candidacies)) {
    need(
      shares >= delegated && delegated >= 0n && !(withdrawn && shares > 0n),
      `candidacy ${id} has ${shares}, of which ${delegated} are delegated`,
    )
    // Only what awards add to the pool passes max_shares.
    need(shares <= maxShares || delegated > 0n, `candidacy ${id} has ${shares} of ${maxShares}`)
  }
}

/** The sums that candidacies and batches hold are those of the rows. Source: protocol.md §12. */
function checkDelegations(store: Store): void {
  for (const { id, pool, delegated, delegationUnits, delegators } of store.scan(candidacies)) {
    const rows = [...listDelegations(store, { id, pool })]
    const units = rows.reduce((sum, row) => sum + row.units, 0n)
    need(units === delegationUnits, `candidacy ${id} has ${delegationUnits} units, its delegations ${units}`)
    need(rows.length === delegators, `candidacy ${id} has ${delegators} delegators of ${rows.length}`)
    need((delegated === 0n) === (units === 0n), `candidacy ${id} has ${delegated} for ${units} units`)
    need(
      rows.every((row) => row.units > 0n),
      `a delegation of candidacy ${id} has no units`,
    )
    need(
      isDeepStrictEqual(store.get(batchNumbers, { candidacyId: id }), numberBatches(store, id)),
      `candidacy ${id} has other batches in memory than in rows`,
    )
  }
  for (const batch of store.scan(batches)) {
    const of = `batch ${batch.number} of candidacy ${batch.candidacyId}`
    const payouts = [...payoutsOf(store, batch)]
    need(batch.units > 0n && payouts.reduce((sum, { units }) => sum + units, 0n) === batch.units, `${of}: units`)
    need(payouts.reduce((sum, { paid }) => sum + paid, 0n) === batch.amount, `${of}: paid to the unit`)
  }
  for (const claim of store.scan(claims)) need(store.get(batches, claim) !== undefined, 'a claim has its batch')
}

function checkStake(store: Store, known: ReadonlyMap<string, number>, hasChanged: boolean): void {
  const live = [...store.scan(candidacies)].filter(({ withdrawn }) => !withdrawn)
  once(
    [...store.scan(candidacies)].map(({ ownerAddress }) => ownerAddress),
    'records of an address',
  )
  once(
    live.map(({ pubKey }) => pubKey),
    'live candidacies of a key',
  )
  const ranked = [...store.scan(candidacies, { index: 'byRank' })]
  need(ranked.length === live.length, 'the rank index holds each live candidacy')
  const eligible = ranked.filter(isEligible)
  need(ranked.slice(0, eligible.length).every(isEligible), 'eligible candidacies come first')
  need(
    eligible.every(({ shares }, at) => shares <= (eligible[at - 1]?.shares ?? shares)),
    'shares descend in rank order',
  )
  const set = [...store.scan(setMembers)]
  const { maxVals } = paramsInForce(store, store.height())
  const isKept = set.some(({ proven, pubKey }) => proven && !eligible.some((one) => one.pubKey === pubKey))
  need(
    set.length >= 1 && (set.length <= 2 * maxVals || !hasChanged || isKept),
    `the set has ${set.length} of ${maxVals}`,
  )
  const unproven = set.filter(({ proven }) => !proven)
  need(
    unproven.every(({ power }) => power === 1),
    'a key that joins has power 1',
  )
  need(
    3 * unproven.length < set.reduce((sum, { power }) => sum + power, 0),
    `${unproven.length} keys join: a third of the power or more`,
  )
  need(
    known.size === set.length && set.every(({ pubKey, power }) => known.get(pubKey) === power),
    'power in state is what CometBFT has two heights on',
  )
  for (const { pubKey, candidacyId } of set) {
    const [last] = [...store.scan(validatorKeys)].filter((row) => row.pubKey === pubKey).slice(-1)
    need(last?.candidacyId === candidacyId && last.lastHeight === 0, `validator_keys knows the holder of ${pubKey}`)
  }
  for (const { pubKey } of store.scan(validatorKeys)) {
    const validator = addressOfKey(pubKeyBytes(pubKey))
    need(
      isDeepStrictEqual(store.get(newestPeriods, { validator }), newestOf(store, validator)),
      `the key ${pubKey} has other periods in memory than in rows`,
    )
  }
  const pending = [...store.scan(accountUpdates)].filter(({ status }) => status === 'PENDING')
  once(
    pending.map(({ candidacyId }) => candidacyId),
    'pending account updates of a candidacy',
  )
  for (const { id, candidacyId, fromAddress } of pending) {
    const candidacy = live.find((one) => one.id === candidacyId)
    need(
      candidacy?.ownerAddress === fromAddress,
      `the pending account update ${id} comes from the owner of a live candidacy`,
    )
  }
}

const isOpen = ({ result }: { readonly result: string }): boolean => result === ''

function checkGovernance(store: Store): void {
  const all = [...store.scan(proposals)]
  const due = [
    ...store.scan(proposals, { index: 'dueByHeight' }),
    ...store.scan(proposals, { index: 'dueByTime' }),
  ].map(({ id }) => id)
  once(due, 'places of a proposal in the due indexes')
  need(
    due.length === all.filter(({ pending }) => pending).length,
    'each pending proposal is in one due index, no other is',
  )
  const time = Math.floor(store.timeMs() / 1000)
  const set = listSet(store)
  for (const proposal of all) {
    const { id, type, pending, expireBlockHeight, expireTimestamp, escrow, yesPower, noPower, totalPower } = proposal
    need(!isOpen(proposal) || pending, `${id} is open and waits for its point`)
    need(
      !pending || (expireBlockHeight > 0 ? expireBlockHeight > store.height() : expireTimestamp > time),
      `${id} waits for a point ahead`,
    )
    need(escrow === 0n || (type === 'transfer_fund' && isOpen(proposal)), `${id} holds ${escrow}`)
    need(yesPower + noPower <= totalPower && (!isOpen(proposal) || totalPower === 0), `${id} has a tally`)
    if (isOpen(proposal))
      need(
        isDeepStrictEqual(tallyOf(store, proposal as Proposal), countedTally(store, id, set)),
        `${id} is tallied as it is voted`,
      )
  }
  const version = String(programVersion(store))
  const standing = all.filter(
    ({ type, result, retiredVersion }) =>
      type === 'retire_program' && (result === '' || result === 'Approved') && retiredVersion === version,
  )
  need(standing.length <= 1, 'at most one standing retirement')
  const open = new Map<number, number>()
  for (const { candidacyId } of all.filter(isOpen)) open.set(candidacyId, (open.get(candidacyId) ?? 0) + 1)
  for (const [id, count] of open)
    need(count <= OPEN_PROPOSALS_OF_ONE_MAX, `candidacy ${id} has ${count} open proposals`)
  const ids = new Set(all.map(({ id }) => id))
  for (const { proposalId, answer } of store.scan(votes))
    need(ids.has(proposalId) && /^[YN]$/.test(answer), `a vote on ${proposalId}`)
}

/** What must hold after every block, here the last one; throws an Error that names what does not. */
export function checkInvariants(
  { store, sets, height }: TestChain,
  { validatorUpdates = [] }: FinalizeBlockResponse,
): void {
  checkMoney(store)
  checkDelegations(store)
  // CometBFT changes its set two heights later.
  checkStake(store, sets.get(height + 2) ?? new Map(), validatorUpdates.length > 0)
  checkGovernance(store)
  need(toBase64(store.recomputeRoot()) === toBase64(store.appHash()), 'the app hash is the root of the rows')
}
