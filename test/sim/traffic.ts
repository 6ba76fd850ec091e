import type { Misbehavior } from '../../src/abci/types.ts'
import { type Address, addressBytes, addressOfKey } from '../../src/values/address.ts'
import { maxOf } from '../../src/base/amount.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { txEntries, txEntryOf } from '../../src/modules/registry.ts'
import { proposals } from '../../src/modules/governance/tables.ts'
import { delegations } from '../../src/modules/delegation/tables.ts'
import { listLive, listSet } from '../../src/modules/stake/keeper.ts'
import { accountUpdates, candidacies } from '../../src/modules/stake/tables.ts'
import { proposalIdBytes, type PubKey, pubKeyBytes, pubKeyOf } from '../../src/values/pubKey.ts'
import type { Field } from '../../src/tx/fields.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { account, CHAIN_ID, nodeKey, type TestChain, type TestGenesis, tokens } from '../support/testChain.ts'
import {
  genesisDelegations,
  type Move,
  pick,
  randomChurn,
  randomDelegation,
  randomWithdrawal,
  someDelegator,
} from './delegations.ts'

/** A whole number of 0 to below − 1. */
export type Random = (below: number) => number

/** Accounts that send; the last one is the foundation. */
export const ACCOUNTS = 12
const KEYS = 16
/** The keys that no node holds: they never sign. */
const DEAD_KEYS: ReadonlySet<string> = new Set(Array.from({ length: 6 }, (_, at) => pubKeyOf(nodeKey(KEYS - at))))

const amount = (next: Random): string =>
  pick(next, [
    (tokens(10 + next(3000)) + BigInt(next(1_000_000_007))).toString(),
    '0',
    '1',
    tokens(1).toString(),
    tokens(1 + next(3000)).toString(),
    (10n ** 36n).toString(),
    tokens(9 + next(90)).toString(),
  ])
const maybe = <T extends object>(next: Random, given: T): T | object => (next(2) === 0 ? given : {})
const anyAccount = (next: Random): Uint8Array => addressBytes(account(1 + next(ACCOUNTS)).address)

const VALUES: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['hold_account', [account(11).address, account(3).address, account(1).address.toUpperCase().replace('X', 'x'), '0x']],
  ['max_vals', ['1', '2', '3', '5', '8', '200', '0', '201']],
  ['self_staking_ratio', ['0.1', '0.50', '1', '0', '1.1', '0.333333333333333333']],
  ['inflation_rate', ['0', '8', '100', '101']],
  ['stake_limit', ['0.12', '0.34', '1.0', '0']],
  ['unstake_wait_period', ['1000', '1003', '999']],
  ['proposal_expire_period', ['1', '5', '20', '0']],
  ['declare_candidacy', ['0', '1000']],
  ['update_candidacy', ['0', '1000']],
  ['governance_proposal', ['0', '2000']],
  ['gas_price', ['0', '1', '2000000000']],
  ['nothing', ['1']],
]

/** Random genesis: 1 to 6 validators, short periods, strict about absence. */
export function randomGenesis(next: Random): TestGenesis {
  const validators = 1 + next(6)
  // Beside one that holds nearly everything, the others have few places for proposals, and less than 3 without it.
  const isUneven = next(2) === 0
  return {
    accounts: Array.from({ length: ACCOUNTS }, (_, at) => ({
      address: account(at + 1).address,
      balance: tokens(20_000),
    })),
    candidacies: Array.from({ length: validators }, (_, at) => {
      const isSmall = isUneven && at > 0
      const own = isSmall ? tokens(1 + next(2)) : tokens(3 + next(500))
      const delegations = isSmall ? [] : genesisDelegations(next, ACCOUNTS)
      const shares = delegations.reduce((sum, { amount: part }) => sum + part, own)
      const maxShares = maxOf(shares, tokens(500 + next(500)))
      return { owner: account(at + 1), key: nodeKey(at + 1), shares, maxShares, delegations }
    }),
    params: {
      hold_account: account(11).address,
      max_vals: 1 + next(6),
      // Above 64 a batch takes what is withdrawn in more than one block.
      unstake_wait_period: next(4) === 0 ? 60 + next(90) : 1 + next(12),
      proposal_expire_period: 4 + next(20),
      inflation_rate: pick(next, [0, 8, 100]),
      gas_price: pick(next, [0, 1, 1000]),
      stake_limit: pick(next, ['0.12', '0.4', '1']),
    },
    stake: {
      foundation_address: account(ACCOUNTS).address,
      max_absent_blocks: 2 + next(4),
      slash_ratio: pick(next, ['0.05', '1', '0', '0.333333333333333333', '0.999999999999999999']),
      default_comp_rate: pick(next, ['0.5', '0', '0.1', '1']),
    },
  }
}

function point(next: Random, chain: TestChain, height: string, timestamp: string): Record<string, number> {
  const at = chain.height + 1
  switch (next(8)) {
    case 0:
      return { [height]: at + pick(next, [0, 1, 2, 1_000_000, 1_000_001]) }
    case 1:
      return { [timestamp]: chain.time + (next(8) === 0 ? 10_000_000 + next(15) : next(60)) }
    case 2:
      return next(4) === 0 ? { [height]: at + 5, [timestamp]: chain.time + 50 } : {}
    case 3:
    case 4:
      return { [height]: at + 1 + next(12) }
    default:
      return {}
  }
}

/** Texts that are just inside and just outside what a library proposal may hold. */
const ODD_URLS: readonly string[] = [
  '{}',
  '[]',
  'null',
  'no json',
  '{"ubuntu":"http://b"}',
  '{"ubuntu":[]}',
  '{"ubuntu":["ftp://b"]}',
  '{"ubuntu":["http://b c"]}',
  '{"ubuntu":["http://"]}',
  '{"ubuntu":["HTTP://b:80/\\u0041?x=\\"y\\":1"]}',
  ' { "ubu\\u006etu" : [ "http://b" ] } ',
  '{"ubuntu":["http://b"],"ubuntu":["http://b"]}',
  '{"ubuntu":["http://b"],"ubu\\u006etu":["http://b"]}',
  '{"ubuntu":["http://b"],"centos":["http://b"]}',
  ...[8, 9].map((count) => JSON.stringify({ ubuntu: new Array<string>(count).fill('http://b') })),
  ...[4096, 4097].map((length) => `{"ubuntu":["http://${'b'.repeat(length - 22)}"]}`),
]
const ODD_MD5: readonly string[] = [
  '{}',
  `{"ubuntu":"${'AB'.repeat(16)}"}`,
  `{"ubuntu":"${'ab'.repeat(16)}","centos":"${'01'.repeat(16)}"}`,
  `{"ubuntu":"${'ab'.repeat(16)}","ubuntu":"${'ab'.repeat(16)}"}`,
  `{"ubuntu":"${'ab'.repeat(15)}"}`,
  `{"ubuntu":["${'ab'.repeat(16)}"]}`,
]
const ODD_VERSIONS: readonly string[] = [
  '',
  'v1.2',
  '1.2.3',
  'v1.02.3',
  'v1.2.3-a',
  'v9007199254740992.0.0',
  'v0.0.0\n',
]

function library(next: Random): Record<string, unknown> {
  const os = pick(next, ['ubuntu', 'ubuntu', 'centos', 'debian'])
  const isOdd = next(4) === 0
  return {
    name: pick(next, ['lib', 'a-b', 'x_1', 'No', '', 'n'.repeat(64), 'n'.repeat(65)]),
    version: isOdd && next(2) === 0 ? pick(next, ODD_VERSIONS) : `v${next(3)}.${next(4)}.${next(5)}`,
    fileUrl: isOdd ? pick(next, ODD_URLS) : `{"${os}":["https://a.example/x"]}`,
    md5: isOdd && next(2) === 0 ? pick(next, ODD_MD5) : `{"${next(9) === 0 ? 'ubuntu' : os}":"${'ab'.repeat(16)}"}`,
  }
}

/** A text of about the most bytes that its field may have. */
const longText = (next: Random, bytes: number): string =>
  pick(next, ['', 'x'.repeat(bytes), 'x'.repeat(bytes + 1), 'é'.repeat(bytes / 2), `${'é'.repeat(bytes / 2)}x`])

const DESCRIPTION: readonly (readonly [name: string, bytes: number])[] = [
  ['name', 128],
  ['website', 256],
  ['location', 128],
  ['email', 256],
  ['profile', 2048],
]

function description(next: Random): Record<string, string> {
  const given = DESCRIPTION.filter(() => next(2) === 0)
  return Object.fromEntries(
    given.map(([name, bytes]) => [name, next(8) === 0 ? longText(next, bytes) : `${name} ${next(9)}`]),
  )
}

const reason = (next: Random): { reason?: string } =>
  next(4) > 0 ? {} : { reason: next(4) === 0 ? longText(next, 2048) : `because ${next(9)}` }

const pendingOf = ({ store }: TestChain) => [...store.scan(accountUpdates)].filter(({ status }) => status === 'PENDING')
const numberOf = new Map<string, number>(Array.from({ length: ACCOUNTS }, (_, at) => [account(at + 1).address, at + 1]))

/**
 * Whoever may do it, mostly: of the set for governance, the target of a pending request, the foundation; else anybody.
 */
function senderOf(next: Random, operation: string, chain: TestChain): number {
  const anybody = 1 + next(ACCOUNTS)
  if (next(10) === 0) return anybody
  if (operation === 'verifyCandidacy') return ACCOUNTS
  if (operation === 'withdraw')
    return numberOf.get(someDelegator(next, chain, [...numberOf.keys()] as Address[])) ?? anybody
  if (operation === 'acceptCandidacyAccountUpdate') return numberOf.get(pendingOf(chain)[0]?.toAddress ?? '') ?? anybody
  if (operation === 'activateCandidacy' && next(2) === 0) {
    const inactive = [...chain.store.scan(candidacies)].filter(({ active }) => !active)
    return inactive.length === 0 ? anybody : (numberOf.get(pick(next, inactive).ownerAddress) ?? anybody)
  }
  if (operation !== 'vote' && !operation.startsWith('propose')) return anybody
  const member = pick(next, listSet(chain.store))
  return numberOf.get(chain.store.get(candidacies, { id: member?.candidacyId ?? 0 })?.ownerAddress ?? '') ?? anybody
}

/** Values of fields by the names of their types, for an operation that has no case of its own below. */
const BY_TYPE: Readonly<Record<string, (next: Random) => unknown>> = {
  address: anyAccount,
  amount,
  pubKey: (next) => nodeKey(1 + next(KEYS)),
  proposalId: (next) => new Uint8Array(32).fill(next(256)),
  uint: (next) => next(20),
  ratio: (next) => pick(next, ['0', '0.5', '1', '2']),
  yesNo: (next) => pick(next, ['Y', 'N', 'n']),
  flag: (next) => next(2) === 0,
}

const randomValue = (next: Random, { type, fields }: Field<unknown>): unknown =>
  fields === undefined ? (BY_TYPE[type]?.(next) ?? `text ${next(9)}`) : randomFields(next, Object.entries(fields))

const randomFields = (next: Random, fields: readonly (readonly [string, Field<unknown>])[]): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(([name, one]) => (one.optional && next(2) === 0 ? [] : [[name, randomValue(next, one)]])),
  )

/** Keys of live candidacies, now and then with one that is not, or with text that no list of keys is. */
function preserved(next: Random, chain: TestChain): string {
  const keys = [
    ...new Set(
      [...listLive(chain.store)].map(({ pubKey }) =>
        toBase64(next(9) === 0 ? nodeKey(1 + next(KEYS)) : pubKeyBytes(pubKey)),
      ),
    ),
  ].slice(0, 1 + next(3))
  const text = keys.join(',')
  return next(6) > 0
    ? text
    : pick(next, ['', `${text},`, keys.join(', '), `${text},${keys[0]}`, text.replaceAll('=', '')])
}

/** A message of an operation: mostly well-formed, often against a rule. */
export function randomMessage(
  next: Random,
  operation: string,
  chain: TestChain,
  sender: Signer,
): Record<string, unknown> {
  const key = (): Uint8Array => nodeKey(1 + next(KEYS))
  switch (operation) {
    case 'transfer':
      return { to: anyAccount(next), value: amount(next) }
    case 'declareCandidacy':
      return {
        pubKey: key(),
        ...maybe(next, { maxAmount: amount(next) }),
        ...maybe(next, { compRate: pick(next, ['0', '0.50', '1', '1.000000000000000001', '2', '.5']) }),
        ...maybe(next, { description: description(next) }),
      }
    case 'updateCandidacy':
      return {
        ...maybe(next, { pubKey: key() }),
        ...maybe(next, { maxAmount: amount(next) }),
        ...maybe(next, { compRate: pick(next, ['0', '0.25', '0.5', '0.75', '1.0']) }),
        ...maybe(next, { description: description(next) }),
      }
    case 'updateCandidacyAccount':
      return { newCandidateAccount: anyAccount(next) }
    case 'acceptCandidacyAccountUpdate':
      return { accountUpdateRequestId: pendingOf(chain)[0]?.id ?? 1 + next(20) }
    case 'verifyCandidacy':
      return { candidateAddress: anyAccount(next), verified: pick(next, ['Y', 'N', 'n']) }
    case 'delegate':
      return randomDelegation(next, chain, ACCOUNTS)
    case 'withdraw':
      return randomWithdrawal(next, chain, sender, ACCOUNTS)
    case 'proposeChangeParam': {
      const [name, values] = pick(next, VALUES)
      return {
        name,
        value: pick(next, values),
        ...reason(next),
        ...point(next, chain, 'expireBlockHeight', 'expireTimestamp'),
      }
    }
    case 'proposeDeployLibEni':
      return { ...library(next), ...reason(next), ...point(next, chain, 'deployBlockHeight', 'deployTimestamp') }
    case 'proposeUpgradeProgram':
      return library(next)
    case 'proposeRetireProgram':
      return {
        preservedValidators: preserved(next, chain),
        ...reason(next),
        ...maybe(next, { retiredBlockHeight: chain.height + 1 + next(9) }),
      }
    case 'proposeTransferFund':
      return {
        transferFrom:
          next(3) === 0
            ? addressBytes(account(11).address)
            : next(2) === 0
              ? addressBytes(sender.address)
              : anyAccount(next),
        transferTo: anyAccount(next),
        amount: amount(next),
        ...reason(next),
        ...point(next, chain, 'expireBlockHeight', 'expireTimestamp'),
      }
    case 'vote': {
      const open = [...chain.store.scan(proposals)].filter(({ result }) => result === '' || next(20) === 0).slice(0, 4)
      return {
        proposalId:
          open.length > 0 && next(12) > 0 ? proposalIdBytes(pick(next, open).id) : new Uint8Array(32).fill(next(256)),
        answer: pick(next, ['Y', 'Y', 'Y', 'Y', 'N', 'y']),
      }
    }
    default:
      return randomFields(next, Object.entries(txEntryOf.get(operation)?.input ?? {}))
  }
}

const OPERATIONS = txEntries.map(({ operation }) => operation)
const WEIGHTED = [
  ...OPERATIONS,
  ...OPERATIONS.filter((name) => name.startsWith('propose')),
  ...new Array<string>(24).fill('vote'),
  'activateCandidacy',
  'activateCandidacy',
  'declareCandidacy',
  ...new Array<string>(5).fill('delegate'),
  ...new Array<string>(5).fill('withdraw'),
]

const isDelegating = (operation: string): boolean => operation === 'delegate' || operation === 'withdraw'
const WITHOUT_DELEGATIONS = WEIGHTED.filter((operation) => !isDelegating(operation))
/**
 * On a chain on which nobody has delegated it happens seldom, because delegations hide rules: no two candidacies have
 * equal shares any more, and none has little power.
 */
const hasDelegations = ({ store }: TestChain): boolean => store.count(delegations) > 0

/** A signed transaction and the name of its operation. */
export interface RandomTx {
  readonly operation: string
  readonly bytes: Uint8Array
}

/**
 * One transaction's bytes: rarely a wrong nonce, chain or byte. `nonces`: each sender's next one when all before are
 * executed.
 */
export function randomTx(next: Random, chain: TestChain, nonces: Map<string, number>): RandomTx {
  const picked = pick(next, WEIGHTED)
  const isSeldom = isDelegating(picked) && !hasDelegations(chain) && next(40) > 0
  const operation = isSeldom ? pick(next, WITHOUT_DELEGATIONS) : picked
  const signer = account(senderOf(next, operation, chain))
  const expected = nonces.get(signer.address) ?? 0
  const nonce = next(25) === 0 ? expected + next(3) : expected
  const bytes = signer.signTx({
    chainId: next(60) === 0 ? 'other' : CHAIN_ID,
    nonce,
    operation,
    message: randomMessage(next, operation, chain, signer),
  })
  if (next(40) === 0) bytes[next(bytes.length)] = next(256)
  nonces.set(signer.address, nonce + 1)
  return { operation, bytes }
}

/** The next nonce of a sender, which is used up. */
function takeNonce(nonces: Map<string, number>, { address }: Signer): number {
  const nonce = nonces.get(address) ?? 0
  nonces.set(address, nonce + 1)
  return nonce
}

const signAll = (nonces: Map<string, number>, moves: readonly Move[]): readonly RandomTx[] =>
  moves.map(({ signer, operation, message }) => ({
    operation,
    bytes: signer.signTx({ chainId: CHAIN_ID, nonce: takeNonce(nonces, signer), operation, message }),
  }))

/**
 * An owner gives its key up, by another key, a withdrawal or a hand-over that waits, and in the same block somebody else
 * tries to take the old key. Empty while nobody has a live candidacy.
 */
function randomTakeOver(next: Random, chain: TestChain, nonces: Map<string, number>): readonly RandomTx[] {
  const live = [...listLive(chain.store)]
  if (live.length === 0) return []
  const { id, ownerAddress, pubKey } = pick(next, live)
  const target = pendingOf(chain).find(({ candidacyId }) => candidacyId === id)
  const mover = account(numberOf.get((next(2) === 0 ? target?.toAddress : undefined) ?? ownerAddress) ?? 1)
  const given =
    mover.address === target?.toAddress
      ? { operation: 'acceptCandidacyAccountUpdate', message: { accountUpdateRequestId: target.id } }
      : pick(next, [
          { operation: 'updateCandidacy', message: { pubKey: nodeKey(1 + next(KEYS)) } },
          { operation: 'withdrawCandidacy', message: {} },
          { operation: 'updateCandidacyAccount', message: { newCandidateAccount: anyAccount(next) } },
        ])
  const taker = account(1 + next(ACCOUNTS))
  const taken = { pubKey: pubKeyBytes(pubKey) }
  const taking = pick(next, [
    { operation: 'declareCandidacy', message: { ...taken, maxAmount: tokens(20 + next(9000)).toString() } },
    { operation: 'updateCandidacy', message: taken },
  ])
  return signAll(nonces, [
    { signer: mover, ...given },
    { signer: taker, ...taking },
  ])
}

/** Somebody of the set proposes more than once in one block, which those with little power may not. */
function randomProposals(next: Random, chain: TestChain, nonces: Map<string, number>): readonly RandomTx[] {
  const operation = 'proposeChangeParam'
  const signer = account(senderOf(next, operation, chain))
  const moves = Array.from({ length: 2 + next(2) }, () => {
    const message = { name: 'max_vals', value: String(2 + next(6)), expireBlockHeight: chain.height + 2 + next(9) }
    return { signer, operation, message }
  })
  return signAll(nonces, moves)
}

/**
 * The transactions of one block: about so many, and now and then an attempt to take a key over, several proposals of
 * one candidacy, or comings and goings of delegators, among them.
 */
export const randomTxs = (
  next: Random,
  chain: TestChain,
  nonces: Map<string, number>,
  count: number,
): readonly RandomTx[] =>
  Array.from({ length: count }, () => {
    switch (next(20)) {
      case 0:
      case 1:
        return randomTakeOver(next, chain, nonces)
      case 2:
        return randomProposals(next, chain, nonces)
      case 3:
        if (!hasDelegations(chain)) return []
        return signAll(
          nonces,
          randomChurn(next, chain, (address) => account(numberOf.get(address) ?? 1)),
        )
      default:
        return [randomTx(next, chain, nonces)]
    }
  }).flat()

/**
 * Keys that miss the next commit: those that no node holds, and others at random, together below a third of the power,
 * as CometBFT needs the rest to decide. Throws where the keys that no node holds have a third by themselves: such a
 * chain has halted.
 */
export function randomAbsent(
  next: Random,
  set: ReadonlyMap<PubKey, number>,
  isDead = (key: PubKey): boolean => DEAD_KEYS.has(key),
): readonly PubKey[] {
  const total = [...set.values()].reduce((sum, power) => sum + power, 0)
  const absent = [...set.keys()].filter(isDead)
  let missing = absent.reduce((sum, key) => sum + (set.get(key) as number), 0)
  if (missing * 3 >= total && total > 0)
    throw new Error(`the chain has halted: nobody signs for ${missing} of ${total}`)
  for (const [key, power] of set) {
    if (isDead(key) || next(3) === 0 || (missing + power) * 3 >= total) continue
    missing += power
    absent.push(key)
  }
  return absent
}

/** Now and then evidence against a key that was, or was not, in the set. */
export function randomEvidence(next: Random, height: number): readonly Misbehavior[] {
  if (next(15) > 0 || height < 3) return []
  const address = addressBytes(addressOfKey(nodeKey(1 + next(KEYS))))
  return [
    {
      type: next(3),
      validator: { address, power: 1 },
      height: Math.max(1, height - next(6)),
      time: { seconds: 0, nanos: 0 },
      totalVotingPower: 1,
    },
  ]
}
