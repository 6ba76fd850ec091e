import { setTimeout as sleep } from 'node:timers/promises'
import { devnetSigners } from '../../src/cli/devnet/chain.ts'
import { txHash } from '../../src/tx/envelope.ts'
import { emptyMempools, openGateways } from '../e2e/support/gateways.ts'
import type { NetworkNode } from '../e2e/support/network.ts'
import { ask, PATIENCE_MS, readAccount, resultOf } from '../outage/ask.ts'
import { need } from '../support/campaign.ts'
import { VALIDATORS } from './manifest.ts'
import { askUnlessPruned, earliestOf } from './watch.ts'

/** A transaction that a gateway has answered as committed. */
export interface Acknowledged {
  readonly hash: string
  readonly height: number
}

/** Transfers through a gateway before each node, one sender a gateway. */
export interface Load {
  /** What each gateway acknowledged. */
  readonly acknowledged: readonly (readonly Acknowledged[])[]
  /** Ends it. Resolves when no call is under way and the mempools are empty. */
  readonly stop: () => Promise<void>
  /** Throws Broken unless each node tells the same accounts, which add up. */
  readonly checkAccounts: () => Promise<void>
  readonly close: () => Promise<void>
}

const signers = devnetSigners()
/** Those after the owners of the candidacies, who are paid awards. */
const senders = signers.slice(VALIDATORS)
const VALUE = 7n
/** An address that no key is known of: all transfers go there. */
const SINK = `0x${'5e'.repeat(20)}`
const WAIT_MS = 10_000
const PAUSE_MS = 100
const QUIET_MS_MAX = 180_000

/** Begins the transfers, while all nodes run. */
export async function startLoad(nodes: readonly NetworkNode[]): Promise<Load> {
  const defects: string[] = []
  const gateways = await openGateways(nodes, { signers, waitMs: WAIT_MS, defects })
  const urls = gateways.map(({ url }) => url)
  const [url = ''] = urls
  const acknowledged = nodes.map((): Acknowledged[] => [])
  const addressOf = (at: number): string => senders[at]?.address ?? ''
  const before = await Promise.all(nodes.map((_, at) => readAccount(url, addressOf(at))))
  const { fee } = (await resultOf(url, 'svc_estimateFee', ['transfer'])) as { readonly fee: string }
  let isOver = false
  const send = async (at: number): Promise<void> => {
    const params = { from: addressOf(at), to: SINK, value: VALUE.toString() }
    for (; !isOver; await sleep(PAUSE_MS)) {
      // Whoever is not answered, or with an error, knows nothing: only an answer is a promise.
      const answer = await ask(urls[at] ?? '', 'svc_transfer', params, PATIENCE_MS)
      const { height = 0, hash = '' } = (answer?.result ?? {}) as { height?: number; hash?: string }
      if (height > 0) acknowledged[at]?.push({ hash, height })
    }
  }
  const sending = Promise.all(nodes.map((_, at) => send(at)))
  const checkAccountsAt = async (gateway: string): Promise<void> => {
    let transfers = 0n
    for (const [at, first] of before.entries()) {
      const { nonce, balance } = await readAccount(gateway, addressOf(at))
      const sent = BigInt(nonce - first.nonce)
      const expected = first.balance - sent * (VALUE + BigInt(fee))
      need(balance === expected, () => `sender ${at} with nonce ${nonce} has ${balance}, not ${expected}`)
      const told = acknowledged[at]?.length ?? 0
      need(sent >= told, () => `${told} transfers of sender ${at} were acknowledged, and ${sent} executed`)
      transfers += sent
    }
    const { balance } = await readAccount(gateway, SINK)
    need(balance === transfers * VALUE, () => `${transfers} transfers brought ${balance}`)
  }
  return {
    acknowledged,
    stop: async () => {
      isOver = true
      await sending
      await emptyMempools(nodes, QUIET_MS_MAX)
    },
    checkAccounts: async () => {
      for (const gateway of urls) await checkAccountsAt(gateway)
      need(defects.length === 0, () => `a gateway has a defect: ${defects[0]}`)
    },
    close: async () => {
      isOver = true
      await Promise.all(gateways.map((gateway) => gateway.close()))
      await sending
    },
  }
}

interface BlockAnswer {
  readonly block: { readonly data: { readonly txs: readonly string[] | null } } | null
}

/** Throws Broken unless the blocks of a node, but those that it has removed, hold these transactions where they were told. */
export async function checkAcknowledged(
  node: NetworkNode,
  told: readonly Acknowledged[],
  inBlock: Map<number, ReadonlySet<string>>,
): Promise<void> {
  const first = await earliestOf(node)
  for (const { hash, height } of told) {
    if (height < first) continue
    if (!inBlock.has(height)) {
      const answer = await askUnlessPruned<BlockAnswer>(node, height, `/block?height=${height}`)
      if (answer === undefined) continue
      const txs = (answer.block?.data.txs ?? []).map((text) => txHash(Buffer.from(text, 'base64')))
      inBlock.set(height, new Set(txs))
    }
    need(
      inBlock.get(height)?.has(hash) === true,
      () => `transaction ${hash} was acknowledged in block ${height}, and is not in that of ${node.home}`,
    )
  }
}
