import { randomBytes } from 'node:crypto'
import { signersOf } from '../../bench/accounts.ts'
import { type Sender, severalOf, walletAt } from '../../bench/signers.ts'
import { addressBytes } from '../../src/values/address.ts'
import { toBase64, toHex } from '../../src/base/bytes.ts'
import { encodePaths } from '../../src/codec/queryBatch.ts'
import { BATCH_CALLS_MAX, TEXT_MARKS_MAX } from '../../src/gateway/http/limits.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { HONEST_SENDERS, REPLAYED, VALIDATOR } from './accounts.ts'
import { type Manner, STAMP } from './job.ts'

/** One attack on one port of a node. */
export interface Attack {
  /** What `--only` takes. */
  readonly name: string
  /** The words of the table. */
  readonly title: string
  /** The gateway, or CometBFT's own RPC. */
  readonly port: 'gateway' | 'rpc'
  readonly manner: Manner
  readonly connections: number
  /** As in AttackJob. */
  readonly bodies: readonly string[]
  /** As in AttackJob. */
  readonly subscriptions?: readonly string[]
  /** From how many addresses, where that is what is tried. */
  readonly addresses?: number
}

const CALLS_A_BATCH = 50
const BODIES = 16
/** Owners of candidacies who deactivate and activate in turn, ten on a connection, and how often each of them does. */
const FLOODING_OWNERS = 640
const FLOODS_OF_ONE = 40
/** Senders who keep the chain busy, one on a connection, each with so many transfers at a time, and how often. */
const BUSY_SENDERS = 64
const BUSY_TRANSFERS = 4
const BUSY_TIMES = 80
const PATHS_A_BATCH = 16
const SUBSCRIPTIONS_A_SOCKET = 16
/** On each of eight websockets of an address: together nearly as many as it may have. */
const SUBSCRIPTIONS_HELD = 62
/** Old transactions that strangers send again: more than one sender may have waiting at a gateway. */
const REPLAYED_TXS = 2_000
const KEYS_MAX = 16

const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at))
const [STRANGER, RECIPIENT] = signersOf('stranger', 2) as [Signer, Signer]
const WALLET = walletAt('stranger', 0)
const FLOODING = signersOf('candidate', FLOODING_OWNERS)
const BUSY = signersOf('busy', BUSY_SENDERS)
/** As many keys as an account may have. */
const SEVERAL = severalOf(
  KEYS_MAX,
  many(KEYS_MAX, (at) => walletAt('stranger', at)),
)

const call = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const query = (path: string, more: { readonly data?: string; readonly prove?: boolean } = {}): string =>
  call('abci_query', { path, data: '', height: '0', prove: false, ...more })
const batchOf = (paths: readonly string[]): string => query('/batch', { data: toHex(encodePaths(paths)) })

/** A JSON-RPC batch of raw transactions. `hex`: what each holds, without 0x. */
const rawBatch = (hex: (at: number) => string, calls = CALLS_A_BATCH): string =>
  `[${many(calls, (at) => call('svc_sendRawTransaction', [`0x${hex(at)}`])).join(',')}]`

const strangersTx = (from: Sender, chainId: string, nonce: number): Uint8Array =>
  from.signTx({ chainId, nonce, operation: 'transfer', message: { to: addressBytes(RECIPIENT.address), value: '1' } })

/** A text with a stamp before its last `kept` characters. */
const stampedAt = (kept: number, text: string): string =>
  text.slice(0, text.length - kept - STAMP.length) + STAMP + text.slice(text.length - kept)

// The last bytes are the end of the signature: another one each time, and never a good one. A wallet's ends with a byte
// that says how the key is recovered: with that one wrong, nobody would look at the rest.
const unsignedTx = (chainId: string, nonce: number): string =>
  stampedAt(0, toHex(strangersTx(STRANGER, chainId, nonce)))
const unsignedByWallet = (from: Sender, chainId: string, nonce: number): string =>
  stampedAt(2, toHex(strangersTx(from, chainId, nonce)))

/** Real transactions that change one flag, in the order of their nonces. */
const floods = (chainId: string): readonly string[] => {
  return many(FLOODING_OWNERS * FLOODS_OF_ONE, (at) => {
    const nonce = Math.floor(at / FLOODING_OWNERS)
    const operation = nonce % 2 === 0 ? 'deactivateCandidacy' : 'activateCandidacy'
    const tx = (FLOODING[at % FLOODING_OWNERS] as Signer).signTx({ chainId, nonce, operation, message: {} })
    return call('broadcast_tx_sync', { tx: toBase64(tx) })
  })
}

/** Batches of transfers that wait for their block, so that as many come in each block, however fast blocks are made. */
const busyTransfers = (chainId: string): readonly string[] =>
  many(BUSY_SENDERS * BUSY_TIMES, (at) => {
    const [from, first] = [BUSY[at % BUSY_SENDERS] as Signer, Math.floor(at / BUSY_SENDERS) * BUSY_TRANSFERS]
    return rawBatch((more) => toHex(strangersTx(from, chainId, first + more)), BUSY_TRANSFERS)
  })

/** The first transactions of an honest account. The chain holds them before the attack on them begins. */
export const replayedTxs = (chainId: string): readonly Uint8Array[] => {
  const message = { to: addressBytes(VALIDATOR), value: '1' }
  return many(REPLAYED_TXS, (nonce) => REPLAYED.signTx({ chainId, nonce, operation: 'transfer', message }))
}

/** JSON-RPC batches of all of them. */
const replays = (txs: readonly Uint8Array[]): readonly string[] =>
  many(txs.length / CALLS_A_BATCH, (at) => rawBatch((call) => toHex(txs[at * CALLS_A_BATCH + call] as Uint8Array)))

/** A call of as many keys as are parsed, one within the other: no body costs more to parse. */
function nestedKeys(): string {
  const head = '{"jsonrpc":"2.0","id":1,"method":"svc_getBalance","params":['
  const marks = head.match(/[,[{]/g)?.length ?? 0
  const keys = Array.from({ length: TEXT_MARKS_MAX - marks }, (_, at) => `{"${at.toString(36)}_":`)
  return `${head}${keys.join('')}0${'}'.repeat(keys.length)}]}`
}

/** Attacks on a port: by 64 connections that ask as fast as answers come, unless `more` says otherwise. */
const attackOn =
  (port: Attack['port']) =>
  (name: string, title: string, bodies: readonly string[], more: Partial<Attack> = {}): Attack => ({
    name,
    title,
    port,
    manner: 'ask',
    connections: 64,
    bodies,
    ...more,
  })
const [atGateway, atNode] = [attackOn('gateway'), attackOn('rpc')]
const CROWD = { connections: 450 } as const

/** Strangers who pay for what they send. */
export const FUNDED = [...FLOODING, ...BUSY].map(({ address }) => address)

/** Every attack, in the order in which a chain of `candidacies` candidacies meets them. */
export function attacksOn(chainId: string, candidacies: number): readonly Attack[] {
  const owners = signersOf('candidate', PATHS_A_BATCH * BODIES).map(({ address }) => address)
  const ids = many(64, (at) => 1 + Math.floor((at * (candidacies - 1)) / 64))
  const lists = [call('svc_queryValidators', [])]
  const rawLists = [query('/stake/validators')]
  return [
    atGateway('lists', 'whole lists', lists),
    atNode('rpc-lists', 'whole lists, at CometBFT', rawLists),
    atNode('batch-lists', '`/batch` of 16 lists, at CometBFT', [
      batchOf(many(PATHS_A_BATCH, () => '/stake/validators')),
    ]),
    atNode(
      'batch',
      '`/batch` of 16 candidacies, at CometBFT',
      many(BODIES, (at) =>
        batchOf(owners.slice(at * PATHS_A_BATCH, (at + 1) * PATHS_A_BATCH).map((owner) => `/stake/validator/${owner}`)),
      ),
    ),
    atGateway('proposals', 'all proposals', [call('svc_queryProposals', [])]),
    atNode('rpc-proposals', 'all proposals, at CometBFT', [query('/governance/proposals')]),
    atGateway(
      'proofs',
      'proofs',
      ids.map((id) => call('svc_getProof', ['candidacies', String(id)])),
    ),
    atGateway(
      'queries',
      'batches of 200 proofs, of one address',
      many(8, (at) =>
        JSON.stringify(
          many(BATCH_CALLS_MAX, (id) => ({
            jsonrpc: '2.0',
            id,
            method: 'svc_getProof',
            params: ['candidacies', String(ids[(at + id) % ids.length])],
          })),
        ),
      ),
      { connections: 90, addresses: 1 },
    ),
    atNode(
      'rpc-proofs',
      'proofs, at CometBFT',
      ids.map((id) => query(`/store/candidacies/${id}`, { prove: true })),
    ),
    atGateway(
      'histories',
      'histories of accounts, 90 connections of one address',
      HONEST_SENDERS.map((address) => call('svc_getTransactions', { address, limit: 100 })),
      { connections: 90, addresses: 1 },
    ),
    atGateway(
      'awards',
      'awards, 90 connections of one address',
      [call('svc_getAwards', { validatorAddress: VALIDATOR, limit: 100 })],
      { connections: 90, addresses: 1 },
    ),
    atNode(
      'rpc-histories',
      'histories of accounts, at CometBFT',
      HONEST_SENDERS.map((address) => query(`/history/account/${address}?limit=100`)),
    ),
    atGateway(
      'garbage',
      'raw garbage, 450 × 50',
      many(BODIES, () => rawBatch(() => `${STAMP}${randomBytes(29).toString('hex')}`)),
      CROWD,
    ),
    atGateway(
      'unsigned',
      'wrong signatures, 450 × 50',
      many(BODIES, (body) => rawBatch((at) => unsignedTx(chainId, body * CALLS_A_BATCH + at))),
      CROWD,
    ),
    atGateway(
      'wallets',
      'wrong signatures of wallets, 450 × 50',
      many(BODIES, (body) => rawBatch((at) => unsignedByWallet(WALLET, chainId, body * CALLS_A_BATCH + at))),
      CROWD,
    ),
    atGateway(
      'several',
      'accounts of 16 keys, the last signature wrong, 450 × 50',
      many(BODIES, (body) => rawBatch((at) => unsignedByWallet(SEVERAL, chainId, body * CALLS_A_BATCH + at))),
      CROWD,
    ),
    atNode(
      'rpc-several',
      'accounts of 16 keys, the last signature wrong, at CometBFT',
      // The stamp stands in the number s of the last signature.
      many(BODIES, (nonce) =>
        call('broadcast_tx_sync', { tx: stampedAt(8, toBase64(strangersTx(SEVERAL, chainId, nonce))) }),
      ),
    ),
    atGateway('replays', 'old transactions of an honest account, 450 × 50', replays(replayedTxs(chainId)), CROWD),
    atGateway('keys', 'bodies of nothing but keys', [nestedKeys()]),
    atNode(
      'rpc-garbage',
      'garbage to `broadcast_tx_sync`',
      many(BODIES, () => call('broadcast_tx_sync', { tx: `${STAMP}${toBase64(randomBytes(27))}` })),
    ),
    atNode('activations', `${FLOODING_OWNERS} owners who deactivate and activate, at CometBFT`, floods(chainId)),
    atGateway('slow-readers', 'slow readers, 150', lists, { manner: 'neverRead', connections: 150 }),
    atGateway('socket-slow-readers', 'slow readers, 150 websockets', lists, {
      manner: 'neverReadSocket',
      connections: 150,
    }),
    atNode('rpc-slow-readers', 'slow readers, 150, at CometBFT', rawLists, { manner: 'neverRead', connections: 150 }),
    atGateway('slow-writers', 'slow writers, 1,000', lists, { manner: 'writeSlowly', connections: 1000 }),
    atGateway(
      'subscribers',
      'subscribers who hang up, 64',
      many(SUBSCRIPTIONS_A_SOCKET, () => call('svc_subscribe', ['newBlock'])),
      { manner: 'hangUp' },
    ),
    atGateway(
      'socket-subscriptions',
      `64 × ${SUBSCRIPTIONS_HELD} subscriptions to the transactions of a busy chain`,
      busyTransfers(chainId),
      { subscriptions: many(SUBSCRIPTIONS_HELD, () => call('svc_subscribe', ['tx'])) },
    ),
  ]
}
