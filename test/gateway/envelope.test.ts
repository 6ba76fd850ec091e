import { describe, expect, test } from '@jest/globals'
import { answer } from '../../src/gateway/rpc/envelope.ts'
import {
  BATCH_ANSWER_LENGTH_MAX,
  BATCH_CALLS_MAX,
  PARAMS_DEPTH_MAX,
  TEXT_MARKS_MAX,
} from '../../src/gateway/http/limits.ts'
import { RpcError, tooMany } from '../../src/gateway/rpc/errors.ts'
import { keptLog } from './support.ts'

/** The server of the specification's examples. */
function makeServer() {
  const log = keptLog()
  const ran: unknown[] = []
  const call = async (method: string, params: unknown): Promise<unknown> => {
    ran.push(method)
    const named = params as { minuend?: number; subtrahend?: number } | undefined
    const [a, b] = Array.isArray(params) ? params : [named?.minuend, named?.subtrahend]
    if (method === 'subtract') return Number(a) - Number(b)
    if (method === 'sum') return (params as number[]).reduce((all, one) => all + one, 0)
    if (method === 'get_data') return ['hello', 5]
    if (method === 'big') return 'x'.repeat(BATCH_ANSWER_LENGTH_MAX / 2)
    if (method === 'biggest') return 'x'.repeat(BATCH_ANSWER_LENGTH_MAX - 50)
    if (method === 'defect') throw new Error('secret inside')
    if (method === 'nothing' || method === 'update' || method.startsWith('notify_')) return undefined
    throw new RpcError('methodNotFound', 'Method not found')
  }
  const admitText = async (): Promise<undefined> => undefined
  const admitCalls = (): readonly Promise<undefined>[] => []
  const ask = async (text: string): Promise<string | undefined> => {
    const reply = await answer({ call, admitText, admitCalls, log }, text)
    return reply?.pieces.map((piece) => (typeof piece === 'string' ? piece : Buffer.from(piece).toString())).join('')
  }
  return { log, ran, ask }
}

const parsed = async (text: string): Promise<unknown> => JSON.parse((await makeServer().ask(text)) ?? 'null')
const request = (more: object): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'subtract', params: [42, 23], id: 1, ...more })

describe("the JSON-RPC 2.0 specification's examples", () => {
  const ok = (result: unknown, id: unknown) => ({ jsonrpc: '2.0', result, id })
  const fail = (code: number, id: unknown = null) => ({ jsonrpc: '2.0', error: { code }, id })
  const examples: readonly (readonly [name: string, sent: string, answer: unknown])[] = [
    ['positional', '{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}', ok(19, 1)],
    ['positional, the other way', '{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}', ok(-19, 2)],
    ['named', '{"jsonrpc":"2.0","method":"subtract","params":{"subtrahend":23,"minuend":42},"id":3}', ok(19, 3)],
    ['notification', '{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}', undefined],
    ['notification of no method', '{"jsonrpc": "2.0", "method": "foobar"}', undefined],
    ['no such method', '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}', fail(-32601, '1')],
    ['invalid JSON', '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', fail(-32700)],
    ['invalid request', '{"jsonrpc": "2.0", "method": 1, "params": "bar"}', fail(-32600)],
    [
      'batch of invalid JSON',
      '[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method"]',
      fail(-32700),
    ],
    ['empty batch', '[]', fail(-32600)],
    ['batch of one invalid', '[1]', [fail(-32600)]],
    ['batch of three invalid', '[1,2,3]', Array(3).fill(fail(-32600))],
    [
      'batch of all kinds',
      `[
      {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
      {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"}, {"foo": "boo"},
      {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
      {"jsonrpc": "2.0", "method": "get_data", "id": "9"}]`,
      [ok(7, '1'), ok(19, '2'), fail(-32600), fail(-32601, '5'), ok(['hello', 5], '9')],
    ],
    [
      'batch of notifications',
      '[{"jsonrpc":"2.0","method":"notify_sum","params":[1,2,4]},{"jsonrpc":"2.0","method":"notify_hello","params":[7]}]',
      undefined,
    ],
  ]
  test.each(examples)('%s', async (_name, sent, answer) => {
    const text = await makeServer().ask(sent)
    if (answer === undefined) expect(text).toBeUndefined()
    else expect(JSON.parse(text ?? '')).toMatchObject(answer as object)
  })
})

describe('envelope', () => {
  test('a notification is run', async () => {
    const { ask, ran } = makeServer()
    expect(await ask('{"jsonrpc":"2.0","method":"update"}')).toBeUndefined()
    expect(ran).toEqual(['update'])
  })

  const ids = [
    ['text', 'a'],
    ['number', 7],
    ['fraction', 1.5],
    ['null', null],
    ['empty text', ''],
  ] as const
  test.each(ids)('an id may be %s and comes back', async (_name, id) => {
    expect(await parsed(request({ id }))).toEqual({ jsonrpc: '2.0', result: 19, id })
  })

  const noIds = [
    ['an object', {}],
    ['an array', [1]],
    ['a boolean', true],
    ['a number no double holds', 2 ** 53],
  ] as const
  test.each(noIds)('an id may not be %s', async (_name, id) => {
    expect(await parsed(request({ id }))).toMatchObject({ error: { code: -32600 }, id: null })
  })

  const invalid = [
    { jsonrpc: '1.0' },
    { jsonrpc: 2 },
    { method: null },
    { params: 'bar' },
    { params: 1 },
    { params: null },
  ]
  test.each(invalid)('%j is an invalid request that keeps its id', async (more) => {
    expect(await parsed(request(more))).toMatchObject({ error: { code: -32600 }, id: 1 })
  })

  test('a result of nothing is null, so that the answer has a result', async () => {
    expect(await parsed('{"jsonrpc":"2.0","method":"nothing","id":1}')).toEqual({ jsonrpc: '2.0', result: null, id: 1 })
  })

  test('params nested to the limit pass, one deeper do not', async () => {
    const nest = (depth: number): unknown => (depth === 0 ? 1 : [nest(depth - 1)])
    expect(await parsed(request({ method: 'get_data', params: nest(PARAMS_DEPTH_MAX) }))).toHaveProperty('result')
    expect(await parsed(request({ method: 'get_data', params: nest(PARAMS_DEPTH_MAX + 1) }))).toMatchObject({
      error: { code: -32600 },
    })
  })

  const batch = (length: number, more: (id: number) => object = (id) => ({ id })): string =>
    `[${Array.from({ length }, (_, id) => request(more(id))).join(',')}]`

  test('a batch of the most calls passes; of one more none runs, and each id is answered with an error', async () => {
    expect(await parsed(batch(BATCH_CALLS_MAX))).toHaveLength(BATCH_CALLS_MAX)
    const { ask, ran } = makeServer()
    const message = `Invalid Request: a batch holds at most ${BATCH_CALLS_MAX} calls, got ${BATCH_CALLS_MAX + 1}`
    expect(JSON.parse((await ask(batch(BATCH_CALLS_MAX + 1))) ?? '')).toEqual(
      Array.from({ length: BATCH_CALLS_MAX + 1 }, (_, id) => ({
        jsonrpc: '2.0',
        error: { code: -32600, message },
        id,
      })),
    )
    expect(ran).toEqual([])
  })

  test.each(['notifications', 'numbers'])('a batch of too many %s is answered with one error', async (what) => {
    const text =
      what === 'numbers'
        ? `[${Array(BATCH_CALLS_MAX + 1).fill(1)}]`
        : batch(BATCH_CALLS_MAX + 1, () => ({ id: undefined }))
    expect(await parsed(text)).toMatchObject({ error: { code: -32600 }, id: null })
  })

  test('a text of the most members passes, one with more is refused before it is parsed', async () => {
    // Beside its elements and the commas between them, the call has five.
    const text = (marks: number): string => request({ method: 'get_data', params: Array(marks - 4).fill(0) })
    expect(text(TEXT_MARKS_MAX).match(/[,[{]/g)).toHaveLength(TEXT_MARKS_MAX)
    expect(await parsed(text(TEXT_MARKS_MAX))).toHaveProperty('result')
    const refused = {
      id: null,
      error: {
        code: -32600,
        message: `Invalid Request: a body or message holds at most ${TEXT_MARKS_MAX} of the characters , [ { together, this one has more`,
      },
    }
    expect(await parsed(text(TEXT_MARKS_MAX + 1))).toMatchObject(refused)
    for (const mark of ',[{') expect(await parsed(mark.repeat(TEXT_MARKS_MAX + 1))).toMatchObject(refused)
    expect(await parsed('['.repeat(TEXT_MARKS_MAX))).toMatchObject({ error: { code: -32700 } })
  })

  test('a text is admitted before it is parsed, and its calls before they run', async () => {
    const steps: string[] = []
    const step = (name: string) => void steps.push(name)
    const server = {
      call: async () => step('call'),
      admitText: async (bytes: number) => (bytes > 40 ? tooMany('of it') : step(`text of ${bytes}`)),
      admitCalls: (methods: readonly string[]) => methods.map(async (method) => step(method)),
      log: keptLog(),
    }
    const text = '{"jsonrpc":"2.0","id":1,"method":"méth"}'
    expect((await answer(server, text.replace('é', 'e')))?.refused).toBeUndefined()
    expect(steps).toEqual(['text of 40', 'meth', 'call'])
    expect((await answer(server, text))?.refused?.code).toBe(-32015)
    expect((await answer(server, '{'.padEnd(41)))?.refused?.code).toBe(-32015)
    expect(steps).toHaveLength(3)
  })

  test('answers beyond the size of a batch are replaced, the rest stands', async () => {
    const call = (id: number, method: string): object => ({ jsonrpc: '2.0', method, id })
    const answers = (await parsed(JSON.stringify([call(1, 'big'), call(2, 'big'), call(3, 'get_data')]))) as {
      id: number
      error?: object
    }[]
    expect(answers.map(({ id, error }) => [id, error !== undefined])).toEqual([
      [1, false],
      [2, true],
      [3, false],
    ])
  })

  test('a short answer is given when there is no room left: it may be that of a transaction', async () => {
    const call = (id: number, method: string): object => ({ jsonrpc: '2.0', method, id })
    const answers = await parsed(JSON.stringify([call(1, 'biggest'), call(2, 'get_data'), call(3, 'big')]))
    expect(answers).toMatchObject([{ id: 1 }, { id: 2, result: ['hello', 5] }, { id: 3, error: { code: -32600 } }])
  })

  test('a defect shows an id that the log repeats, and nothing from inside', async () => {
    const { ask, log } = makeServer()
    const text = (await ask('{"jsonrpc":"2.0","method":"defect","id":1}')) ?? ''
    expect(text).not.toContain('secret')
    const { error } = JSON.parse(text) as { error: { code: number; message: string; data: { id: string } } }
    expect(error).toEqual({ code: -32603, message: 'Internal error', data: { id: error.data.id } })
    expect(log.lines.map(({ about }) => about['id'])).toEqual([error.data.id])
  })
})
