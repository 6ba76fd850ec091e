import { printPubKey, type PubKey } from '../../base/pubKey.ts'
import { printRatio } from '../../base/amount.ts'
import { show } from '../../base/json.ts'
import { printTime } from '../../base/time.ts'
import { uint } from '../../values/number.ts'
import { flag } from '../../values/text.ts'
import type { StateReader } from '../../store/state.ts'
import {
  pageOf,
  type QueryAnswer,
  type QueryContext,
  type QueryEntry,
  type QueryError,
  withAddress,
} from '../define.ts'
import { kernelErrors } from '../errors.ts'
import {
  type AccountUpdate,
  countAbove,
  getAccountUpdate,
  getById,
  getByOwner,
  listLive,
  listPendingUpdates,
  listSet,
  listUnbondingsOf,
} from './keeper.ts'
import type { Candidacy, SetMember, Unbonding } from './tables.ts'
import { nextSet, votingPower } from './validatorSet.ts'

/** The paths under `/stake/`. Source: interface, list and query; protocol.md §3, §8, §10. */
export const stakeQueries: readonly QueryEntry[] = [
  {
    path: '/stake/validators',
    doc: 'All current validators and candidates in rank order; `?limit=` and `?offset=` cut a page.',
    isList: true,
    run: (context, _args, options) => {
      const all = context.height === 0 ? [] : listLive(context.state)
      return pageOf(all, options, (candidacy, rank) => printValidator(context, candidacy, rank))
    },
  },
  {
    path: '/stake/validator/<address>',
    doc: 'The candidacy of an address, null when there is none.',
    run: (context, [text = '']) =>
      withAddress(text, (owner) => {
        const candidacy = context.height === 0 ? undefined : getByOwner(context.state, owner)
        return { data: candidacy === undefined ? null : printValidator(context, candidacy, rankOf(context, candidacy)) }
      }),
  },
  {
    path: '/stake/candidacy-id/<address>',
    doc: 'The id of the candidacy of an address, null when there is none.',
    run: ({ state }, [text = '']) => withAddress(text, (owner) => ({ data: getByOwner(state, owner)?.id ?? null })),
  },
  {
    path: '/stake/unbonding/<address>',
    doc: 'Unbonding entries of an address: amount, pub_key, completion_height.',
    isList: true,
    run: ({ state }, [text = '']) =>
      withAddress(text, (owner) => pageOf(listUnbondingsOf(state, owner), new Map(), printUnbonding)),
  },
  {
    path: '/stake/account-update/<id>',
    doc: 'An account update request: id, status, from, to, pub_key of the candidacy.',
    run: accountUpdateOfId,
  },
  {
    path: '/stake/account-updates/<address>',
    doc: 'The pending account update requests from or to an address, the newest first; `?limit=` and `?offset=` cut a page.',
    isList: true,
    run: ({ state }, [text = ''], options) =>
      withAddress(text, (account) =>
        pageOf(listPendingUpdates(state, account), options, (request) => printAccountUpdate(state, request)),
      ),
  },
  {
    path: '/stake/set',
    doc: 'The validator set as CometBFT was last told it: pub_key, candidacy_id, power, proven.',
    run: ({ state }) => printSet(state, ({ candidacyId }) => ({ candidacy_id: candidacyId })),
  },
  {
    path: '/stake/set/owners',
    doc: 'The validator set as CometBFT was last told it: pub_key, owner_address, power, proven.',
    run: ({ state }) =>
      // No owner for a record that was replaced.
      printSet(state, ({ candidacyId }) => ({ owner_address: getById(state, candidacyId)?.ownerAddress ?? null })),
  },
]

const printUnbonding = ({ amount, pubKey, heightPaid }: Unbonding): object => ({
  amount: amount.toString(),
  pub_key: pubKeyObject(pubKey),
  completion_height: heightPaid,
})

function accountUpdateOfId({ state }: QueryContext, [text = '']: readonly string[]): QueryAnswer | QueryError {
  const id = uint.parse(text)
  if (id === undefined) return kernelErrors.badArgument(`id: expected a decimal integer, got ${show(text)}`)
  const request = getAccountUpdate(state, id)
  return { data: request === undefined ? null : printAccountUpdate(state, request) }
}

function printAccountUpdate(
  state: StateReader,
  { id, status, fromAddress, toAddress, candidacyId }: AccountUpdate,
): object {
  const candidacy = getById(state, candidacyId)
  const pub_key = candidacy === undefined ? null : printPubKey(candidacy.pubKey)
  return { id, status, from: fromAddress, to: toAddress, pub_key }
}

function printSet(state: StateReader, holder: (member: SetMember) => object): QueryAnswer {
  const print = (member: SetMember): object => {
    const { pubKey, power, proven } = member
    return { pub_key: pubKeyObject(pubKey), ...holder(member), power, proven }
  }
  return { data: listSet(state).map(print) }
}

/** Ranks that are remembered for a head; for a candidacy behind them the ones above it are counted. */
const RANKS_KEPT = 256

/** What all validator objects of one head share. Bound: max_vals and RANKS_KEPT rows. */
const setAtHead = ({ state, params, once }: QueryContext) =>
  once('stake', () => {
    const sent = listSet(state)
    return {
      /** The most voting power of one candidacy, in whole tokens. */
      powerCap: nextSet(state, sent, params()).powerCap,
      /** Candidacy ids in the validator set as last sent. */
      inSet: new Set(sent.map(({ candidacyId }) => candidacyId)),
      /** Ranks of the first candidacies, by id. */
      ranks: firstRanks(state),
    }
  })

function firstRanks(state: StateReader): ReadonlyMap<number, number> {
  const ranks = new Map<number, number>()
  for (const { id } of listLive(state)) {
    ranks.set(id, ranks.size)
    if (ranks.size === RANKS_KEPT) break
  }
  return ranks
}

/** How many live candidacies rank above this one; -1 for a withdrawn record. Source: protocol.md §4. */
function rankOf(context: QueryContext, candidacy: Candidacy): number {
  if (candidacy.withdrawn) return -1
  return setAtHead(context).ranks.get(candidacy.id) ?? countAbove(context.state, candidacy)
}

/** A public key as CometBFT's JSON has it. */
const pubKeyObject = (key: PubKey): object => ({ type: 'tendermint/PubKeyEd25519', value: printPubKey(key) })

/** The validator object of the interface. Source: interface, Validator object; protocol.md §3, §4. */
function printValidator(context: QueryContext, candidacy: Candidacy, rank: number): object {
  const { name, website, location, email, profile } = candidacy
  const { powerCap, inSet } = setAtHead(context)
  const live = inSet.has(candidacy.id) ? 'Validator' : 'Candidate'
  return {
    pub_key: pubKeyObject(candidacy.pubKey),
    owner_address: candidacy.ownerAddress,
    shares: candidacy.shares.toString(),
    voting_power: votingPower(candidacy, powerCap),
    max_shares: candidacy.maxShares.toString(),
    comp_rate: printRatio(candidacy.compRate),
    created_at: printTime(candidacy.createdAt),
    updated_at: printTime(candidacy.updatedAt),
    description: { name, website, location, email, profile },
    verified: flag.print(candidacy.verified),
    active: flag.print(candidacy.active),
    block_height: candidacy.blockHeight,
    rank,
    state: candidacy.withdrawn ? 'Withdrawn' : live,
  }
}
