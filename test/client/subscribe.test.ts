import { afterEach, describe, expect, test } from '@jest/globals'
import { Svc, type SvcLine } from '../../src/client/index.ts'
import { startGateway } from '../../src/gateway/gateway.ts'
import { alice, keptLog, startPair, until } from '../gateway/support.ts'

let pair: Awaited<ReturnType<typeof startPair>>
const gateways: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close()
  await pair.close()
})

/** A gateway again at the address of the one that was closed. */
const startAgain = async (): Promise<void> => {
  const own = { signers: [alice], publicKeys: true, logger: keptLog() }
  const limits = { connections: 2_000, connectionsOfAddress: 2_000, callsPerSecond: 0 }
  const port = Number(new URL(pair.gateway.url).port)
  gateways.push(await startGateway({ node: pair.node.url, port, limits, ...own }))
}

const range = (from: number, length: number): readonly number[] => Array.from({ length }, (_, at) => from + at)

describe('svc.subscribe', () => {
  test('tells of each block once and in order, also across a gateway that was away', async () => {
    pair = await startPair()
    const svc = new Svc(pair.gateway.url)
    const lines: SvcLine[] = []
    const heights: number[] = []
    const blocks = await svc.subscribe('newBlock', { onState: (line) => lines.push(line) }, ({ height }) => {
      heights.push(height)
    })
    const txs: string[] = []
    const payments = await svc.subscribe('tx', { address: alice.address, from: 1 }, ({ hash }) => txs.push(hash))
    await until(() => heights.length > 5)
    await pair.gateway.close()
    await until(() => lines.some(({ state }) => state === 'lost'))
    const away = pair.node.ledger.blocks.length
    await until(() => pair.node.ledger.blocks.length > away + 10)
    await startAgain()
    await until(() => (heights.at(-1) ?? 0) > away + 30)
    expect(heights).toEqual(range(heights[0] as number, heights.length))
    // Lost, perhaps a few times in vain, and open again.
    expect(lines.map(({ state }) => state).join()).toMatch(/^open,(?:lost,)+open$/)
    expect(lines[1]).toEqual({ state: 'lost', reason: 'the gateway stops' })
    blocks.unsubscribe()
    const told = heights.length
    const head = pair.node.ledger.blocks.length
    await until(() => pair.node.ledger.blocks.length > head + 10)
    expect(heights).toHaveLength(told)
    payments.unsubscribe()
  })

  test('tells of a gap when it was away for too long', async () => {
    pair = await startPair()
    const svc = new Svc(pair.gateway.url)
    const lines: SvcLine[] = []
    const heights: number[] = []
    const running = await svc.subscribe('newBlock', { onState: (line) => lines.push(line) }, ({ height }) => {
      heights.push(height)
    })
    await until(() => heights.length > 5)
    await pair.gateway.close()
    const last = heights.at(-1) as number
    await until(() => pair.node.ledger.blocks.length > last + 130)
    await startAgain()
    await until(() => lines.some(({ state }) => state === 'gap') && heights.at(-1) !== last)
    const gap = lines.find((line) => line.state === 'gap')
    expect(gap?.from).toBe(last + 1)
    expect(heights[heights.indexOf(last) + 1]).toBe((gap?.to as number) + 1)
    running.unsubscribe()
  })

  test('rejects when there is no gateway, and with what the gateway refuses', async () => {
    pair = await startPair()
    const svc = new Svc(pair.gateway.url)
    await expect(svc.subscribe('blocks' as 'newBlock', () => undefined)).rejects.toMatchObject({
      name: 'SvcRpcError',
      code: -32602,
    })
    await expect(svc.subscribe('tx', { address: '0x' }, () => undefined)).rejects.toMatchObject({ code: -32602 })
    const nobody = new Svc('http://127.0.0.1:1')
    await expect(nobody.subscribe('newBlock', () => undefined)).rejects.toThrow(/^.*cannot be reached/)
  })
})
