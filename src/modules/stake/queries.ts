import { pubKey } from '../../values/pubKey.ts'
import { pubKeyObject } from '../../values/pubKeyObject.ts'
import { type StateReader, take } from '../../store/state.ts'
import { field } from '../../tx/fields.ts'
import { address } from '../../values/address.ts'
import { amount, ratio, uint } from '../../values/number.ts'
import { listOf, orNull, record, type ShapeValue } from '../../values/shape.ts'
import { enumOf, flag, text, yesNo } from '../../values/text.ts'
import { time } from '../../values/time.ts'
import { paramsInForce } from '../params/keeper.ts'
import { defineListQuery, defineQuery, page, pageOf, type QueryContext, type QueryEntry } from '../query.ts'
import {
  type AccountUpdate,
  compRateAt,
  countAbove,
  getAccountUpdate,
  getById,
  getByOwner,
  listLive,
  listPendingUpdates,
  listSet,
  listUnbondingsOf,
} from './keeper.ts'
import { accountUpdateStatus, type Candidacy, type SetMember, type Unbonding } from './tables.ts'
import { nextSet, votingPower } from './validatorSet.ts'

/** Source: interface, Validator object; protocol.md §3, §4. */
const validator = record('Validator', {
  pub_key: pubKeyObject,
  owner_address: address,
  shares: amount,
  voting_power: uint,
  max_shares: amount,
  comp_rate: ratio,
  created_at: time,
  updated_at: time,
  description: record(undefined, { name: text, website: text, location: text, email: text, profile: text }),
  verified: yesNo,
  active: yesNo,
  block_height: uint,
  rank: uint,
  state: enumOf('Validator', 'Candidate', 'Withdrawn'),
})

/** Source: protocol.md §10, svc_queryUnbonding. */
const unbondingEntry = record('UnbondingEntry', { amount, pub_key: pubKeyObject, completion_height: uint })

/** Source: protocol.md §10, svc_queryAccountUpdate. */
const accountUpdate = record('AccountUpdate', {
  id: uint,
  status: accountUpdateStatus,
  from: address,
  to: address,
  pub_key: orNull(pubKey),
})

/** Source: protocol.md §8. */
const setRow = record('ValidatorSetRow', { pub_key: pubKeyObject, candidacy_id: uint, power: uint, proven: flag })

/** Source: protocol.md §10, svc_queryValidatorSet. */
const setMember = record('ValidatorSetMember', {
  pub_key: pubKeyObject,
  owner_address: orNull(address),
  power: uint,
  proven: flag,
})

/** The paths under `/stake/`. Source: interface, list and query; protocol.md §3, §8, §10. */
export const stakeQueries: readonly QueryEntry[] = [
  defineQuery({
    method: 'svc_queryValidator',
    call: 'stake.validator.query',
    path: '/stake/validator/<address>',
    doc: 'The validator object of an address at the head, data null when it has no record.',
    input: { validatorAddress: field(address) },
    height: 'ignored',
    result: orNull(validator),
    run: (context, { validatorAddress: owner }) => {
      const candidacy = context.height === 0 ? undefined : getByOwner(context.state, owner)
      return candidacy && validatorOf(context, candidacy, rankOf(context, candidacy))
    },
  }),
  defineListQuery({
    method: 'svc_queryValidators',
    call: 'stake.validator.list',
    path: '/stake/validators',
    doc: 'All current validators and candidates at the head, in rank order.',
    input: page,
    positional: 1,
    height: 'ignored',
    item: validator,
    run: (context, given) => {
      const all = context.height === 0 ? [] : listLive(context.state)
      return { items: pageOf(all, given, (candidacy, rank) => validatorOf(context, candidacy, rank)) }
    },
  }),
  defineQuery({
    path: '/stake/candidacy-id/<address>',
    doc: 'The id of the candidacy of an address, null when there is none.',
    input: { address: field(address) },
    result: orNull(uint),
    run: ({ state }, { address: owner }) => getByOwner(state, owner)?.id,
  }),
  defineListQuery({
    method: 'svc_queryUnbonding',
    call: 'stake.validator.queryUnbonding',
    path: '/stake/unbonding/<address>',
    doc: 'What still unbonds for an address.',
    input: { address: field(address) },
    item: unbondingEntry,
    run: ({ state }, { address: owner }) => ({ items: pageOf(listUnbondingsOf(state, owner), {}, unbondingOf) }),
  }),
  defineQuery({
    method: 'svc_queryValidatorSet',
    call: 'stake.validator.queryValidatorSet',
    path: '/stake/set/owners',
    doc: 'The validator set as CometBFT was last told it; proven is false for a key that joins with power 1 until it has signed.',
    input: {},
    result: listOf(setMember),
    run: ({ state }) =>
      listSet(state).map(({ candidacyId, ...member }) => ({
        ...setRowOf(member),
        // No owner for a record that was replaced.
        owner_address: getById(state, candidacyId)?.ownerAddress,
      })),
  }),
  defineQuery({
    path: '/stake/set',
    doc: 'The validator set as CometBFT was last told it, with the ids of candidacies.',
    input: {},
    result: listOf(setRow),
    run: ({ state }) =>
      listSet(state).map(({ candidacyId, ...member }) => ({ ...setRowOf(member), candidacy_id: candidacyId })),
  }),
  defineQuery({
    method: 'svc_queryAccountUpdate',
    call: 'stake.validator.queryAccountUpdate',
    path: '/stake/account-update/<id>',
    doc: 'A request to bind a candidacy to another address, with its status; data null when there is none of that id.',
    input: { accountUpdateRequestId: field(uint, 'id that updateAccount returned') },
    result: orNull(accountUpdate),
    run: ({ state }, { accountUpdateRequestId: id }) => {
      const request = getAccountUpdate(state, id)
      return request && accountUpdateOf(state, request)
    },
  }),
  defineListQuery({
    method: 'svc_queryAccountUpdates',
    call: 'stake.validator.queryAccountUpdates',
    path: '/stake/account-updates/<address>',
    doc: 'The pending requests that an address made or may accept, the newest first.',
    input: { address: field(address), ...page },
    positional: 1,
    item: accountUpdate,
    run: ({ state }, { address: account, ...given }) => ({
      items: pageOf(listPendingUpdates(state, account), given, (request) => accountUpdateOf(state, request)),
    }),
  }),
]

const unbondingOf = ({ amount: units, pubKey: pub_key, heightPaid }: Unbonding): ShapeValue<typeof unbondingEntry> => ({
  amount: units,
  pub_key,
  completion_height: heightPaid,
})

function accountUpdateOf(
  state: StateReader,
  { id, status, fromAddress, toAddress, candidacyId }: AccountUpdate,
): ShapeValue<typeof accountUpdate> {
  return { id, status, from: fromAddress, to: toAddress, pub_key: getById(state, candidacyId)?.pubKey }
}

const setRowOf = ({ pubKey: pub_key, power, proven }: Omit<SetMember, 'candidacyId'>) => ({ pub_key, power, proven })

/** Ranks that are remembered for a head; for a candidacy behind them the ones above it are counted. */
const RANKS_KEPT = 256

/** What all validator objects of one head share. Bound: max_vals and RANKS_KEPT rows. */
const setAtHead = ({ state, height, once }: QueryContext) =>
  once('stake', () => {
    const sent = listSet(state)
    return {
      /** The most voting power of one candidacy, in whole tokens. */
      powerCap: nextSet(state, sent, paramsInForce(state, height)).powerCap,
      /** Candidacy ids in the validator set as last sent. */
      inSet: new Set(sent.map(({ candidacyId }) => candidacyId)),
      /** Ranks of the first candidacies, by id. */
      ranks: firstRanks(state),
    }
  })

const firstRanks = (state: StateReader): ReadonlyMap<number, number> =>
  new Map(take(listLive(state), RANKS_KEPT).map(({ id }, rank) => [id, rank]))

/** How many live candidacies rank above this one; -1 for a withdrawn record. Source: protocol.md §4. */
function rankOf(context: QueryContext, candidacy: Candidacy): number {
  if (candidacy.withdrawn) return -1
  return setAtHead(context).ranks.get(candidacy.id) ?? countAbove(context.state, candidacy)
}

/** Source: interface, Validator object; protocol.md §3, §4. */
function validatorOf(context: QueryContext, candidacy: Candidacy, rank: number): ShapeValue<typeof validator> {
  const { name, website, location, email, profile } = candidacy
  const { powerCap, inSet } = setAtHead(context)
  const live = inSet.has(candidacy.id) ? 'Validator' : 'Candidate'
  return {
    pub_key: candidacy.pubKey,
    owner_address: candidacy.ownerAddress,
    shares: candidacy.shares,
    voting_power: votingPower(candidacy, powerCap),
    max_shares: candidacy.maxShares,
    comp_rate: compRateAt(candidacy, context.height),
    created_at: candidacy.createdAt,
    updated_at: candidacy.updatedAt,
    description: { name, website, location, email, profile },
    verified: candidacy.verified ? 'Y' : 'N',
    active: candidacy.active ? 'Y' : 'N',
    block_height: candidacy.blockHeight,
    rank,
    state: candidacy.withdrawn ? 'Withdrawn' : live,
  }
}
