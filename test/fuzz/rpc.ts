import { once } from 'node:events'
import { Agent } from 'node:http'
import { random } from '../chain/support.ts'
import { post, type Reply } from '../e2e/support/client.ts'
import { openRaw, postText } from '../gateway/rawClient.ts'
import { type CampaignOptions, type CampaignReport, need } from '../support/campaign.ts'
import type { Next } from './bytes.ts'
import { runCases } from './campaign.ts'
import { methods } from './methods.ts'
import { createModel, type ExpectedReply } from './rpcModel.ts'
import { judge, signers, startTarget, textsOfAccounts } from './target.ts'

/** How many texts are on their way at a time. */
const AT_ONCE = 32
/** One of so many rounds also has a caller who half-closes its connection, who sends half a request, or who sends many. */
const RARELY = 2
const PIPELINED_MAX = 12

export type Ask = (text: string) => Promise<Reply>

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

/** The first reply in what came over a connection, and what is behind it; undefined while it is not whole. */
function replyIn(bytes: Buffer): readonly [reply: Reply, rest: Buffer] | undefined {
  const start = bytes.indexOf('\r\n\r\n') + 4
  if (start < 4) return undefined
  const head = bytes.toString('latin1', 0, start)
  const status = Number(head.slice(9, 12))
  if (/transfer-encoding: chunked/i.test(head)) {
    const parts: Buffer[] = []
    for (let at = start; ; ) {
      const end = bytes.indexOf('\r\n', at)
      const length = Number.parseInt(bytes.toString('latin1', at, Math.max(at, end)), 16)
      if (Number.isNaN(length) || bytes.length < end + 4 + length) return undefined
      parts.push(bytes.subarray(end + 2, end + 2 + length))
      at = end + 4 + length
      if (length === 0) return [{ status, text: Buffer.concat(parts).toString() }, bytes.subarray(at)]
    }
  }
  const end = start + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  if (bytes.length < end) return undefined
  return [{ status, text: bytes.toString('utf8', start, end) }, bytes.subarray(end)]
}

/**
 * The same, over a connection whose sender ends its side at once. Node takes that for a caller who has gone, so there may
 * be no answer: undefined. In any case the gateway ends the connection.
 */
async function askHalfClosed(url: string, text: string): Promise<Reply | undefined> {
  const client = await openRaw(url, postText(text))
  client.socket.end()
  await client.closed
  return replyIn(client.bytes())?.[0]
}

/**
 * The same for several texts on one connection, all sent before the first is answered, and half of another one behind
 * them. Their replies come in their order.
 */
async function askPipelined(url: string, texts: readonly string[], half: string): Promise<readonly Reply[]> {
  const client = await openRaw(url, texts.map(postText).join('') + half)
  const replies: Reply[] = []
  let isClosed = false
  void client.closed.then(() => {
    isClosed = true
  })
  let [at, seen] = [0, -1]
  while (replies.length < texts.length && !(isClosed && seen === client.bytes().length)) {
    seen = client.bytes().length
    const found = replyIn(client.bytes().subarray(at))
    if (found === undefined) await Promise.race([client.closed, once(client.socket, 'data')])
    else {
      replies.push(found[0])
      at = seen - found[1].length
    }
  }
  client.socket.end()
  await client.closed
  return replies
}

/** The beginning of a text's request. */
function halfOf(next: Next, text: string): string {
  const whole = postText(text)
  return whole.slice(0, 1 + next(whole.length - 1))
}

/** A request that ends in the middle: the gateway closes the connection, and says nothing but that. */
async function sendHalf(url: string, half: string): Promise<void> {
  const client = await openRaw(url, half)
  client.socket.end()
  await client.closed
  const said = client.text()
  need(said === '' || /^HTTP\/1.1 (?:4\d\d|204|200) /.test(said), () => `half of a request is answered ${said}`)
}

/** How many calls a text is, as the rate limit would count them. */
const callsIn = (expected: ExpectedReply): number => (Array.isArray(expected) ? expected.length : 1)

/**
 * Texts by the grammar of the OpenRPC document, and against it, into a gateway before a stub of a node: each is answered
 * as JSON-RPC 2.0 and the document say, and nothing is a defect. `bend`: what changes the way in or the answer.
 */
export async function rpc(
  { count, seed }: CampaignOptions,
  bend: (ask: Ask) => Ask = (ask) => ask,
): Promise<CampaignReport> {
  const next = random(seed)
  const target = await startTarget()
  const { url } = target
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const ask = bend(askAgain((text) => post(url, text, agent)))
  const model = createModel(methods, signers)
  const textOf = textsOfAccounts()
  const check = (text: string, reply: Reply | undefined): number => {
    const expected = model(text)
    if (reply !== undefined) judge(text, expected, reply)
    target.needNoDefect()
    return callsIn(expected)
  }
  const pipeline = async (texts: readonly string[], half: string): Promise<void> => {
    const replies = await askPipelined(url, texts, half)
    const told = (): string => JSON.stringify(texts).slice(0, 4000)
    need(replies.length === texts.length, () => `${replies.length} of ${texts.length} have a reply: ${told()}`)
    for (const [at, text] of texts.entries()) check(text, replies[at])
  }
  try {
    return await runCases(
      { name: 'JSON-RPC', target: 'every text has the right answer, and none ends in a defect', seed },
      count,
      async () => {
        const texts = Array.from({ length: AT_ONCE }, () => textOf(next))
        const [first = '', ...others] = texts
        const half = halfOf(next, first)
        const isHalfClosed = next(RARELY) === 0
        const [, , ...counts] = await Promise.all([
          next(RARELY) === 0 ? sendHalf(url, half) : undefined,
          next(RARELY) === 0 ? pipeline(others.slice(0, 1 + next(PIPELINED_MAX)), half) : undefined,
          (isHalfClosed ? askHalfClosed(url, first) : ask(first)).then((reply) => check(first, reply)),
          ...others.map(async (text) => check(text, await ask(text))),
        ])
        return counts.reduce((sum, calls) => sum + calls, 0)
      },
    )
  } finally {
    agent.destroy()
    await target.close()
  }
}
