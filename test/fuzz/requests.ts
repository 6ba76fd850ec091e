import { join } from 'node:path'
import { type Handlers, handlersOf, isPromise } from '../../src/abci/handlers.ts'
import type { RequestKind } from '../../src/abci/types.ts'
import { createReplyBuffer, decodeRequest, type DecodedRequest } from '../../src/abci/wire.ts'
import { descriptor } from '../../src/codec/gen/abci.descriptor.js'
import type { FieldDescriptor } from '../../src/codec/protobuf.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { bytes, NUMBERS, number, TEXTS, UNKNOWN } from '../abci/wireBytes.ts'
import { random } from '../chain/support.ts'
import { type CampaignOptions, type CampaignReport, need } from '../support/campaign.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { mutated, type Next, pick, randomBytes } from './bytes.ts'
import { runCases } from './campaign.ts'
import { randomPath } from './application.ts'

const fieldsOf = (message: string): readonly FieldDescriptor[] => descriptor[`abci.${message}`]?.fields ?? []
const KINDS = fieldsOf('Request')

/**
 * What a stranger reaches through a node, or a proposer through its proposal, whatever the members hold; and what the
 * server answers by itself. The others are read and not answered: only consensus calls the handlers of blocks, which end
 * the application at what no node sends; and the application has none for insertTx, reapTxs and the blocks of 0.37.
 */
const ANSWERED: ReadonlySet<string> = new Set<RequestKind>([
  'echo',
  'flush',
  'info',
  'query',
  'checkTx',
  'prepareProposal',
  'processProposal',
  'extendVote',
  'verifyVoteExtension',
  'listSnapshots',
  'offerSnapshot',
  'loadSnapshotChunk',
  'applySnapshotChunk',
])

function value(next: Next, { name, id, type }: FieldDescriptor, tx: Uint8Array): Buffer {
  if (type === 'string' || type === 'bytes') {
    if (name === 'path' && next(2) === 0) return bytes(id, Buffer.from(randomPath(next)))
    if (/^txs?$/.test(name) && next(2) === 0) return bytes(id, next(2) === 0 ? tx : mutated(next, tx))
    return bytes(id, next(2) === 0 ? pick(next, TEXTS) : randomBytes(next, next(40)))
  }
  if (descriptor[`abci.${type}`]?.fields !== undefined) return bytes(id, message(next, type, tx))
  return number(id, next(3) === 0 ? BigInt(next(8)) : pick(next, NUMBERS))
}

/** A message of a type with any of its members, in any order, some of them often, and unknown ones. */
function message(next: Next, type: string, tx: Uint8Array): Buffer {
  const members = fieldsOf(type).flatMap((field) =>
    Array.from({ length: next(3) === 0 ? 0 : 1 + (next(4) === 0 ? next(4) : 0) }, () => value(next, field, tx)),
  )
  if (next(10) === 0) members.push(UNKNOWN)
  if (next(6) === 0) members.reverse()
  return Buffer.concat(members)
}

function unsafeIn(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? undefined : given
  if (typeof given !== 'object' || given === null || given instanceof Uint8Array) return undefined
  for (const one of Object.values(given)) {
    const found = unsafeIn(one)
    if (found !== undefined) return found
  }
  return undefined
}

/** A chain of three blocks on disk, so that snapshots are asked for as well. */
function startChain(folder: string): { readonly chain: TestChain; readonly close: () => void } {
  const store = openSqliteStore({ path: join(folder, 'state.db'), tables, views })
  const chain = new TestChain({
    store,
    app: {
      afterAnswer: setImmediate,
      snapshots: {
        folder: join(folder, 'snapshots'),
        restorePath: join(folder, 'restore.db'),
        replaceBy: store.replaceBy,
        beginAt: () => undefined,
      },
    },
  })
  chain.init({
    accounts: [{ address: account(5).address, balance: tokens(1000) }],
    candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(100) }],
  })
  chain.advanceTo(3)
  return { chain, close: () => store.close() }
}

type Decode = (frame: Buffer) => DecodedRequest

/** Reads a frame, which is well-formed or not. Returns the request of a kind that is answered. */
function decodeOne(decode: Decode, kind: string, frame: Buffer, isWellFormed: boolean): DecodedRequest | undefined {
  const told = (): string => `${kind} ${frame.toString('hex')}`
  let decoded: DecodedRequest
  try {
    decoded = decode(frame)
  } catch (error) {
    const isCoded = (error as { code?: unknown }).code === 'undecodable'
    need(!isWellFormed && isCoded, () => `${told()} is refused: ${String(error)}`)
    return undefined
  }
  need(!isWellFormed || decoded.kind === kind, () => `${told()} is read as ${decoded.kind}`)
  if (decoded.kind === undefined) return undefined
  need(unsafeIn(decoded.request) === undefined, () => `${told()} has the number ${unsafeIn(decoded.request)}`)
  return ANSWERED.has(decoded.kind) ? decoded : undefined
}

/**
 * Requests of every kind with members at their extremes: what is protobuf is read, and what strangers reach is answered
 * by the application with a reply that can be sent. `decode`: what reads a frame.
 */
export async function requests(
  { count, seed }: CampaignOptions,
  decode: Decode = decodeRequest,
): Promise<CampaignReport> {
  const next = random(seed)
  const folder = tempFolder('fuzz')
  const { chain, close } = startChain(folder.path)
  // The server answers two kinds by itself, as src/abci/connection.ts has it.
  const handlers: Handlers = { ...handlersOf(chain.app), echo: (request) => request, flush: () => ({}) }
  const tx = chain.tx(account(5), 'transfer', { to: randomBytes(next, 20), value: '1' })
  const answer = async (decoded: DecodedRequest, told: () => string): Promise<void> => {
    const { kind, request } = decoded as Exclude<DecodedRequest, { kind: undefined }>
    try {
      const handler = handlers[kind] as (given: typeof request) => unknown
      const response = handler(request)
      createReplyBuffer().put(kind, isPromise(response) ? await response : response)
    } catch (error) {
      need(false, () => `${told()} is answered with an exception: ${String(error)}`)
    }
  }
  try {
    return await runCases(
      {
        name: 'ABCI requests',
        target: 'every well-formed request is read, and one that a stranger reaches is answered without an exception',
        seed,
      },
      count,
      async () => {
        const { name, id, type } = pick(next, KINDS)
        const isWellFormed = next(5) > 0
        const frame = bytes(id, message(next, type, tx))
        const sent = isWellFormed ? frame : Buffer.from(mutated(next, frame))
        const decoded = decodeOne(decode, name, sent, isWellFormed)
        if (decoded !== undefined) await answer(decoded, () => `${name} ${sent.toString('hex')}`)
        return 1
      },
    )
  } finally {
    close()
    folder.remove()
  }
}
