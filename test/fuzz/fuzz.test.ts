import { describe, expect, test } from '@jest/globals'
import { createFrameReader } from '../../src/abci/frame.ts'
import { decodeRequest } from '../../src/abci/wire.ts'
import { random } from '../chain/support.ts'
import { anySeed, type CampaignOptions, type CampaignReport, summary } from '../support/campaign.ts'
import { application } from './application.ts'
import { framer } from './framer.ts'
import { CLOSE, PONG, TEXT } from './frames.ts'
import { requests } from './requests.ts'
import { type Ask, rpc } from './rpc.ts'
import { methods } from './methods.ts'
import { createModel, type Described } from './rpcModel.ts'
import type { Bend } from './socketClient.ts'
import { sockets } from './sockets.ts'
import { signers, textsOfAccounts } from './target.ts'
import { askApplication, type Judge, transactions } from './transactions.ts'

const seed = anySeed()
// The short form of every campaign, a second each. `make fuzz` is the long one.
describe(`input that nobody means well: SEED=${seed}`, () => {
  test.each<[string, (options: CampaignOptions) => Promise<CampaignReport>, number]>([
    ['framer', framer, 2_000],
    ['requests', requests, 10_000],
    ['transactions', transactions, 8_000],
    ['application', application, 8_000],
    ['rpc', rpc, 1_000],
    ['sockets', sockets, 500],
  ])('%s', async (_name, campaign, count) => {
    const report = await campaign({ count, seed })
    expect([summary(report), report.passed]).toEqual([summary(report), true])
    expect(report.ran).toBeGreaterThanOrEqual(count)
  })
})

test('among the texts of a run there are calls of every method that only its result answers', () => {
  const [next, model, textOf] = [random(1), createModel(methods, signers, true), textsOfAccounts()]
  const names = new Set<string>()
  for (let left = 40_000; left > 0; left--) {
    const text = textOf(next)
    // A batch has nothing that its calls have not.
    const expected = text.startsWith('{') ? model(text) : undefined
    if (expected === undefined || !('codes' in expected) || expected.codes.size > 0) continue
    names.add((JSON.parse(text) as { readonly method: string }).method)
  }
  const isDevnet = ({ tags }: Described): boolean => tags.some(({ name }) => name === 'Devnet')
  expect([...names].sort()).toEqual(methods.flatMap((one) => (isDevnet(one) ? [] : [one.name])).sort())
})

/** A fault that somebody could make, put into what a campaign asks. */
describe('finds', () => {
  const options = { count: 50_000, seed: 1 }
  const broken = async (report: Promise<CampaignReport>, why: RegExp): Promise<void> => {
    expect(await report).toMatchObject({ passed: false, result: expect.stringMatching(why) })
  }

  test('a frame reader that loses a header cut into two packets', () =>
    broken(
      framer(options, (limit) => {
        const reader = createFrameReader(limit)
        // The length is only looked for at the beginning of a packet.
        return {
          ...reader,
          push: (packet) => reader.push(packet.length === 1 && (packet[0] ?? 0) > 0x7f ? Buffer.alloc(0) : packet),
        }
      }),
      /in \d+ packets: /,
    ))

  test('a frame reader that takes a length in too many bytes', () =>
    broken(
      framer(options, (limit) => {
        const reader = createFrameReader(limit)
        return {
          ...reader,
          push: (packet) => reader.push(packet[1] === 0 && (packet[0] ?? 0) > 0x7f ? packet.subarray(2) : packet),
        }
      }),
      /stream [0-9a-f]+ of at most/,
    ))

  test('a decoder that refuses text that is not UTF-8', () =>
    broken(
      requests(options, (frame) => {
        const decoded = decodeRequest(frame)
        if (JSON.stringify(decoded).includes('\ufffd'))
          throw Object.assign(new Error('not UTF-8'), { code: 'undecodable' })
        return decoded
      }),
      /is refused: Error: not UTF-8/,
    ))

  test('a decoder that forgets a kind', () =>
    broken(
      requests(options, (frame) => {
        const decoded = decodeRequest(frame)
        return decoded.kind === 'finalizeBlock' ? { kind: undefined, field: frame[0] ?? 0 } : decoded
      }),
      /^after \d+ cases: finalizeBlock [0-9a-f]+ is read as undefined/,
    ))

  test('a decoder that rounds a number, and one that leaves a member out', async () => {
    const withQuery = (request: object) => (frame: Buffer) => {
      const decoded = decodeRequest(frame)
      return decoded.kind === 'query'
        ? ({ ...decoded, request: { ...decoded.request, ...request } } as typeof decoded)
        : decoded
    }
    await broken(requests(options, withQuery({ height: 2 ** 60 })), /has the number 1152921504606847000/)
    await broken(requests(options, withQuery({ path: undefined })), /is answered with an exception: TypeError/)
  })

  test('a verifier that reduces S before it looks', () => {
    const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n
    const lax: Judge = (chain, bytes) => {
      const s = BigInt(`0x${Buffer.from(bytes.subarray(-32)).reverse().toString('hex') || '0'}`)
      if (bytes.length < 64 || s < order) return askApplication(chain, bytes)
      const reduced = Buffer.from((s % order).toString(16).padStart(64, '0'), 'hex').reverse()
      return askApplication(chain, Buffer.concat([bytes.subarray(0, -32), reduced]))
    }
    return broken(transactions(options, lax), /S \+ L: answered /)
  })

  test('a cache that knows a transaction by its signature alone', () => {
    const known = new Map<string, Uint8Array>()
    const hasty: Judge = (chain, bytes) => {
      const tail = Buffer.from(bytes.subarray(-64)).toString('hex')
      const first = known.get(tail) ?? bytes
      known.set(tail, first)
      return askApplication(chain, first)
    }
    return broken(transactions(options, hasty), /a byte changed: answered /)
  })

  test('an answer of an application with the code of a defect', () => {
    let answers = 0
    return broken(
      application(options, (answered) => (++answers === 7_000 ? { ...answered, code: 1000 } : answered)),
      /is answered with \{.*"code":1000/,
    )
  })

  const bent =
    (bend: (text: string, sent: string) => string) =>
    (ask: Ask): Ask =>
    async (sent) => {
      const { status, text } = await ask(sent)
      return { status, text: bend(text, sent) }
    }
  /** Takes calls that are refused with this code; of params in an array the document does not always say how they count. */
  const forgiven =
    (code: number) =>
    (text: string, sent: string): string => {
      const answer = text === '' ? undefined : (JSON.parse(text) as { id?: unknown; error?: { code: number } })
      if (answer?.error?.code !== code || sent.includes('"params":[')) return text
      return JSON.stringify({ jsonrpc: '2.0', result: null, id: answer.id })
    }
  /** Changes answers that have a result. */
  const ofResults =
    (change: (answer: object) => object) =>
    (text: string): string => {
      const answer = text === '' ? undefined : (JSON.parse(text) as object)
      return answer !== undefined && 'result' in answer ? JSON.stringify(change(answer)) : text
    }
  const withError = (code: number) =>
    ofResults((answer) => ({ ...answer, result: undefined, error: { code, message: 'x' } }))
  test.each<[string, (ask: Ask) => Ask, RegExp]>([
    ['a gateway that refuses params that fit', bent(withError(-32602)), /code -32602, expected a result/],
    ['a gateway that says its node is away', bent(withError(-32011)), /code -32011, expected a result/],
    [
      'a result that is not of its method',
      bent(ofResults((answer) => ({ ...answer, result: 'banana' }))),
      /its result is none of the method/,
    ],
    [
      'a balance that is a number',
      bent((text) => text.replace(/"result":"(\d+)"/, '"result":$1')),
      /its result is none of the method: {2}must be string/,
    ],
    ['a gateway that signs for everybody', bent(forgiven(-32010)), /it has a result/],
    [
      'an answer under the id of another call',
      bent((text) => text.replace(/"id":12\b/, '"id":13')),
      /id is 13, expected 12/,
    ],
    ['a gateway that takes what its document refuses', bent(forgiven(-32602)), /it has a result/],
    ['a code that no method announces', bent((text) => text.replace('"code":-32602', '"code":-32042')), /code -32042/],
    [
      'a batch of which one call is lost',
      bent((text) => text.replace(/^\[\{"jsonrpc.*?\},\{"jsonrpc/, '[{"jsonrpc')),
      /is answered 200 \[/,
    ],
    [
      'a gateway that takes __proto__ for a key like others',
      (ask) => (text) => ask(text.replaceAll('__proto__', 'proto')),
      /id is|expected -32700/,
    ],
  ])('%s', (_name, bend, why) => broken(rpc({ count: 20_000, seed: 1 }, bend), why))

  test.each<[string, Bend, RegExp]>([
    [
      'a websocket that is closed with another code',
      (frame) => (frame.opcode === CLOSE ? { ...frame, payload: Buffer.from([3, 240]) } : frame),
      /is closed with 1008, expected/,
    ],
    ['a pong that is lost', (frame) => (frame.opcode === PONG ? undefined : frame), /0 pongs to \d+ pings/],
    [
      'a pong that answers another ping',
      (frame) => (frame.opcode === PONG ? { ...frame, payload: Buffer.from('x') } : frame),
      /pongs to \d+ pings/,
    ],
    [
      'an answer of which a byte is lost',
      (frame) => (frame.opcode === TEXT ? { ...frame, payload: frame.payload.subarray(1) } : frame),
      /is answered 200/,
    ],
    [
      'a websocket that refuses params that fit',
      (frame) =>
        frame.opcode === TEXT ? { ...frame, payload: Buffer.from(withError(-32602)(String(frame.payload))) } : frame,
      /code -32602, expected a result/,
    ],
  ])('%s', (_name, bend, why) => broken(sockets({ count: 20_000, seed: 1 }, bend), why))
})
