import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FeedBlock } from '../../comet/feed.ts'
import type { NodeEvent } from '../../comet/rpc.ts'
import type { Chain } from '../chain.ts'
import { txEvent } from '../../modules/chain/events.ts'
import { EVENT_PREFIX } from '../../modules/event.ts'
import { stakeEvents } from '../../modules/stake/events.ts'
import { blockHead, printFound, publicEvents, txsOf } from './found.ts'
import { TURN_CALLS } from '../http/limits.ts'

/** What can be subscribed to. Source: protocol.md §10, svc_subscribe. */
export const TOPICS = ['newBlock', 'tx', 'proposal', 'validatorSet'] as const

/** One of them. */
export type Topic = (typeof TOPICS)[number]

/** What somebody wants to hear: of `tx`, only the transactions that concern `address`, if one is given. */
export interface Interest {
  readonly topic: Topic
  readonly address: string | undefined
}

/** What a block says to each interest: JSON texts in the order of the block. They are made once for all. */
export interface News {
  readonly height: number
  readonly of: (interest: Interest) => readonly string[]
}

const { validatorSet, joined, left, removed } = stakeEvents
const SET_EVENTS = new Set([validatorSet, joined, left, removed].map(({ type }) => type))
const GOVERNANCE = `${EVENT_PREFIX}governance.`

interface PrintedTx {
  readonly text: string
  readonly accounts: ReadonlySet<string | undefined>
}

async function printTxs(chain: Chain, block: FeedBlock, interests: readonly Interest[]): Promise<readonly PrintedTx[]> {
  const wanted = interests.filter(({ topic }) => topic === 'tx')
  const isAnyWanted = wanted.some(({ address }) => address === undefined)
  const addresses = new Set(wanted.map(({ address }) => address))
  const printed: PrintedTx[] = []
  for (const tx of wanted.length === 0 ? [] : txsOf(block)) {
    const events = addresses.size === 1 && isAnyWanted ? [] : block.eventsOfTx(tx.index, txEvent.type)
    const accounts = new Set(events.map(({ attributes }) => attributes['account']))
    if (!isAnyWanted && ![...accounts].some((account) => addresses.has(account))) continue
    printed.push({ text: JSON.stringify(await printFound(chain, tx)), accounts })
    // A large block must not keep the gateway from its callers.
    if (printed.length % TURN_CALLS === 0) await nextTurn()
  }
  return printed
}

function proposalEvents(block: FeedBlock): readonly string[] {
  const print = (events: readonly NodeEvent[], hash: string | null): readonly string[] =>
    publicEvents(events)
      .filter(({ type }) => type.startsWith(GOVERNANCE))
      .map((event) => JSON.stringify({ height: block.height, hash, ...event }))
  return [
    ...txsOf(block).flatMap(({ hash, index }) => print(block.eventsOfTx(index, GOVERNANCE), hash)),
    ...print(block.eventsOfBlock(), null),
  ]
}

/** Reads what a block says to these interests, and to no others. Throws a NodeError when the node fails. */
export async function newsOf(chain: Chain, block: FeedBlock, interests: readonly Interest[]): Promise<News> {
  const isWanted = (topic: Topic): boolean => interests.some((one) => one.topic === topic)
  const txs = await printTxs(chain, block, interests)
  const { height } = block
  const setEvents = () => block.eventsOfBlock().filter(({ type }) => SET_EVENTS.has(type))
  const texts = {
    newBlock: isWanted('newBlock') ? [JSON.stringify(blockHead(block))] : [],
    proposal: isWanted('proposal') ? proposalEvents(block) : [],
    validatorSet: isWanted('validatorSet') ? setEvents().map((event) => JSON.stringify({ height, ...event })) : [],
  }
  const all = txs.map(({ text }) => text)
  const byAccount = new Map<string | undefined, string[]>()
  for (const { text, accounts } of txs)
    for (const account of accounts) {
      const own = byAccount.get(account)
      if (own === undefined) byAccount.set(account, [text])
      else own.push(text)
    }
  return {
    height,
    of: ({ topic, address }) => {
      if (topic !== 'tx') return texts[topic]
      return address === undefined ? all : (byAccount.get(address) ?? [])
    },
  }
}
