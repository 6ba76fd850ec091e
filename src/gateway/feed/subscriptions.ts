import { setTimeout as sleep } from 'node:timers/promises'
import { isNodeError } from '../../comet/errors.ts'
import { type FeedBlock, readBlock } from '../../comet/feed.ts'
import type { Chain } from '../chain.ts'
import { RpcError, tooMany } from '../rpc/errors.ts'
import {
  ANSWER_OVERHEAD_BYTES,
  HTTP_LIMITS,
  PIECE_BYTES,
  PROGRESS_BLOCKS,
  REFILL_BLOCKS_MAX,
  REFILL_PAUSE_MS,
  SUBSCRIPTIONS_MAX,
} from '../http/limits.ts'
import { type Interest, type News, newsOf } from './news.ts'
import { createTally } from '../http/tally.ts'
import { turnFor } from '../http/turns.ts'

/** Sends a text to a reader. `onTaken`: called once it has left, unless the reader goes away first. */
export type SendText = (text: string, onTaken?: () => void) => void

/**
 * One subscription. `next`: the first height that it has heard nothing of; every lower one is done. Infinity for one that
 * begins behind the head while the node has not said where that is.
 */
interface Subscription extends Interest {
  readonly id: string
  readonly send: SendText
  next: number
  /** Blocks without news since it was sent something. */
  quiet: number
  /** Only a part of the last block has left. Until the rest has, it hears of no other. */
  isBusy: boolean
}

/** The subscriptions of one websocket. */
export type Subscriber = ReturnType<ReturnType<typeof createSubscriptions>['subscriber']>

/** Blocks of the feed that wait to be told of; those that come while it is full are read again later. */
const PUBLISHING_MAX = 8

const notification = (id: string, member: string): string =>
  `{"jsonrpc":"2.0","method":"svc_subscription","params":{"subscription":"${id}",${member}}}`

/**
 * Sends texts, PIECE_BYTES at a time: a block may have more than may wait for a reader. The texts take memory as long, so
 * after `unreadMs` the rest goes at once, which closes the websocket of a reader that is too slow for it. Returns the bytes
 * that it sent before returning, with what each message costs beside its text.
 */
function sendTexts(
  running: ReadonlySet<Subscription>,
  one: Subscription,
  texts: readonly string[],
  onSent: () => void,
): number {
  const waiting = texts.values()
  let late: NodeJS.Timeout | undefined
  let isOver = false
  const goOn = (bytesMax: number): number => {
    let [bytes, sent] = [0, 0]
    for (const text of waiting) {
      if (!running.has(one)) break
      bytes += text.length
      sent += text.length + ANSWER_OVERHEAD_BYTES
      const isFull = bytes >= bytesMax
      one.send(notification(one.id, `"result":${text}`), isFull ? goOnInTurn : undefined)
      if (!isFull) continue
      one.isBusy = true
      late ??= setTimeout(goOn, HTTP_LIMITS.unreadMs, Infinity).unref()
      return sent
    }
    clearTimeout(late)
    if (isOver) return sent
    isOver = true
    if (late === undefined) return sent
    one.isBusy = false
    onSent()
    return sent
  }
  const goOnInTurn = (): void => void Promise.resolve(turnFor(PIECE_BYTES)).then(() => goOn(PIECE_BYTES))
  return goOn(PIECE_BYTES)
}

/**
 * Tells a subscription of one block, if it is still there and that is the one that comes next for it. `onSent`: called when
 * the last of it has left later than this. Returns the bytes that it sent, as `sendTexts`.
 */
function tell(running: ReadonlySet<Subscription>, subscription: Subscription, news: News, onSent: () => void): number {
  if (!running.has(subscription) || subscription.isBusy || subscription.next !== news.height) return 0
  subscription.next++
  const texts = news.of(subscription)
  const sent = sendTexts(running, subscription, texts, onSent)
  subscription.quiet = texts.length > 0 ? 0 : subscription.quiet + 1
  if (subscription.quiet < PROGRESS_BLOCKS) return sent
  subscription.quiet = 0
  subscription.send(notification(subscription.id, `"height":${news.height}`))
  return ANSWER_OVERHEAD_BYTES
}

/**
 * Tells all who wait for the block of a height, in turns of the event loop, those with the least to hear first. The block
 * is read and worked up only if there are any. When `isOvertaken` while it waits for its turn, the rest are behind.
 */
async function tellAll(
  chain: Chain,
  running: ReadonlySet<Subscription>,
  height: number,
  read: () => Promise<FeedBlock>,
  onSent: () => void,
  isOvertaken = (): boolean => false,
): Promise<void> {
  // Only they are told: another may come to this height in the meantime with another interest.
  const waiting = [...running].filter(({ isBusy, next }) => !isBusy && next === height)
  if (waiting.length === 0) return
  const news = await newsOf(chain, await read(), waiting)
  for (const one of waiting.sort((a, b) => news.of(a).length - news.of(b).length)) {
    const sent = tell(running, one, news, onSent)
    const turn = sent > 0 ? turnFor(sent) : undefined
    if (turn === undefined) continue
    await turn
    if (isOvertaken()) return
  }
}

/** Tells a subscription that blocks up to `to` are left out. */
function skip(subscription: Subscription, to: number): void {
  if (subscription.next > to) return
  subscription.send(notification(subscription.id, `"gap":{"from":${subscription.next},"to":${to}}`))
  subscription.next = to + 1
}

/**
 * Reads blocks for the subscriptions that are behind, until none is. Each round gives every one of them at least one block,
 * the lowest first, so that slow ones catch up and then share what is read. A subscription that begins further back during
 * a round waits for the next round, so that strangers cannot keep others waiting. `reached`: up to which height the feed
 * has told everyone who was waiting.
 */
function createRefill(
  chain: Chain,
  running: ReadonlySet<Subscription>,
  reached: () => number,
  onError: (error: unknown) => void,
) {
  let isRunning = false
  let closed = false
  const isBehind = ({ isBusy, next }: Subscription): boolean => !isBusy && next <= reached()
  const behind = (): Subscription[] => [...running].filter(isBehind)

  /** Tells of a block of the node, or of the gap up to its first one when it does not have this block any more. */
  const tellNext = async (height: number): Promise<void> => {
    const read = (): Promise<FeedBlock> => readBlock(chain.blocks, height)
    try {
      await tellAll(chain, running, height, read, () => void run())
    } catch (error) {
      if (!isNodeError(error, 'NotFound')) throw error
      const { earliestHeight } = await chain.blocks.status()
      if (earliestHeight <= height) throw error
      for (const one of behind()) if (one.next === height) skip(one, earliestHeight - 1)
    }
  }

  const run = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    for (;;) {
      for (const one of behind()) skip(one, reached() - REFILL_BLOCKS_MAX)
      const round = behind().sort((a, b) => a.next - b.next)
      if (closed || round.length === 0) break
      for (const one of round) {
        if (closed || !running.has(one) || !isBehind(one)) continue
        await tellNext(one.next).catch((error: unknown) => {
          onError(error)
          return sleep(REFILL_PAUSE_MS, undefined, { ref: false })
        })
      }
    }
    isRunning = false
  }

  return {
    run,
    close: (): void => {
      closed = true
    },
  }
}

/**
 * Tells subscriptions of the blocks of the feed, each block once and in order. A block is worked up once for all who
 * want to hear of it, and not at all when nobody does. A subscription that is behind is told of the blocks in between,
 * which are read from the node one at a time, whoever asks for them; of more than REFILL_BLOCKS_MAX only the newest.
 */
export function createSubscriptions(
  chain: Chain,
  { subscriptionsOfAddress }: typeof HTTP_LIMITS,
  onError: (error: unknown) => void,
) {
  const running = new Set<Subscription>()
  const byAddress = createTally()
  let count = 0
  let lastId = 0
  let [published, underWay] = [0, 0]
  let publishing = Promise.resolve()
  // Up to here the feed has told everyone who was waiting; whoever waits for less has to be read for.
  const reached = (): number => (underWay === 0 ? chain.feed.head() : published)
  const refill = createRefill(chain, running, reached, onError)

  /** Says from where a subscription goes on if it is lost before there is news, and tells it what it lacks. */
  const start = (one: Subscription): void => {
    if (one.next === Infinity) one.next = chain.feed.head() + 1
    one.send(notification(one.id, `"height":${one.next - 1}`))
    void refill.run()
  }
  let isHeadKnown = false
  void chain.feed.ready.then(() => {
    isHeadKnown = true
    for (const one of running) if (one.next === Infinity) start(one)
    // Those who named a height are behind now, and the next block may be long in coming.
    void refill.run()
  })

  const publish = async (block: FeedBlock): Promise<void> => {
    const read = async (): Promise<FeedBlock> => block
    const isOvertaken = (): boolean => underWay > 1
    await tellAll(chain, running, block.height, read, () => void refill.run(), isOvertaken).catch(onError)
    published = block.height
    underWay--
    void refill.run()
  }

  return {
    /** To be called with each block of the feed. */
    onBlock: (block: FeedBlock): void => {
      // Were they kept without end, blocks would fill the memory while the node does not tell their gas price.
      if (underWay >= PUBLISHING_MAX) return
      underWay++
      publishing = publishing.then(() => publish(block))
    },
    size: (): number => count,
    /**
     * Opens the subscriptions of a websocket from `address`, an IPv6 address as its /64. Its notifications go to `send`.
     */
    subscriber: (address: string, send: SendText) => {
      const own = new Map<string, Subscription>()
      let hasEnded = false
      /** Ends a subscription; false when this websocket has none of that id. */
      const remove = (id: string): boolean => {
        const found = own.get(id)
        if (found === undefined) return false
        own.delete(id)
        running.delete(found)
        byAddress.remove(address)
        count--
        return true
      }
      return {
        /**
         * Registers a subscription and returns its id. `from`: the first height to tell of, by default the one after the
         * head. Nothing is sent before `begin`. Throws RpcError -32015 when there are too many, and -32600 after `end`: a
         * message may have waited for its turn while its websocket ended.
         */
        add: (interest: Interest, from: number | undefined): string => {
          if (hasEnded) throw new RpcError('invalidRequest', 'Invalid Request: the websocket has ended')
          if (byAddress.of(address) >= subscriptionsOfAddress)
            throw tooMany(`this address has ${subscriptionsOfAddress} subscriptions`)
          if (count >= SUBSCRIPTIONS_MAX) throw tooMany(`the gateway has ${SUBSCRIPTIONS_MAX} subscriptions`)
          const id = `0x${(++lastId).toString(16)}`
          const next = from === undefined ? (isHeadKnown ? chain.feed.head() + 1 : Infinity) : Math.max(1, from)
          own.set(id, { ...interest, id, send, next, quiet: 0, isBusy: false })
          byAddress.add(address)
          count++
          return id
        },
        /** Begins what was added: the answer that names its id is on its way. */
        begin: (id: string): void => {
          const added = own.get(id)
          if (added === undefined) return
          running.add(added)
          if (isHeadKnown || added.next < Infinity) start(added)
        },
        remove,
        /** Ends all of them, and lets nothing be added any more. */
        end: (): void => {
          hasEnded = true
          for (const id of [...own.keys()]) remove(id)
        },
      }
    },
    /** Stops reading blocks. */
    close: refill.close,
  }
}
