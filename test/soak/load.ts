import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { devnetSigners } from '../../src/cli/devnet/chain.ts'

/** What the callers have met so far. */
export type Met = ReturnType<ReturnType<typeof startLoad>['met']>

/** Transfers a second. */
export const RATE = 50
/** Connections at most, of which every transfer that waits for its block takes one. */
export const CONNECTIONS = 200

const TURN_MS = 100
const READERS = 4
const READER_PAUSE_MS = 200
/** Those that stay; each is notified of every block and every transaction. */
export const SUBSCRIBERS = 4
/** After which the subscriber that comes and goes connects again. */
const STAYS_MS = 5_000

// The first owns the validator and is paid for it.
const ACCOUNTS = devnetSigners()
  .slice(1)
  .map(({ address }) => address)
const [READ = ''] = ACCOUNTS

const READS: readonly (readonly [string, readonly unknown[]])[] = [
  ['svc_queryValidators', []],
  ['svc_getBalance', [READ]],
  ['svc_queryParams', []],
  ['svc_status', []],
  ['svc_getBlock', ['latest']],
  ['svc_getTransactions', [READ]],
  ['svc_getProof', ['accounts', READ]],
  ['svc_queryProposals', []],
  ['svc_getTransactionCount', [READ, 'pending']],
  ['svc_getSupply', []],
]

interface Answer {
  readonly result?: { readonly height?: number } | null
  readonly error?: { readonly code: number }
}

const callText = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** Keeps a websocket with two subscriptions; `onText` is told of each message. Returns what closes it. */
function subscribe(url: string, onText: () => void): () => void {
  const socket = new WebSocket(url.replace(/^http/, 'ws'))
  socket.addEventListener('open', () => {
    for (const topic of ['newBlock', 'tx']) socket.send(callText('svc_subscribe', [topic]))
  })
  socket.addEventListener('message', onText)
  return () => socket.close()
}

/**
 * Sends RATE transfers a second through the gateway at `url`, whatever becomes of those before, while readers ask one
 * question after the other and subscribers listen. One of them comes and goes.
 */
export function startLoad(url: string) {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 })
  const refused = new Map<string, number>()
  let [due, landed, read, told, isOver] = [0, 0, 0, 0, false]
  const refuse = (code: string): void => {
    if (!isOver) refused.set(code, (refused.get(code) ?? 0) + 1)
  }
  const call = async (method: string, params: unknown): Promise<Answer['result'] | undefined> => {
    try {
      const { statusCode, body } = await pool.request({
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: callText(method, params),
      })
      const text = await body.text()
      if (statusCode !== 200) return void refuse(`HTTP ${statusCode}`)
      const { result, error } = JSON.parse(text) as Answer
      if (error !== undefined) return void refuse(String(error.code))
      return result
    } catch (error) {
      return void refuse((error as { code?: string }).code ?? String(error))
    }
  }
  const transfer = async (turn: number): Promise<void> => {
    const [from, to] = [turn, turn + 1].map((at) => ACCOUNTS[at % ACCOUNTS.length])
    const result = await call('svc_transfer', [{ from, to, value: '1' }])
    if (result === undefined) return
    if ((result?.height ?? 0) > 0) landed += 1
    else refuse('height 0')
  }
  const beganMs = performance.now()
  const sending = setInterval(() => {
    const wanted = Math.floor(((performance.now() - beganMs) / 1000) * RATE)
    while (due < wanted) void transfer(due++)
  }, TURN_MS)
  const reading = Array.from({ length: READERS }, async (_, reader) => {
    for (let turn = reader; !isOver; turn++) {
      const [method, params] = READS[turn % READS.length] as (typeof READS)[0]
      if ((await call(method, params)) !== undefined) read += 1
      await sleep(READER_PAUSE_MS)
    }
  })
  const onText = (): void => void (told += 1)
  const stays = Array.from({ length: SUBSCRIBERS }, () => subscribe(url, onText))
  let leave = subscribe(url, onText)
  const coming = setInterval(() => {
    leave()
    leave = subscribe(url, onText)
  }, STAYS_MS)
  return {
    /**
     * Transfers that should have been sent, those that are in a block, answers to reads, notifications of
     * subscriptions, and by code the calls that were not carried out.
     */
    met: () => ({ due, landed, read, told, refused: refused as ReadonlyMap<string, number> }),
    /** Resolves when a transfer is in a block, a read is answered, and a subscriber is notified. */
    flows: async () => {
      while (landed === 0 || read === 0 || told === 0) await sleep(TURN_MS)
    },
    close: async () => {
      isOver = true
      clearInterval(sending)
      clearInterval(coming)
      for (const end of [...stays, leave]) end()
      await Promise.all(reading)
      await pool.destroy()
    },
  }
}
