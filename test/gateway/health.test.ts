import { afterEach, describe, expect, test } from '@jest/globals'
import { toBase64 } from '../../src/base/bytes.ts'
import { STALLED_INTERVAL_MS_MAX, STALLED_INTERVALS, STALLED_MS_MIN } from '../../src/gateway/http/limits.ts'
import { watchHead } from '../../src/gateway/http/health.ts'
import { alice, bob, startPair, until } from './support.ts'
import { signTransfer } from '../support/signTransfer.ts'

describe('watchHead', () => {
  /** A watch whose clock the test moves. */
  const watched = (afterMs?: number) => {
    let now = 1_000_000
    const watch = watchHead(afterMs, () => now)
    return {
      watch,
      pass: (ms: number) => {
        now += ms
      },
    }
  }

  test('a chain is stalled from STALLED_MS_MIN after its last block on, not a millisecond before', () => {
    const { watch, pass } = watched()
    watch.onHeight(7)
    pass(STALLED_MS_MIN - 1)
    expect([watch.ageMs(), watch.stall()]).toEqual([STALLED_MS_MIN - 1, undefined])
    pass(1)
    expect(watch.stall()).toEqual({ stalledMs: STALLED_MS_MIN, height: 7 })
    watch.onHeight(8)
    expect([watch.ageMs(), watch.stall()]).toEqual([0, undefined])
  })

  test('a slow chain is stalled after STALLED_INTERVALS of its block intervals, and one pause changes nothing', () => {
    const { watch, pass } = watched()
    const times = [0, 60_000, 120_000, 500_000, 560_000, 620_000]
    for (const [at, timeMs] of times.entries()) watch.onBlock({ height: at + 1, timeMs })
    watch.onHeight(times.length)
    pass(STALLED_INTERVALS * 60_000 - 1)
    expect(watch.stall()).toBeUndefined()
    pass(1)
    expect(watch.stall()).toEqual({ stalledMs: STALLED_INTERVALS * 60_000, height: times.length })
  })

  test('the years between genesis and the first block count as STALLED_INTERVAL_MS_MAX', () => {
    const { watch, pass } = watched()
    watch.onBlock({ height: 1, timeMs: 0 })
    watch.onBlock({ height: 2, timeMs: 1e11 })
    pass(STALLED_INTERVALS * STALLED_INTERVAL_MS_MAX)
    expect(watch.stall()).toBeDefined()
  })

  test('a time that was configured counts alone; 0 is never', () => {
    const { watch, pass } = watched(300)
    watch.onBlock({ height: 1, timeMs: 0 })
    watch.onBlock({ height: 2, timeMs: 60_000 })
    pass(300)
    expect(watch.stall()).toBeDefined()
    const never = watched(0)
    never.pass(1e12)
    expect(never.watch.stall()).toBeUndefined()
  })
})

describe('a gateway before a chain that makes no blocks', () => {
  let pair: Awaited<ReturnType<typeof startPair>>
  afterEach(() => pair.close())

  const operation = () => pair.rpc('svc_transfer', [{ from: alice.address, to: bob.address, value: '1' }])
  const raw = (nonce: number) =>
    pair.rpc('svc_sendRawTransaction', [toBase64(signTransfer(bob, nonce, { chainId: pair.node.chainId }))])
  const ready = async (): Promise<{ ready: boolean; reason?: string }> =>
    (await (await fetch(`${pair.gateway.url}/readyz`)).json()) as { ready: boolean; reason?: string }

  test('says so, refuses transactions at once and sends none, answers queries, and goes on with the next block', async () => {
    pair = await startPair({}, { stalledAfterMs: 5_000 })
    expect((await operation()).result).toMatchObject({ height: expect.any(Number) })
    pair.node.script.blocks = false
    await until(async () => !(await ready()).ready)
    expect((await ready()).reason).toMatch(/^the chain has made no block for \d+ s: the last one is \d+$/)
    const sent = pair.node.count('broadcast_tx_sync')
    const stalled = {
      code: -32011,
      message: expect.stringMatching(/no block for/),
      data: { stalledMs: expect.any(Number), height: expect.any(Number) },
    }
    expect((await operation()).error).toEqual(stalled)
    expect((await raw(0)).error).toEqual(stalled)
    expect(pair.node.count('broadcast_tx_sync')).toBe(sent)
    expect((await pair.rpc('svc_getBalance', [alice.address])).result).toBe('1000')
    expect((await pair.rpc('svc_status')).result).toMatchObject({ catching_up: false })
    const age = /\nsvc_head_age_seconds ([\d.]+)\n/.exec(await pair.metrics())
    expect(Number(age?.[1])).toBeGreaterThanOrEqual(5)
    await until(() => pair.log.lines.some(({ message }) => /made no block/.test(message)))
    pair.node.script.blocks = true
    await until(async () => (await ready()).ready)
    const landed = { height: expect.any(Number) }
    expect([(await operation()).result, (await raw(0)).result]).toMatchObject([landed, landed])
    await until(() => pair.log.lines.some(({ message }) => message === 'the chain makes blocks again'))
  })

  test('whose limit is 0 sends what it is given: a chain may wait for a transaction before it makes a block', async () => {
    pair = await startPair({}, { stalledAfterMs: 0 })
    pair.node.script.blocks = false
    const sending = operation()
    await until(() => pair.node.ledger.waiting() > 0)
    pair.node.step()
    expect((await sending).result).toMatchObject({ height: expect.any(Number) })
    expect((await ready()).ready).toBe(true)
  })
})

describe('a node that is stopping', () => {
  test('is -32011 whatever it answers, never -32603, and the log has its own words', async () => {
    const pair = await startPair({ error: () => 'appConn mempool: read message: EOF' })
    const { error } = await pair.rpc('svc_transfer', [{ from: alice.address, to: bob.address, value: '1' }])
    expect(error).toEqual({
      code: -32011,
      message: expect.stringMatching(/the node fails/),
      data: { hash: expect.any(String) },
    })
    expect(JSON.stringify(error)).not.toContain('EOF')
    expect(pair.log.lines.map(({ about }) => String((about['err'] as Error | undefined)?.message))).toContain(
      'broadcast_tx_sync: Internal error: appConn mempool: read message: EOF',
    )
    await pair.close()
  })
})
