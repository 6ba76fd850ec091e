import { Pool } from 'undici'
import { watchBlocks } from '../../bench/load/blocks.ts'
import { percentileOf } from '../../bench/stats.ts'
import { HONEST_SENDERS } from './accounts.ts'
import type { StressChain } from './chain.ts'
import type { slowerThan } from './limits.ts'

/** A time in ms that something took, from `fromMs` on. */
interface Took {
  readonly fromMs: number
  readonly toMs: number
}

/** An honest call. `refused`: with what it was not carried out. */
interface Call extends Took {
  readonly kind: 'transfer' | 'history' | 'balance'
  readonly refused: string | undefined
}

/** Honest callers of a chain, until they are closed. */
export type Honest = Awaited<ReturnType<typeof startHonest>>

/** A span of the run, and what honest callers met in it. */
export type Met = ReturnType<Honest['met']>

// Open loop: a call is made when its time has come, whatever became of those before it, so that a stall is met by many
// calls.
const CALL_EVERY_MS = 200
const CALL_MS_MAX = 60_000
const SHARE = 0.95

interface Answer {
  readonly result?: { readonly check_tx?: { readonly code?: number }; readonly deliver_tx?: { readonly code?: number } }
  readonly error?: { readonly code: number }
}

function codeOf(status: number, text: string): string | undefined {
  if (status !== 200) return `HTTP ${status}`
  const { result, error } = JSON.parse(text) as Answer
  const code = error?.code ?? result?.check_tx?.code ?? result?.deliver_tx?.code ?? 0
  return code === 0 ? undefined : String(code)
}

/**
 * Watches the blocks by their events, and makes five transfers and asks for five histories and balances a second through the
 * gateway, from 127.0.0.1, over connections of its own. Times are of this process's monotonic clock.
 */
export async function startHonest({ rpc, gateway }: Pick<StressChain, 'rpc' | 'gateway'>) {
  const watch = await watchBlocks(rpc, () => undefined)
  const pool = new Pool(`http://${gateway.host}:${gateway.port}`, {
    connections: 64,
    pipelining: 1,
    localAddress: '127.0.0.1',
  })
  const calls: Call[] = []
  const underWay = new Map<symbol, Pick<Call, 'kind' | 'fromMs'>>()
  const ask = async (kind: Call['kind'], method: string, params: object): Promise<void> => {
    const fromMs = performance.now()
    const id = Symbol(method)
    underWay.set(id, { kind, fromMs })
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    let refused: string | undefined
    try {
      const { statusCode, body: answer } = await pool.request({
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        headersTimeout: CALL_MS_MAX,
        bodyTimeout: CALL_MS_MAX,
      })
      refused = codeOf(statusCode, await answer.text())
    } catch (error) {
      refused = (error as { code?: string }).code ?? String(error)
    }
    underWay.delete(id)
    calls.push({ kind, fromMs, toMs: performance.now(), refused })
  }
  let turn = 0
  const timer = setInterval(() => {
    const [from, to] = [0, 1].map((step) => HONEST_SENDERS[(turn + step) % HONEST_SENDERS.length] as string) as [
      string,
      string,
    ]
    turn++
    void ask('transfer', 'svc_transfer', [{ from, to, value: '1' }])
    void ask('history', 'svc_getTransactions', { address: from })
    void ask('balance', 'svc_getBalance', [from])
  }, CALL_EVERY_MS)
  /** From block to block, and from the last one to now. */
  const intervals = (): readonly Took[] =>
    watch.blocks.map(({ atMs }, at) => ({ fromMs: atMs, toMs: watch.blocks[at + 1]?.atMs ?? performance.now() }))
  /** Calls that are not answered yet: they have taken at least this long. */
  const waiting = (): readonly Call[] =>
    [...underWay.values()].map((one) => ({ ...one, toMs: performance.now(), refused: undefined }))
  const p95 = (all: readonly Took[]): number =>
    percentileOf(
      all.map(({ fromMs, toMs }) => toMs - fromMs),
      SHARE,
    )
  /** What was met from `fromMs` to `toMs`; calls that are not answered yet count with the time that they have waited. */
  const met = (fromMs: number, toMs: number) => {
    const began = [...calls, ...waiting()].filter((one) => one.fromMs >= fromMs && one.fromMs < toMs)
    const refused: Record<string, number> = {}
    for (const { refused: code } of began) if (code !== undefined) refused[code] = (refused[code] ?? 0) + 1
    return {
      /** p95 of the time from block to block, as their events came, in ms. */
      blockP95Ms: p95(intervals().filter((one) => one.toMs > fromMs && one.fromMs < toMs)),
      /**
       * p95 of `svc_transfer`, from the call to the answer, in ms; calls that were refused are not in it: NaN when all
       * were.
       */
      transferP95Ms: p95(began.filter((one) => one.refused === undefined && one.kind === 'transfer')),
      /** The same of `svc_getTransactions`. */
      historyP95Ms: p95(began.filter((one) => one.refused === undefined && one.kind === 'history')),
      calls: began.length,
      /** Calls that were not carried out, by answer. */
      refused,
    }
  }
  /** When the last block or call that was slow came to its end; now, while one is. `fromMs` when none was since then. */
  const slowUntilMs = (fromMs: number, { blockMs, transferMs }: ReturnType<typeof slowerThan>): number => {
    const slow = [
      ...intervals().filter((one) => one.toMs - one.fromMs > blockMs),
      ...[...calls, ...waiting()].filter((one) => one.kind === 'transfer' && one.toMs - one.fromMs > transferMs),
    ]
    return Math.max(fromMs, ...slow.map(({ toMs }) => toMs))
  }
  const close = async (): Promise<void> => {
    clearInterval(timer)
    watch.close()
    await pool.destroy()
  }
  return { met, slowUntilMs, close }
}
