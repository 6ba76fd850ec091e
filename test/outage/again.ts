import { setTimeout as sleep } from 'node:timers/promises'
import { toBase64 } from '../../src/base/bytes.ts'
import { txHash } from '../../src/tx/envelope.ts'
import { BAD_NONCE_CODE } from '../../src/tx/nonceQueue.ts'
import { random } from '../chain/support.ts'
import { signTransfer } from '../support/signTransfer.ts'
import type { CampaignOptions, CampaignReport } from '../support/campaign.ts'
import { type Account, type Answer, ask, readAccount, resultOf } from './ask.ts'
import { faults, type OutageNetwork, signers } from './network.ts'

const VALUE = 7n
/** An address that no key is known of: all transfers go there. */
const SINK = `0x${'5e'.repeat(20)}`
const SINK_BYTES = new Uint8Array(20).fill(0x5e)
const ROUND_TXS_MAX = 50
/** The first owns the validator and is paid for it. */
const senders = signers.slice(1)

/** The first calls go away early, so that many answers are lost whatever happens to the node. */
const PATIENCE_MS_MIN = 100
const PATIENCE_MS_MORE = 1_500
const PATIENCE_DURING_MS = 1_500
const PATIENCE_AFTER_MS = 60_000
const FAULT_AFTER_MS_MAX = 300
const PAUSE_MS = 100
const ROUND_MS_MAX = 240_000
/** Errors that say: try again. */
const TRY_AGAIN = new Set([-32011, -32012, -32013, -32015])

interface Signed {
  readonly sender: string
  readonly text: string
  readonly hash: string
  /** Of every block that an answer named. */
  readonly heights: Set<number>
}

interface Tally {
  sent: number
  lost: number
}

interface TxAnswer {
  readonly height: number
  readonly hash: string
  readonly check_tx: { readonly code?: number; readonly log?: string }
}

/** Takes in an answer to bytes. Throws when they were refused for good, or answered as others. */
export function takeIn(tx: Pick<Signed, 'hash' | 'heights'>, { error, result }: Answer): void {
  const need = (holds: boolean): void => {
    if (!holds) throw new Error(`${tx.hash} is answered ${JSON.stringify(error ?? result)}`)
  }
  if (error !== undefined) {
    need(TRY_AGAIN.has(error.code))
    return need(error.data?.hash === undefined || error.data.hash === tx.hash)
  }
  const { height, hash, check_tx: checkTx } = result as TxAnswer
  need(hash === tx.hash)
  if (height > 0) tx.heights.add(height)
  // Those before it of the same sender may not have arrived yet, and what was included is not in the index at once.
  else need(checkTx.code === BAD_NONCE_CODE)
}

async function send(url: string, tx: Signed, patienceMs: number, tally: Tally): Promise<void> {
  tally.sent += 1
  const answer = await ask(url, 'svc_sendRawTransaction', [tx.text], patienceMs)
  if (answer === undefined) tally.lost += 1
  else takeIn(tx, answer)
}

/** One fault in the middle of sending; then the same bytes until all of them have a block. */
async function round(
  net: OutageNetwork,
  txs: readonly Signed[],
  fault: (typeof faults)[number],
  next: (limit: number) => number,
  tally: Tally,
): Promise<void> {
  const [url] = net.gateways
  const sendAll = (some: readonly Signed[], patienceMs: number): Promise<unknown> =>
    Promise.all(some.flatMap((tx) => net.gateways.map((gateway) => send(gateway, tx, patienceMs, tally))))
  const open = (): readonly Signed[] => txs.filter(({ heights }) => heights.size === 0)
  const first = Promise.all(txs.map((tx) => send(url, tx, PATIENCE_MS_MIN + next(PATIENCE_MS_MORE), tally)))
  // It is awaited below, and may be over before.
  first.catch(() => undefined)
  await sleep(next(FAULT_AFTER_MS_MAX))
  await net.begin(fault)
  await first
  await sendAll(open(), PATIENCE_DURING_MS)
  await net.heal()
  const endMs = performance.now() + ROUND_MS_MAX
  // Those that have a block, too: they are answered with it again.
  for (await sendAll(txs, PATIENCE_AFTER_MS); open().length > 0; await sendAll(open(), PATIENCE_AFTER_MS)) {
    if (performance.now() > endMs) throw new Error(`${open().length} transactions are in no block: ${open()[0]?.hash}`)
    await sleep(PAUSE_MS)
  }
}

/** What does not add up when a sender made `count` transfers between two accounts; undefined when all does. */
export function differsBy(before: Account, after: Account, count: number, cost: bigint): string | undefined {
  const nonce = before.nonce + count
  const balance = before.balance - BigInt(count) * cost
  if (after.nonce === nonce && after.balance === balance) return undefined
  return `nonce ${after.nonce}, expected ${nonce}; balance ${after.balance}, expected ${balance}`
}

/**
 * Sends `count` transfers of nine senders while the full node is stopped, paused and behind, in turn. Callers whose
 * answers are lost send the same bytes again, through both gateways at once.
 */
export async function sendAgain(net: OutageNetwork, { count, seed }: CampaignOptions): Promise<CampaignReport> {
  const next = random(seed)
  const [, other] = net.gateways
  const { chain_id: chainId } = (await resultOf(other, 'svc_status', [])) as { readonly chain_id: string }
  const { fee } = (await resultOf(other, 'svc_estimateFee', ['transfer'])) as { readonly fee: string }
  const before = await Promise.all(senders.map(({ address }) => readAccount(other, address)))
  const sink = (await readAccount(other, SINK)).balance
  const all: Signed[] = []
  const sign = (): Signed => {
    const at = all.length % senders.length
    const signer = senders[at] as (typeof senders)[0]
    const nonce = (before[at]?.nonce ?? 0) + Math.floor(all.length / senders.length)
    const bytes = signTransfer(signer, nonce, { to: SINK_BYTES, value: VALUE.toString(), chainId })
    const tx = { sender: signer.address, text: toBase64(bytes), hash: txHash(bytes), heights: new Set<number>() }
    all.push(tx)
    return tx
  }
  const tally: Tally = { sent: 0, lost: 0 }
  const broken: string[] = []
  const size = Math.min(ROUND_TXS_MAX, Math.ceil(count / faults.length))
  try {
    for (let at = 0; all.length < count; at++) {
      const txs = Array.from({ length: Math.min(size, count - all.length) }, sign)
      await round(net, txs, faults[at % faults.length] as (typeof faults)[number], next, tally)
    }
  } catch (error) {
    broken.push(String(error))
  }
  await net.heal()
  await net.settle()
  for (const gateway of net.gateways) {
    for (const [at, { address }] of senders.entries()) {
      const sent = all.filter(({ sender }) => sender === address).length
      const after = await readAccount(gateway, address)
      const why = differsBy(before[at] as Account, after, sent, VALUE + BigInt(fee))
      if (why !== undefined) broken.push(`${address}: ${why}`)
    }
    const gained = (await readAccount(gateway, SINK)).balance - sink
    if (gained !== BigInt(all.length) * VALUE) broken.push(`${all.length} transfers brought ${gained}`)
  }
  broken.push(...net.defects)
  for (const { hash, heights } of all)
    if (heights.size > 1) broken.push(`${hash} is said to be in the blocks ${[...heights].join()}`)
  return {
    name: 'the same bytes again',
    target: 'each transaction executes exactly once',
    ran: all.length,
    seed,
    result:
      broken.length > 0
        ? broken.slice(0, 3).join('; ')
        : `${all.length} of ${count} once; they were sent ${tally.sent} times, and ${tally.lost} answers were lost`,
    passed: broken.length === 0,
  }
}
