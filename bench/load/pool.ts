import { randomBytes } from 'node:crypto'
import { addressBytes } from '../../src/base/address.ts'
import { sha256 } from '../../src/base/bytes.ts'
import { CHAIN_ID, signerAt } from '../accounts.ts'

/**
 * Accounts that send in turn: a sender's next transaction is made when all the others had theirs, so it never overtakes
 * itself.
 */
export const SENDERS = 20_000

/** Callers of the gateway, each with an account that it signs for. */
export const GATEWAY_SENDERS = 64

/** Connections that the saturating load uses; a lane's transactions stay in order. */
export const LANES = 4

/** Candidacies of the mix, in equal parts for the lanes: they vote, update and propose. */
export const MIX_OWNERS = 40

/**
 * What a pool holds: `transfer` and `mix` (60 % transfer, 20 % vote, 10 % update, 10 % propose) are ours, `kv` the
 * kvstores'.
 */
export type PoolKind = 'transfer' | 'mix' | 'kv'

/** Transactions in base64, made before they are needed: the same bytes for every fresh node. */
export interface Pool {
  /** The next one for a lane. */
  take(lane: number): string
  /** Makes the next `count`, so that none is made under load. */
  prepare(count: number): void
  /** Begins anew. */
  reset(): void
}

const VALUE = '1000000000000000000'
const SPREAD = 7919

const transfer = (sender: number, nonce: number): Uint8Array =>
  signerAt('sender', sender).signTx({
    chainId: CHAIN_ID,
    nonce,
    operation: 'transfer',
    message: { to: addressBytes(signerAt('sender', (sender * SPREAD + 1) % SENDERS).address), value: VALUE },
  })

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
    take: (lane) => (rows[lane] as Pool).take(lane),
    reset: () => rows.forEach((row) => row.reset()),
  }
}

/** A pool of a kind, at its beginning. */
export function makePool(kind: PoolKind): Pool {
  if (kind === 'mix') return mixPool()
  return sharedPool(kind === 'kv' ? keyValue : (at) => transfer(at % SENDERS, Math.floor(at / SENDERS)))
}
