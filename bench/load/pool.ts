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

/** Candidacies of the mix, in equal parts for the lanes: they vote, update and propose. */
export const MIX_OWNERS = 40

/** Candidacies with which a chain of many delegations has them, beside the node's. */
export const STAKED_WITH = 199

/**
 * What a pool holds: `transfer` and `mix` (60 % transfer, 20 % vote, 10 % update, 10 % propose) are ours, `kv` the
 * kvstores'. `send` are our transfers among PEER_SENDERS accounts, and `sdk` the same of cosmos-sdk. `new` are our
 * transfers to accounts that are not there yet, and `stake` delegations to validators with which their senders have none.
 */
export type PoolKind = 'transfer' | 'mix' | 'kv' | 'send' | 'sdk' | 'new' | 'stake'

/** Transactions in base64, made before they are needed: the same bytes for every fresh node. */
export interface Pool {
  /** The next one for a lane, of so many. */
  take(lane: number, lanes: number): string
  /** Makes the next `count`, so that none is made under load. */
  prepare(count: number): void
  /** Begins anew. */
  reset(): void
}

const VALUE = '1000000000000000000'
const SPREAD = 7919

/** Whom a sender sends to, among so many. */
export const recipientOf = (sender: number, senders: number): number => (sender * SPREAD + 1) % senders

const transferTo = (to: Uint8Array, sender: number, nonce: number): Uint8Array =>
  signerAt('sender', sender).signTx({
    chainId: CHAIN_ID,
    nonce,
    operation: 'transfer',
    message: { to, value: VALUE },
  })

const transfer = (sender: number, nonce: number, senders = SENDERS): Uint8Array =>
  transferTo(addressBytes(signerAt('sender', recipientOf(sender, senders)).address), sender, nonce)

const transferToNew = (at: number): Uint8Array =>
  transferTo(sha256(utf8(`new account ${at}`)).subarray(0, 20), at % SENDERS, Math.floor(at / SENDERS))

/** A delegation of 1 token: the n-th of a sender goes to another validator of delegationsGenesis than those before. */
function delegation(at: number): Uint8Array {
  const [sender, nonce] = [at % SENDERS, Math.floor(at / SENDERS)]
  const { address } = signerAt('validator', (sender + nonce) % STAKED_WITH)
  const message = { validatorAddress: addressBytes(address), amount: VALUE }
  return signerAt('sender', sender).signTx({ chainId: CHAIN_ID, nonce, operation: 'delegate', message })
}

/** A proposal that stays open: what the mix votes on. The node's own candidacy makes it, before the load. */
export const openProposal = (): Uint8Array =>
  signerAt('sender', 0).signTx({
    chainId: CHAIN_ID,
    nonce: 0,
    operation: 'proposeChangeParam',
    message: { name: 'gas_price', value: '2000000001', reason: 'to be voted on', expireBlockHeight: 500_000 },
  })

interface Lane {
  at: number
  readonly ownerNonces: Map<number, number>
}

/**
 * The `at`-th of a lane of the mix, by tenths: six transfers, two votes, an update, a proposal. Its owners act in turn.
 */
function mixed(lane: number, { at, ownerNonces }: Lane, proposalId: Uint8Array): Uint8Array {
  const tenth = at % 10
  if (tenth < 6) {
    const place = (Math.floor(at / 10) * 6 + tenth) * LANES + lane
    // The first sender owns the node's candidacy and made the proposal.
    return transfer(1 + (place % (SENDERS - LANES)), Math.floor(place / (SENDERS - LANES)))
  }
  // Each owner proposes once in 400 transactions: two blocks of a thousand and what waits behind them stay below 20
  // open proposals.
  const owner = (lane * MIX_OWNERS) / LANES + ((Math.floor(at / 10) + tenth - 6) % (MIX_OWNERS / LANES))
  const nonce = ownerNonces.get(owner) ?? 0
  ownerNonces.set(owner, nonce + 1)
  const [operation, message] =
    tenth < 8
      ? (['vote', { proposalId, answer: 'Y' }] as const)
      : tenth === 8
        ? ([
            'updateCandidacy',
            { description: { name: `owner ${owner}`, website: `https://example.com/${nonce}` } },
          ] as const)
        : ([
            'proposeChangeParam',
            { name: 'gas_price', value: String(2_000_000_002 + nonce), reason: 'bench' },
          ] as const)
  return signerAt('owner', owner).signTx({ chainId: CHAIN_ID, nonce, operation, message })
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

function mixPool(): Pool {
  const proposalId = sha256(openProposal())
  const rows = Array.from({ length: LANES }, (_, lane) => {
    const state: Lane = { at: 0, ownerNonces: new Map() }
    return sharedPool(() => {
      const tx = mixed(lane, state, proposalId)
      state.at++
      return tx
    })
  })
  return {
    prepare: (count) => rows.forEach((row) => row.prepare(Math.ceil(count / LANES))),
    take: (lane, lanes) => (rows[lane] as Pool).take(lane, lanes),
    reset: () => rows.forEach((row) => row.reset()),
  }
}

/**
 * A pool of PEER_SENDERS senders with several transactions under way. Each sender belongs to one lane, which keeps its
 * sequence in order. `make` signs the transactions from the `first`-th on, of which the n-th is that of the sender
 * n % PEER_SENDERS.
 */
function orderedPool(make: (first: number, count: number) => readonly string[]): Pool {
  const made: string[] = []
  let sequences = new Uint32Array(PEER_SENDERS)
  let turns: number[] = []
  const prepare = (count: number): void => {
    // Lanes are not equally fast, so some senders take more than their part.
    const rows = sequences.reduce((most, one) => Math.max(most, one), 0) + Math.ceil((1.5 * count) / PEER_SENDERS)
    const missing = rows * PEER_SENDERS - made.length
    if (missing > 0) for (const tx of make(made.length, missing)) made.push(tx)
  }
  return {
    prepare,
    take: (lane, lanes) => {
      const turn = turns[lane] ?? 0
      turns[lane] = turn + 1
      const sender = lane + lanes * (turn % Math.floor(PEER_SENDERS / lanes))
      const at = (sequences[sender] as number) * PEER_SENDERS + sender
      if (at >= made.length) prepare(PEER_SENDERS)
      sequences[sender] = (sequences[sender] as number) + 1
      return made[at] as string
    },
    reset: () => {
      sequences = new Uint32Array(PEER_SENDERS)
      turns = []
    },
  }
}

/** The transfer of one of PEER_SENDERS senders that has sent `sequence` before. */
export const sendOf = (sender: number, sequence: number): Uint8Array => transfer(sender, sequence, PEER_SENDERS)

const sends = (first: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => {
    const at = first + n
    return Buffer.from(sendOf(at % PEER_SENDERS, Math.floor(at / PEER_SENDERS))).toString('base64')
  })

const sdkSends = (first: number, count: number): readonly string[] =>
  execFileSync(sdkPath(), ['sign', 'send', String(first), String(count)], { encoding: 'latin1', maxBuffer: 1 << 30 })
    .trimEnd()
    .split('\n')

/** A pool of a kind, at its beginning. */
export function makePool(kind: PoolKind): Pool {
  if (kind === 'mix') return mixPool()
  if (kind === 'send' || kind === 'sdk') return orderedPool(kind === 'send' ? sends : sdkSends)
  if (kind === 'new') return sharedPool(transferToNew)
  if (kind === 'stake') return sharedPool(delegation)
  return sharedPool(kind === 'kv' ? keyValue : (at) => transfer(at % SENDERS, Math.floor(at / SENDERS)))
}
