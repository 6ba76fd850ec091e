import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { addressBytes } from '../../src/values/address.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { CHAIN_ID, signerAt } from '../accounts.ts'
import { sdkPath } from '../peers.ts'

/**
 * Accounts that send in turn: a sender's next transaction is made when all the others had theirs, so it never overtakes
 * itself.
 */
export const SENDERS = 20_000

/**
 * The senders of the load that the chain of cosmos-sdk gets too. Each has several transactions under way. Source:
 * bench/sdk/sign.go, which signs for as many.
 */
export const PEER_SENDERS = 1024

/** Callers of the gateway, each with an account that it signs for. */
export const GATEWAY_SENDERS = 64

/** Connections that the saturating load uses; a lane's transactions stay in order. */
export const LANES = 4

/**
 * How many of PEER_SENDERS accounts vote in the mix: each owns a candidacy, to which the others have delegated. Source:
 * bench/sdk/sign.go for these two.
 */
export const MIX_VOTERS = 192
/** Proposals of the mix that stay open, as many as one candidacy may have. */
export const MIX_PROPOSALS = 20

/** Candidacies with which a chain of many delegations has them, beside the node's. */
export const STAKED_WITH = 199

/**
 * What a pool holds: `transfer` are ours and `kv` the kvstores'. `send` are our transfers among PEER_SENDERS accounts,
 * `mix` transfers, delegations, withdrawals of delegations and votes of as many, in equal parts, and `sdkSend` and
 * `sdkMix` the same of cosmos-sdk. `new` are our transfers to accounts that are not there yet, and `stake` delegations to
 * validators with which their senders have none.
 */
export type PoolKind = 'transfer' | 'kv' | 'send' | 'mix' | 'sdkSend' | 'sdkMix' | 'new' | 'stake'

/** Transactions in base64, made before they are needed: the same bytes for every fresh node. */
export interface Pool {
  /** The next one for a lane, of so many. */
  take(lane: number, lanes: number): string
  /** Makes the next `count`, so that none is made under load. */
  prepare(count: number): void
  reset(): void
}

const VALUE = '1000000000000000000'
const SPREAD = 7919

/** Whom a sender sends to, among so many. */
export const recipientOf = (sender: number, senders: number): number => (sender * SPREAD + 1) % senders

const signed = (
  sender: number,
  nonce: number,
  operation: string,
  message: Readonly<Record<string, unknown>>,
): Uint8Array => signerAt('sender', sender).signTx({ chainId: CHAIN_ID, nonce, operation, message })

const transferTo = (to: Uint8Array, sender: number, nonce: number): Uint8Array =>
  signed(sender, nonce, 'transfer', { to, value: VALUE })

const transfer = (sender: number, nonce: number, senders = SENDERS): Uint8Array =>
  transferTo(addressBytes(signerAt('sender', recipientOf(sender, senders)).address), sender, nonce)

const transferToNew = (at: number): Uint8Array =>
  transferTo(sha256(utf8(`new account ${at}`)).subarray(0, 20), at % SENDERS, Math.floor(at / SENDERS))

/** A delegation of 1 token: the n-th of a sender goes to another validator of delegationsGenesis than those before. */
function delegation(at: number): Uint8Array {
  const [sender, nonce] = [at % SENDERS, Math.floor(at / SENDERS)]
  const { address } = signerAt('validator', (sender + nonce) % STAKED_WITH)
  return signed(sender, nonce, 'delegate', { validatorAddress: addressBytes(address), amount: VALUE })
}

/** What the mix votes on. The owner of the node's candidacy proposes it before the load. */
export const openProposals = (): readonly Uint8Array[] =>
  Array.from({ length: MIX_PROPOSALS }, (_, nonce) =>
    signed(PEER_SENDERS, nonce, 'proposeChangeParam', {
      name: 'gas_price',
      value: String(2_000_000_001 + nonce),
      reason: 'to be voted on',
      expireBlockHeight: 500_000,
    }),
  )

const MIX_DELEGATORS = PEER_SENDERS - MIX_VOTERS

/** Whose turn it is among the `count` accounts that the lanes share equally, and how often the account had it before. */
const turnOf = (turn: number, lane: number, count: number): readonly [account: number, before: number] => [
  lane + LANES * (turn % (count / LANES)),
  Math.floor((turn * LANES) / count),
]

/**
 * The `at`-th transaction of the mix, of which the n-th is that of the lane n % LANES. In each lane a transfer, a
 * delegation, a withdrawal of one and a vote follow each other. The delegators of a lane are one more than a multiple of
 * three, so each of them transfers, delegates and withdraws in turn, always with the validator that it has delegated to
 * since genesis.
 */
function mixed(at: number, proposalIds: readonly Uint8Array[]): Uint8Array {
  const [lane, place] = [at % LANES, Math.floor(at / LANES)]
  const [turn, part] = [Math.floor(place / 4), place % 4]
  if (part === 3) {
    const [voter, nonce] = turnOf(turn, lane, MIX_VOTERS)
    return signed(voter, nonce, 'vote', { proposalId: proposalIds[(voter + nonce) % MIX_PROPOSALS], answer: 'Y' })
  }
  const [delegator, nonce] = turnOf(turn * 3 + part, lane, MIX_DELEGATORS)
  const sender = MIX_VOTERS + delegator
  if (part === 0) return transfer(sender, nonce, PEER_SENDERS)
  const validatorAddress = addressBytes(signerAt('sender', delegator % MIX_VOTERS).address)
  return signed(sender, nonce, part === 1 ? 'delegate' : 'withdraw', { validatorAddress, amount: VALUE })
}

/** Bytes of our transfers from a sender's second one on: what the kvstores' transactions are padded to. */
export const TX_BYTES = transfer(1, 1).length

// The key differs in every transaction; what follows is padding that no compression shortens.
const keyValue = (at: number): Uint8Array =>
  Buffer.from(`key${at.toString().padStart(12, '0')}=${randomBytes(TX_BYTES).toString('hex')}`.slice(0, TX_BYTES))

/** A pool whose lanes all take from one row. */
function sharedPool(make: (at: number) => Uint8Array): Pool {
  const made: string[] = []
  let next = 0
  const prepare = (count: number): void => {
    while (made.length < next + count) made.push(Buffer.from(make(made.length)).toString('base64'))
  }
  return {
    prepare,
    take: () => {
      prepare(1)
      return made[next++] as string
    },
    reset: () => {
      next = 0
    },
  }
}

/**
 * A pool of accounts with several transactions under way, in `rows` whose transactions stay in order: that of each
 * sender, or of each lane of the mix. Each row belongs to one lane. `make` signs the transactions from the `first`-th on,
 * of which the n-th is in the row n % rows.
 */
function orderedPool(rows: number, make: (first: number, count: number) => readonly string[]): Pool {
  const made: string[] = []
  let taken = new Uint32Array(rows)
  let turns: number[] = []
  const prepare = (count: number): void => {
    // Lanes are not equally fast, so some rows give more than their part.
    const length = taken.reduce((most, one) => Math.max(most, one), 0) + Math.ceil((1.5 * count) / rows)
    const missing = length * rows - made.length
    if (missing > 0) for (const tx of make(made.length, missing)) made.push(tx)
  }
  return {
    prepare,
    take: (lane, lanes) => {
      const turn = turns[lane] ?? 0
      turns[lane] = turn + 1
      const row = lane + lanes * (turn % Math.floor(rows / lanes))
      const at = (taken[row] as number) * rows + row
      if (at >= made.length) prepare(PEER_SENDERS)
      taken[row] = (taken[row] as number) + 1
      return made[at] as string
    },
    reset: () => {
      taken = new Uint32Array(rows)
      turns = []
    },
  }
}

/** The transfer of one of PEER_SENDERS senders that has sent `sequence` before. */
export const sendOf = (sender: number, sequence: number): Uint8Array => transfer(sender, sequence, PEER_SENDERS)

const ours =
  (make: (at: number) => Uint8Array) =>
  (first: number, count: number): readonly string[] =>
    Array.from({ length: count }, (_, n) => Buffer.from(make(first + n)).toString('base64'))

const ofSdk =
  (load: 'send' | 'mix') =>
  (first: number, count: number): readonly string[] =>
    execFileSync(sdkPath(), ['sign', load, String(first), String(count)], { encoding: 'latin1', maxBuffer: 1 << 30 })
      .trimEnd()
      .split('\n')

function mixPool(): Pool {
  const proposalIds = openProposals().map((tx) => sha256(tx))
  return orderedPool(
    LANES,
    ours((at) => mixed(at, proposalIds)),
  )
}

const KINDS: Readonly<Record<PoolKind, () => Pool>> = {
  transfer: () => sharedPool((at) => transfer(at % SENDERS, Math.floor(at / SENDERS))),
  kv: () => sharedPool(keyValue),
  send: () =>
    orderedPool(
      PEER_SENDERS,
      ours((at) => sendOf(at % PEER_SENDERS, Math.floor(at / PEER_SENDERS))),
    ),
  mix: mixPool,
  sdkSend: () => orderedPool(PEER_SENDERS, ofSdk('send')),
  sdkMix: () => orderedPool(LANES, ofSdk('mix')),
  new: () => sharedPool(transferToNew),
  stake: () => sharedPool(delegation),
}

export const makePool = (kind: PoolKind): Pool => KINDS[kind]()
