/** What the index keeps of a block: from the application, which has executed it, or from CometBFT, which keeps it. */
import type { ExecutedBlock, TxOutcome } from '../../app/context.ts'
import { concernedBy, infoOf } from '../../app/convert.ts'
import type { Address } from '../../base/address.ts'
import { historyCodec } from '../../codec/history.ts'
import type { BlockResults, NodeBlock, NodeEvent } from '../../comet/rpc.ts'
import type { ChainEvent } from '../../modules/define.ts'
import { INDEX_EVENTS } from '../../modules/registry.ts'

/** An event. `attributes` is a JSON object of texts. */
export interface HistoryEvent {
  readonly type: string
  readonly attributes: string
}

/** A transaction in a block, and what came of it. */
export interface HistoryTx {
  readonly tx: Uint8Array
  readonly code: number
  readonly log: string
  readonly info: string
  readonly data: Uint8Array
  readonly gasUsed: number
  /** Every account that it concerns, once. */
  readonly accounts: readonly Address[]
  /** Those of them in whose history as owner of a candidacy it is. */
  readonly validators: readonly Address[]
  /** What it did, where it has validators. */
  readonly event?: HistoryEvent | undefined
}

/** What the index keeps of a block. `events`: the block's own that name an owner, in order. */
export interface HistoryBlock {
  readonly timeMs: number
  readonly transactions: readonly HistoryTx[]
  readonly events: readonly (HistoryEvent & { readonly owner: string })[]
}

/** A block as the journal keeps it. */
export const historyBlockCodec = historyCodec<HistoryBlock>('history.Block')

const print = ({ type, attributes }: ChainEvent | NodeEvent): HistoryEvent => ({
  type,
  attributes: JSON.stringify(attributes),
})

const ownerEvents = (events: readonly (ChainEvent | NodeEvent)[]): HistoryBlock['events'] =>
  events.flatMap((event) => {
    const owner = event.attributes['owner']
    return owner === undefined ? [] : [{ ...print(event), owner }]
  })

const eventOf = (validators: readonly Address[], event: ChainEvent | NodeEvent | undefined) =>
  validators.length > 0 && event !== undefined ? { event: print(event) } : {}

function executedTx({ tx, verdict }: TxOutcome): HistoryTx {
  const { code, log, data, gas, events } = verdict
  const accounts = concernedBy(verdict)
  const validators = accounts.filter((account) => verdict.validators?.includes(account))
  return {
    tx,
    code,
    log,
    info: infoOf(verdict),
    data,
    gasUsed: gas,
    accounts,
    validators,
    ...eventOf(validators, events[0]),
  }
}

/** What the index keeps of a block that the application has executed. */
export const executedBlock = ({ timeMs, outcomes, events }: ExecutedBlock): HistoryBlock => ({
  timeMs,
  transactions: outcomes.map(executedTx),
  events: ownerEvents(events),
})

function foundTx(tx: Uint8Array, index: number, results: BlockResults): HistoryTx {
  const { code, log, info, data, gasUsed } = results.results[index] as BlockResults['results'][0]
  const events = results.eventsOfTx(index, 'svc.')
  const found = events.filter(({ type }) => type === 'svc.tx').map(({ attributes }) => attributes)
  const validators = found.flatMap(({ validator }) => (validator === undefined ? [] : [validator as Address]))
  return {
    tx,
    code,
    log,
    info,
    data,
    gasUsed,
    accounts: found.flatMap(({ account }) => (account === undefined ? [] : [account as Address])),
    validators,
    ...eventOf(
      validators,
      events.find(({ type }) => !INDEX_EVENTS.has(type)),
    ),
  }
}

/** The same of a block that CometBFT keeps with its results. */
export const foundBlock = ({ timeMs, txs }: NodeBlock, results: BlockResults): HistoryBlock => ({
  timeMs,
  transactions: txs.map((tx, index) => foundTx(tx, index, results)),
  events: ownerEvents(results.eventsOfBlock().filter(({ type }) => type.startsWith('svc.') && !INDEX_EVENTS.has(type))),
})
