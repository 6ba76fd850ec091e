import { existsSync } from 'node:fs'
import {
  ApplySnapshotChunkResult as Apply,
  type CompleteApplication,
  OfferSnapshotResult as Offer,
} from '../../src/abci/types.ts'
import { equalBytes } from '../../src/base/bytes.ts'
import { random } from '../chain/support.ts'
import { type Next, pick, randomBytes } from '../fuzz/bytes.ts'
import { type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { applyTo, livingNode, offerTo, servingNode, snapshotNode } from '../support/snapshotNodes.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { CHAIN_ID } from '../support/testChain.ts'
import { FORGERIES, type Forgery } from './forgeries.ts'

type Served = Awaited<ReturnType<typeof servingNode>>

const same = (some: unknown, others: unknown): boolean => toText(some) === toText(others)
const toText = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one))

/** What strangers send instead of a chunk. */
const CHUNK_LIES: Readonly<Record<string, (next: Next, chunks: readonly Uint8Array[], index: number) => Uint8Array>> = {
  'a flipped bit': (next, chunks, index) => {
    const chunk = Uint8Array.from(chunks[index] as Uint8Array)
    const at = next(chunk.length)
    chunk[at] = (chunk[at] ?? 0) ^ (1 << next(8))
    return chunk
  },
  'a chunk cut short': (next, chunks, index) => {
    const chunk = chunks[index] as Uint8Array
    return chunk.subarray(0, next(chunk.length))
  },
  'another chunk': (_next, chunks, index) => chunks[index === 0 ? 1 : index - 1] as Uint8Array,
  nothing: () => new Uint8Array(0),
  'too much': (next, chunks, index) =>
    Uint8Array.of(...(chunks[index] as Uint8Array), ...randomBytes(next, 1 + next(999))),
}

/** Takes an honest offer, refuses lies about some of its chunks and names who told them, and is left before the end. */
function refuseChunks(app: CompleteApplication, { snapshot, chunks, appHash }: Served, next: Next): void {
  need(offerTo(app, snapshot, appHash) === Offer.accept, () => 'an honest offer was refused')
  const last = next(chunks.length)
  for (let index = 0; index < last; index++) {
    const kind = pick(next, Object.keys(CHUNK_LIES))
    const lie = CHUNK_LIES[kind]?.(next, chunks, index) as Uint8Array
    const answer = applyTo(app, index, lie, kind)
    const expected = { result: Apply.retry, refetchChunks: [index], rejectSenders: [kind] }
    need(same(answer, expected), () => `${kind} as chunk ${index} is answered ${JSON.stringify(answer)}`)
    const ahead = applyTo(app, index + 1 + next(5), chunks[index] as Uint8Array)
    need(ahead.result === Apply.retry, () => `a chunk ahead of ${index} is answered ${JSON.stringify(ahead)}`)
    need(applyTo(app, index, chunks[index] as Uint8Array).result === Apply.accept, () => `chunk ${index} was refused`)
  }
}

/** One forged offer to one node. With one that fits its own chunks, these too: it is found out at the end. */
function refuseOffer(
  app: CompleteApplication,
  { forge, result, chunk: bend = (chunk) => chunk }: Forgery,
  { snapshot, chunks, appHash }: Served,
  next: Next,
): void {
  const answered = offerTo(app, forge(next, snapshot, chunks), appHash)
  need(answered === result, () => `the offer is answered ${answered}, expected ${result}`)
  if (result !== Offer.accept)
    return need(applyTo(app, 0, chunks[0] as Uint8Array).result === Apply.abort, () => 'a chunk of it was taken')
  const answers = chunks.map((chunk, index) => applyTo(app, index, bend(chunk), `liar${index}`))
  const at = answers.findIndex(({ result: one }) => one !== Apply.accept)
  const senders = chunks.slice(0, at + 1).map((_, index) => `liar${index}`)
  const expected = { result: Apply.rejectSnapshot, rejectSenders: senders }
  need(same(answers[at], expected), () => `its chunks are answered ${JSON.stringify(answers)}`)
}

/**
 * Offers `count` forged snapshots to an application that has state and to one that has none; between them lies about the
 * chunks of honest ones. `faults`: what the applications do otherwise, so that a test sees the campaign fail.
 */
export function offers(
  { count, seed }: CampaignOptions,
  faults: Partial<CompleteApplication> = {},
): Promise<CampaignReport> {
  const about = {
    name: 'forged snapshots',
    target: 'none is taken, whoever sent it is named, and the state is as it was',
    seed,
  }
  return campaignReport(about, async (told) => {
    const next = random(seed)
    const folder = tempFolder('forged')
    const served = await servingNode(folder.path)
    const living = livingNode(folder.path)
    const fresh = snapshotNode(folder.path, { chainId: CHAIN_ID })
    try {
      const before = living.picture()
      for (; told.ran < count; told.ran++) {
        const [kind, forgery] = pick(next, Object.entries(FORGERIES))
        try {
          for (const node of [living, fresh]) {
            const app = { ...node.chain.app, ...faults }
            if (next(10) === 0) refuseChunks(app, served, next)
            refuseOffer(app, forgery, served, next)
          }
        } catch (error) {
          throw new Error(`${kind}: ${String(error)}`)
        }
      }
      need(same(living.picture(), before), () => 'the state has changed')
      const isEmpty = fresh.store.height() === 0 && !existsSync(`${fresh.home}.restore`)
      need(isEmpty, () => 'something is left of what was refused')
      for (const { chain, store } of [living, fresh]) {
        need(offerTo(chain.app, served.snapshot, served.appHash) === Offer.accept, () => 'the honest offer was refused')
        for (const [index, chunk] of served.chunks.entries()) applyTo(chain.app, index, chunk)
        need(equalBytes(store.appHash(), served.appHash), () => 'the honest snapshot was not taken')
      }
      return `${count} of ${Object.keys(FORGERIES).length} kinds, to two nodes each; both took the honest one afterwards`
    } finally {
      for (const { store } of [served.server, living, fresh]) store.close()
      folder.remove()
    }
  })
}
