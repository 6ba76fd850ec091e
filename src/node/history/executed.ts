/** Makes what the index keeps of a block: from the application, which has executed it, or from CometBFT, which keeps it. */
import type { ExecutedBlock, TxOutcome } from '../../app/context.ts'
import { concernedBy, infoOf } from '../../app/convert.ts'
import { type Address, addressBytes } from '../../values/address.ts'
import type { BlockResults, NodeBlock, NodeEvent } from '../../comet/rpc.ts'
import { txEvent } from '../../modules/chain/events.ts'
import { type ChainEvent, EVENT_PREFIX } from '../../modules/event.ts'
import { isIndexEvent } from '../../modules/registry.ts'
import { type HistoryBlock, type HistoryResult, historyResultCodec, type OwnerEvent } from './block.ts'

type SomeEvent = ChainEvent | NodeEvent

const eventOf = (owner: string, { type, attributes }: SomeEvent, txIndex?: number): OwnerEvent => ({
  owner,
  type,
  attributes: JSON.stringify(attributes),
  ...(txIndex !== undefined && { txIndex }),
})

/** A transaction that was executed. `event`: what it did, when it succeeded. */
interface Executed extends HistoryResult {
  readonly tx: Uint8Array
  readonly accounts: readonly Address[]
  /** Those of them in whose history as owner of a candidacy it is. */
  readonly validators: readonly Address[]
  readonly event: SomeEvent | undefined
}

function historyBlock(timeMs: number, executed: readonly Executed[], events: readonly SomeEvent[]): HistoryBlock {
  const done = executed.flatMap(({ validators, event }, index) =>
    event === undefined ? [] : validators.map((owner) => eventOf(owner, event, index)),
  )
  const own = events.flatMap((event) => {
    const owner = event.attributes['owner']
    return owner === undefined ? [] : [eventOf(owner, event)]
  })
  return {
    timeMs,
    txs: executed.map(({ tx }) => tx),
    results: executed.map(({ code, log, info, data, gasUsed }) =>
      historyResultCodec.encode({ code, log, info, data, gasUsed }),
    ),
    accounts: executed.map(({ accounts }) => Buffer.concat(accounts.map(addressBytes))),
    events: [...done, ...own],
  }
}

function executedTx({ tx, verdict }: TxOutcome): Executed {
  const { code, log, data, gas, events, validators = [] } = verdict
  const accounts = concernedBy(verdict)
  return {
    tx,
    code,
    log,
    info: infoOf(verdict),
    data,
    gasUsed: gas,
    accounts,
    validators: accounts.filter((account) => validators.includes(account)),
    event: events[0],
  }
}

/** What the index keeps of a block that the application has executed. */
export const executedBlock = ({ timeMs, outcomes, events }: ExecutedBlock): HistoryBlock =>
  historyBlock(timeMs, outcomes.map(executedTx), events)

function foundTx(tx: Uint8Array, index: number, results: BlockResults): Executed {
  const { code, log, info, data, gasUsed } = results.results[index] as BlockResults['results'][0]
  const events = results.eventsOfTx(index, EVENT_PREFIX)
  const found = events.filter(({ type }) => type === txEvent.type).map(({ attributes }) => attributes)
  const named = (name: 'account' | 'validator'): readonly Address[] =>
    found.flatMap(({ [name]: address }) => (address === undefined ? [] : [address as Address]))
  return {
    tx,
    code,
    log,
    info,
    data,
    gasUsed,
    accounts: named('account'),
    validators: named('validator'),
    event: events.find((event) => !isIndexEvent(event)),
  }
}

/** The same of a block that CometBFT keeps with its results. */
export const foundBlock = ({ timeMs, txs }: NodeBlock, results: BlockResults): HistoryBlock =>
  historyBlock(
    timeMs,
    txs.map((tx, index) => foundTx(tx, index, results)),
    results.eventsOfBlock().filter((event) => event.type.startsWith(EVENT_PREFIX) && !isIndexEvent(event)),
  )
