import { afterEach, expect, test } from '@jest/globals'
import { startGateway } from '../../src/gateway/gateway.ts'
import { chainNumberOf } from '../../src/gateway/rpc/methods/foreign.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { signTransfer } from '../support/signTransfer.ts'
import { startStubNode } from './stubNode.ts'
import { bob, keptLog, post, type RpcAnswer, signerOf, startPair, until } from './support.ts'

const owners = Array.from({ length: 20 }, (_, at) => signerOf(at + 1).address)
const pathOf = (owner: string): string => `/stake/validator/${owner}`

let pair: Awaited<ReturnType<typeof startPair>> | undefined
afterEach(() => pair?.close())

test('queries of one moment travel in one question, 16 at most, and each gets its own answer or refusal', async () => {
  const batches: (readonly string[])[] = []
  const alone: string[] = []
  pair = await startPair({
    batch: (paths) => {
      batches.push(paths)
    },
    query: (path) => {
      alone.push(path)
      if (path === pathOf(owners[3] as string)) return { code: 20, log: 'as the chain says' }
      if (path === pathOf(owners[4] as string)) return { code: 1000, log: 'internal defect' }
      return path.startsWith('/stake') ? { data: { path } } : {}
    },
  })
  const answers = await pair.batch(owners.map((owner) => ['svc_queryValidator', [owner]]))
  expect(batches).toEqual([owners.slice(0, 16).map(pathOf), owners.slice(16).map(pathOf)])
  for (const [at, { id, result, error }] of answers.entries()) {
    expect(id).toBe(at)
    if (at === 3) expect(error).toEqual({ code: -32602, message: 'as the chain says' })
    else if (at === 4) expect(error).toMatchObject({ code: -32603 })
    else expect(result).toEqual({ height: expect.any(Number), data: { path: pathOf(owners[at] as string) } })
  }
  alone.length = 0
  expect((await pair.rpc('svc_queryValidator', [owners[0]])).result).toHaveProperty('data', {
    path: pathOf(owners[0] as string),
  })
  expect([batches.length, alone]).toEqual([2, [pathOf(owners[0] as string)]])
})

test('a question that fails fails for all who asked it, and for nobody else', async () => {
  let isBroken = true
  pair = await startPair({
    batch: () => {
      if (isBroken) throw new Error('the node has lost its application')
    },
  })
  const { batch } = pair
  const ask = () => batch(owners.slice(0, 3).map((owner) => ['svc_getBalance', [owner]]))
  expect((await ask()).map(({ error }) => error?.code)).toEqual([-32011, -32011, -32011])
  isBroken = false
  expect((await ask()).map(({ result }) => result)).toEqual(['1000', '1000', '1000'])
})

test('no list of a chain is answered after its node has begun another one', async () => {
  let chain = 'old'
  pair = await startPair({
    blocks: false,
    query: (path) => (path.startsWith('/stake/validators') ? { data: [chain] } : {}),
  })
  const { node, rpc, gateway, log } = pair
  while (node.ledger.blocks.length < 10) node.step()
  await until(async () => /^svc_chain_height 10$/m.test(await gateway.metrics.metrics()))
  await rpc('svc_queryValidators')
  node.ledger.blocks.length = 2
  chain = 'new'
  node.drop()
  await until(() => log.lines.some(({ message }) => message === 'the feed of blocks was disturbed'))
  await until(async () => /^svc_feed_connected 1$/m.test(await gateway.metrics.metrics()))
  expect((await rpc('svc_queryValidators')).result).toEqual({ height: 2, data: ['new'] })
  chain = 'newer'
  node.step()
  expect((await rpc('svc_queryValidators')).result).toEqual({ height: 3, data: ['newer'] })
})

test('before its first block a chain may get another genesis, whose name counts then', async () => {
  const node = await startStubNode({ blocks: false })
  node.ledger.blocks.length = 0
  const log = keptLog()
  const gateway = await startGateway({ node: node.url, port: 0, page: false, logger: log })
  const named = async (): Promise<unknown> => {
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'net_version', params: [] })
    return ((await (await post(gateway.url, call)).json()) as RpcAnswer).result
  }
  expect(await named()).toBe(String(chainNumberOf(node.script.chainId)))
  node.script.chainId = 'corrected'
  await until(() => gateway.metrics.metrics().then((text) => /^svc_feed_connected 1$/m.test(text)))
  node.drop()
  await until(() => log.lines.some(({ message }) => message === 'the feed of blocks was disturbed'))
  expect(await named()).toBe(String(chainNumberOf('corrected')))
  await gateway.close()
  await node.close()
})

const nameOf = (one: NonNullable<typeof pair>) => one.rpc('net_version')
const noStatus = (method: string): boolean => method === 'status'

test('a node that fails at one question for the name of its chain is asked again', async () => {
  pair = await startPair()
  pair.node.script.garbles = noStatus
  expect((await nameOf(pair)).error?.code).toBe(-32011)
  pair.node.script.garbles = () => false
  expect((await nameOf(pair)).result).toBe(String(chainNumberOf(pair.node.chainId)))
})

test('a chain that has begun keeps its name while its node is away: what nobody signed is told apart', async () => {
  pair = await startPair()
  await nameOf(pair)
  pair.node.script.garbles = noStatus
  pair.node.drop()
  await until(() => pair?.log.lines.some(({ message }) => message === 'the feed of blocks was disturbed') === true)
  expect((await nameOf(pair)).result).toBe(String(chainNumberOf(pair.node.chainId)))
  const forged = signTransfer(bob, 0, { chainId: pair.node.chainId })
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1
  const { result } = await pair.rpc('svc_sendRawTransaction', [toBase64(forged)])
  expect(result).toMatchObject({ check_tx: { code: 3 } })
})
