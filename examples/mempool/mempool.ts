/** A key-value store that keeps the mempool itself, for CometBFT 0.40: a transaction is `bid:key=value`, and high bids come first. */
import { createHash } from 'node:crypto'
import { type Application, baseApplication, ProposalStatus, startAbciServer } from '@svcd/abci'

// Strangers fill the mempool, so it has limits.
const WAITING_MAX = 1000
const TX_BYTES_MAX = 1000
/** From this code on, CometBFT lets a user send the same transaction again after half a second, and not only after five. */
const RETRY = 32_000

interface Offer {
  readonly tx: Uint8Array
  readonly bid: number
  readonly key: string
  readonly value: string
  isSent?: boolean // to the other nodes
}

let state = { height: 0, appHash: new Uint8Array(0), rows: new Map<string, string>() } // as committed
let next = { ...state, done: [] as readonly string[] } // as finalized, and not committed yet
const waiting = new Map<string, Offer>()

const idOf = (tx: Uint8Array): string => Buffer.from(tx).toString('latin1')
const byBid = (): Offer[] => [...waiting.values()].sort((a, b) => b.bid - a.bid)

const taken = { code: 0, log: '' }
const wrong = { code: 1, log: `expected bid:key=value, at most ${TX_BYTES_MAX} bytes` }

function read(tx: Uint8Array): Offer | undefined {
  const [, bid, key = '', value = ''] = /^(\d{1,9}):([^=]+)=([^=]+)$/.exec(idOf(tx)) ?? []
  return bid === undefined || tx.length > TX_BYTES_MAX ? undefined : { tx, bid: Number(bid), key, value }
}

/** Takes a transaction into the mempool, from a user by CheckTx or from another node by InsertTx. */
function insert(tx: Uint8Array): { code: number; log: string } {
  const offer = read(tx)
  if (offer === undefined) return wrong
  if (waiting.has(idOf(tx))) return taken
  if (waiting.size >= WAITING_MAX) {
    const lowest = byBid().at(-1) as Offer
    if (offer.bid <= lowest.bid) return { code: RETRY, log: `the mempool is full, bid more than ${lowest.bid}` }
    waiting.delete(idOf(lowest.tx))
  }
  // The bytes of a request are a view of a packet, which would be kept with them.
  waiting.set(idOf(tx), { ...offer, tx: Uint8Array.from(tx) })
  return taken
}

const application: Application = {
  info: () => ({ lastBlockHeight: state.height, lastBlockAppHash: state.appHash }),
  checkTx: ({ tx }) => insert(tx),
  insertTx: ({ tx }) => ({ code: insert(tx).code }),
  // CometBFT asks every half second for what it sends to the other nodes: each transaction once.
  reapTxs: ({ maxBytes }) => {
    const txs: Uint8Array[] = []
    let room = maxBytes === 0 ? Infinity : maxBytes
    for (const one of byBid().filter(({ isSent }) => isSent !== true)) {
      room -= one.tx.length
      if (room < 0) break
      one.isSent = true
      txs.push(one.tx)
    }
    return { txs }
  },
  // Such a node has no transactions for a block, so the application's own come in their place.
  prepareProposal: (request) => baseApplication.prepareProposal({ ...request, txs: byBid().map(({ tx }) => tx) }),
  // A proposer who favours others than the highest bids gets no votes.
  processProposal: ({ txs }) => {
    const bids = txs.map((tx) => read(tx)?.bid ?? Infinity)
    const isOrdered = bids.every((bid, at) => bid < Infinity && bid <= (bids[at - 1] ?? bid))
    return { status: isOrdered ? ProposalStatus.accept : ProposalStatus.reject }
  },
  finalizeBlock: ({ height, txs }) => {
    const rows = new Map(state.rows)
    let { appHash } = state
    const txResults = txs.map((tx) => {
      const offer = read(tx)
      if (offer === undefined) return wrong
      rows.set(offer.key, offer.value)
      appHash = createHash('sha256').update(appHash).update(tx).digest()
      return {}
    })
    next = { height, appHash, rows, done: txs.map(idOf) }
    return { txResults, appHash }
  },
  commit: () => {
    state = next
    for (const id of next.done) waiting.delete(id)
    return {}
  },
  query: ({ data }) => {
    const value = state.rows.get(idOf(data))
    return value === undefined ? { code: 1, log: 'no such key' } : { key: data, value: Buffer.from(value, 'latin1') }
  },
}

const [address = 'tcp://127.0.0.1:26658'] = process.argv.slice(2)
const server = await startAbciServer({ application, address })
console.log(`listening on ${server.address}`)
process.once('SIGTERM', () => server.close())
