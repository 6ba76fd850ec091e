import { Agent, request } from 'node:http'
import { methodGroups } from '../../src/gateway/methods/list.ts'
import { openRpcDocument } from '../../src/gateway/openrpc.ts'
import { random } from '../chain/support.ts'
import { openRaw, postText } from '../gateway/rawClient.ts'
import { alice, bob, startPair } from '../gateway/support.ts'
import type { CampaignOptions, CampaignReport } from '../support/campaign.ts'
import { Broken, need, runCases } from './campaign.ts'
import { createModel, type Described, differs, type Expected, type ExpectedReply } from './rpcModel.ts'
import { createTexts } from './rpcTexts.ts'
import type { Next } from './bytes.ts'

/** How many texts are on their way at a time. */
const AT_ONCE = 32
/** One of so many texts is sent over a connection of its own, which the caller half-closes. */
const HALF_CLOSED = 64

/** What came back. */
export interface Reply {
  readonly status: number
  readonly text: string
}
export type Ask = (text: string) => Promise<Reply>

const { methods } = JSON.parse(JSON.stringify(openRpcDocument(methodGroups, '0'))) as { methods: readonly Described[] }
const documented = new Set(methods.flatMap(({ errors }) => errors.map(({ code }) => code)))

function askOver(url: string, agent: Agent): Ask {
  return (text) =>
    new Promise((done, failed) => {
      const outgoing = request(
        url,
        {
          method: 'POST',
          agent,
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
        },
        (incoming) => {
          const parts: Buffer[] = []
          incoming.on('data', (part: Buffer) => parts.push(part))
          incoming.on('end', () => done({ status: incoming.statusCode ?? 0, text: Buffer.concat(parts).toString() }))
          incoming.on('error', failed)
        },
      )
      outgoing.on('error', failed)
      outgoing.end(text)
    })
}

/**
 * Asks again, twice, when the connection ends without an answer: a gateway closes one that was silent for long, as it is
 * on a busy machine. What ends every time is told.
 */
const askAgain =
  (ask: Ask): Ask =>
  async (text) => {
    for (let tries = 1; ; tries++) {
      try {
        return await ask(text)
      } catch (error) {
        need(tries < 3, () => `${JSON.stringify(text.slice(0, 2000))} ends the connection: ${String(error)}`)
      }
    }
  }

/**
 * The same, over a connection whose sender ends its side at once. Node takes that for a caller who has gone, so there may
 * be no answer: undefined. In any case the gateway ends the connection.
 */
async function askHalfClosed(url: string, text: string): Promise<Reply | undefined> {
  const client = await openRaw(url, postText(text))
  client.socket.end()
  await client.closed
  if (client.text() === '') return undefined
  const [head = '', ...rest] = client.text().split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  return { status: Number(head.slice(9, 12)), text: /transfer-encoding: chunked/i.test(head) ? unchunked(body) : body }
}

function unchunked(body: string): string {
  const bytes = Buffer.from(body)
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at)
    const length = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (!(length > 0)) return Buffer.concat(parts).toString()
    parts.push(bytes.subarray(end + 2, end + 2 + length))
    at = end + 4 + length
  }
}

/** A request that ends in the middle: the gateway closes the connection, and says nothing but that. */
async function sendHalf(url: string, text: string, next: Next): Promise<void> {
  const whole = postText(text)
  const client = await openRaw(url, whole.slice(0, 1 + next(whole.length - 1)))
  client.socket.end()
  await client.closed
  const said = client.text()
  need(said === '' || /^HTTP\/1.1 (?:4\d\d|204|200) /.test(said), () => `half of a request is answered ${said}`)
}

/** How many calls a text is, as the rate limit would count them. */
const callsIn = (expected: ExpectedReply): number => (Array.isArray(expected) ? expected.length : 1)

function judge(text: string, expected: ExpectedReply, { status, text: body }: Reply): void {
  const told = (): string => `${JSON.stringify(text.slice(0, 2000))} is answered ${status} ${body.slice(0, 1000)}`
  // An empty body is refused before it is JSON.
  if (text === '') return need([200, 400].includes(status), told)
  if (expected === undefined) return need(status === 204 && body === '', told)
  let answers: unknown
  try {
    answers = JSON.parse(body)
  } catch {
    throw new Broken(told())
  }
  need([200, 429].includes(status), told)
  const wanted = (Array.isArray(expected) ? expected : [expected]) as readonly Expected[]
  const given = Array.isArray(expected) ? answers : [answers]
  need(Array.isArray(given) && given.length === wanted.length, told)
  for (const [at, one] of wanted.entries()) {
    const why = differs(given[at], one, documented)
    need(why === undefined, () => `answer ${at}, ${JSON.stringify(given[at]).slice(0, 500)}: ${why}: ${told()}`)
  }
}

/**
 * Texts by the grammar of the OpenRPC document, and against it, into a gateway before a stub of a node: each is answered
 * as JSON-RPC 2.0 and the document say, and nothing is a defect. `bend`: what changes the way in or the answer.
 */
export async function rpc(
  { count, seed }: CampaignOptions,
  bend: (ask: Ask) => Ask = (ask) => ask,
): Promise<CampaignReport> {
  const next = random(seed)
  const defects: string[] = []
  const logger = {
    info: () => {},
    warn: () => {},
    error: (about: object, message: string) => {
      const { err } = about as { readonly err?: unknown }
      defects.push(`${message}: ${err instanceof Error ? err.stack : JSON.stringify(about)}`)
    },
  }
  const pair = await startPair({ blocks: false }, { logger })
  const { url } = pair.gateway
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const ask = bend(askAgain(askOver(url, agent)))
  const model = createModel(methods)
  const textOf = createTexts(methods, {
    from: alice.address,
    to: bob.address,
    address: alice.address,
    transferFrom: alice.address,
    transferTo: bob.address,
    newCandidateAccount: bob.address,
    wait: false,
  })
  // Blocks only where somebody waits for one, or the stub would remember millions.
  const blocks = setInterval(() => {
    if (pair.node.ledger.waiting() > 0) pair.node.step()
  }, 5)
  const one = async (text: string, isHalfClosed: boolean): Promise<number> => {
    const expected = model(text)
    const reply = await (isHalfClosed ? askHalfClosed(url, text) : ask(text))
    if (reply !== undefined) judge(text, expected, reply)
    need(defects.length === 0, () => `${JSON.stringify(text.slice(0, 2000))} ends in a defect: ${defects[0]}`)
    return callsIn(expected)
  }
  try {
    return await runCases(
      { name: 'JSON-RPC', target: 'every text has the right answer, and none ends in a defect', seed },
      count,
      async () => {
        const texts = Array.from({ length: AT_ONCE }, () => textOf(next))
        const [half = ''] = texts
        const [, counts] = await Promise.all([
          next(HALF_CLOSED / AT_ONCE) === 0 ? sendHalf(url, half, next) : undefined,
          Promise.all(texts.map((text, at) => one(text, at === 0 && next(HALF_CLOSED / AT_ONCE) === 0))),
        ])
        return counts.reduce((sum, calls) => sum + calls, 0)
      },
    )
  } finally {
    clearInterval(blocks)
    agent.destroy()
    await pair.close()
  }
}
