import { setTimeout as sleep } from 'node:timers/promises'
import { toBase64 } from '../../src/base/bytes.ts'
import { methods } from '../fuzz/methods.ts'
import type { Described } from '../fuzz/rpcModel.ts'
import type { CampaignReport } from '../support/campaign.ts'
import { ask, askSocket, readAccount, resultOf } from './ask.ts'
import { ANSWER_MS_MAX, type Answered, hashOf, wrongOf } from './judge.ts'
import { type Fault, type OutageNetwork, signers } from './network.ts'

/** How long this caller waits: longer than a gateway may take, so that a late answer can be told from none. */
const PATIENCE_MS = 120_000
const PAUSE_MS = 100
/** Further transfers of one account. Each waits for the one before it, which may take no longer than that one does. */
const QUEUED = 5
const VALUE = '1'
/** The code of a node that cannot answer yet. */
const AGAIN = -32011

interface Call {
  readonly method: Described
  readonly params: Readonly<Record<string, unknown>>
}

interface Nonces {
  readonly chainId: string
  readonly of: ReadonlyMap<string, number>
}

const is = (method: Described, tag: string): boolean => method.tags.some(({ name }) => name === tag)
const sends = (method: Described): boolean =>
  is(method, 'signs') || method.params.some(({ name }) => name === 'transaction')

async function readNonces(url: string): Promise<Nonces> {
  const { chain_id: chainId } = (await resultOf(url, 'svc_status', [])) as { readonly chain_id: string }
  const counts = signers.map(async ({ address }) => [address, (await readAccount(url, address)).nonce] as const)
  return { chainId, of: new Map(await Promise.all(counts)) }
}

/**
 * Lets every account send a transaction, so that the gateway knows that its node is ready, and all nonces: then nothing
 * stands between the next calls and their bytes being sent.
 */
async function sendOnce(url: string): Promise<void> {
  const sent = signers.map(({ address }) =>
    ask(url, 'svc_transfer', [{ from: address, to: address, value: VALUE }], PATIENCE_MS),
  )
  for (const answer of await Promise.all(sent))
    if (hashOf(answer) === undefined) throw new Error(`svc_transfer: ${JSON.stringify(answer)}`)
}

/**
 * A call of every method with the params of its example, but a sender whose key the gateway has, and bytes that are
 * signed for this chain. A method with `wait` is called with and without waiting.
 */
function callsOf({ chainId, of }: Nonces): readonly Call[] {
  let turn = 0
  const next = () => signers[turn++ % signers.length] as (typeof signers)[0]
  const calls = methods.flatMap((method) => {
    const given = Object.fromEntries((method.examples[0]?.params ?? []).map(({ name, value }) => [name, value]))
    const names = method.params.map(({ name }) => name)
    const waits = names.includes('wait') ? [{ wait: true }, { wait: false }] : [{}]
    return waits.map((wait) => {
      const signer = next()
      const bytes = signer.signTx({
        chainId,
        nonce: of.get(signer.address) ?? 0,
        operation: 'transfer',
        message: { to: new Uint8Array(20).fill(0x5e), value: VALUE },
      })
      return {
        method,
        params: {
          ...given,
          ...(names.includes('from') ? { from: signer.address } : {}),
          ...(names.includes('transaction') ? { transaction: toBase64(bytes) } : {}),
          ...wait,
        },
      }
    })
  })
  const transfer = calls.find(({ method }) => method.name === 'svc_transfer') as Call
  return [...calls, ...Array.from({ length: QUEUED }, () => transfer)]
}

/** Transactions that blocks hold although no answer named their hash, by what the nonces say. */
async function unnamed(url: string, before: Nonces, hashes: ReadonlySet<string>): Promise<readonly string[]> {
  const after = await readNonces(url)
  const found = new Map<string, number>()
  for (const hash of hashes) {
    let answer = await ask(url, 'svc_getTransaction', [hash], PATIENCE_MS)
    // The index of histories may be behind the blocks.
    for (; answer?.error?.code === AGAIN; await sleep(PAUSE_MS))
      answer = await ask(url, 'svc_getTransaction', [hash], PATIENCE_MS)
    const { sender } = (answer?.result ?? {}) as { readonly sender?: string }
    if (sender !== undefined) found.set(sender, (found.get(sender) ?? 0) + 1)
  }
  return signers.flatMap(({ address }) => {
    const used = (after.of.get(address) ?? 0) - (before.of.get(address) ?? 0)
    const named = found.get(address) ?? 0
    return used === named ? [] : [`${address} has ${used} transactions in blocks, and was told the hashes of ${named}`]
  })
}

const countsOf = (answered: readonly Answered[]): string => {
  const counts = new Map<string, number>()
  for (const { answer } of answered) {
    const what = answer?.error === undefined ? 'answers' : String(answer.error.code)
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return [...counts].map(([what, count]) => `${count} × ${what}`).join(', ')
}

/** Says what is wrong with what a node that is not well is said to be; undefined when it is said. */
async function unmarked(url: string, fault: Fault): Promise<string | undefined> {
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) })).status !== 503
  // One answer serves all callers for a moment, and may be of the time before.
  for (const endMs = performance.now() + PATIENCE_MS; await isReady(); await sleep(PAUSE_MS))
    if (performance.now() > endMs) return '/readyz says that it is ready'
  if (fault !== 'behind') return undefined
  const status = await ask(url, 'svc_status', [], PATIENCE_MS)
  const { catching_up: catchingUp } = (status?.result ?? {}) as { readonly catching_up?: boolean }
  return catchingUp === true ? undefined : `svc_status: ${JSON.stringify(status)}`
}

/** Calls every method of the document at once while the fault lasts. `limitMs`: the longest that a call may take. */
export async function callEveryMethod(
  net: OutageNetwork,
  fault: Fault,
  limitMs = ANSWER_MS_MAX,
): Promise<CampaignReport> {
  const [url, other] = net.gateways
  await sendOnce(url)
  await net.settle()
  const before = await readNonces(url)
  const calls = callsOf(before)
  const headMax = await net.begin(fault)
  const answered = await Promise.all(
    calls.map(async ({ method, params }): Promise<Answered> => {
      const beganMs = performance.now()
      const answer = await (is(method, 'websocket') ? askSocket : ask)(url, method.name, params, PATIENCE_MS)
      return { method, answer, tookMs: Math.round(performance.now() - beganMs) }
    }),
  )
  const marked = await unmarked(url, fault)
  const wrong = answered.flatMap((one) => {
    const why = wrongOf(one, headMax, limitMs)
    return why === undefined ? [] : [`${one.method.name}: ${why}`]
  })
  const hashes = answered.flatMap(({ method, answer }) => (sends(method) ? (hashOf(answer) ?? []) : []))
  const slowestMs = Math.max(...answered.map(({ tookMs }) => tookMs))
  await net.heal()
  await net.settle()
  const broken = [
    ...wrong,
    ...(marked === undefined ? [] : [marked]),
    ...(await unnamed(other, before, new Set(hashes))),
    ...net.defects,
  ]
  return {
    name: `every method, CometBFT ${fault}`,
    target:
      `within ${limitMs / 1000} s an error with a code, and with the hash where bytes were sent, or an answer that ` +
      'says of which height it is',
    ran: calls.length,
    seed: undefined,
    result:
      broken.length > 0
        ? broken.join('; ')
        : `${countsOf(answered)}; ${new Set(hashes).size} hashes; the slowest after ${(slowestMs / 1000).toFixed(1)} s`,
    passed: broken.length === 0,
  }
}
