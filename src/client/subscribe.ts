import { isObject } from '../base/json.ts'
import { SvcRpcError, unreachable } from './errors.ts'
import type { GetBlockResult, GetTransactionResult } from './gen/calls.ts'
import { callText } from './transport.ts'

/**
 * What `svc.subscribe` tells of, by topic.
 *
 * @example
 * const print = ({ type, attributes }: SvcTopics['proposal']): void => console.log(type, attributes)
 * await svc.subscribe('proposal', print)
 */
export interface SvcTopics {
  /** Each new block, without its transactions. */
  readonly newBlock: Omit<NonNullable<GetBlockResult>, 'transactions' | 'events'>
  /** Each transaction in a block, failed ones too. */
  readonly tx: NonNullable<GetTransactionResult>
  /** Each proposal, vote and result; `hash` is that of the transaction, null when the block itself decided. */
  readonly proposal: {
    readonly height: number
    readonly hash: string | null
    readonly type: string
    readonly attributes: Readonly<Record<string, string>>
  }
  /** Each change of the validator set. */
  readonly validatorSet: Omit<SvcTopics['proposal'], 'hash'>
}

/**
 * The state of a subscription's connection: open; lost, and being opened again; or open after it was lost for so long that
 * the blocks of a gap are left out.
 *
 * @example
 * const show = (connection: Connection): void =>
 *   console.log(connection.state === 'lost' ? connection.reason : connection.state)
 * await svc.subscribe('newBlock', { onState: show }, console.log)
 */
export type Connection =
  | { readonly state: 'open' }
  | { readonly state: 'lost'; readonly reason: string }
  | { readonly state: 'gap'; readonly from: number; readonly to: number }

/**
 * How a subscription begins.
 *
 * @example
 * const options: SubscribeOptions = { address: owner }
 * await svc.subscribe('tx', options, ({ hash }) => console.log(hash))
 */
export interface SubscribeOptions {
  /** With `tx`: only transactions that concern this account. */
  readonly address?: string
  /** The first height to tell of, at most 100 blocks back; the next block by default. */
  readonly from?: number | string | bigint
  readonly onState?: (connection: Connection) => void
}

/**
 * A running subscription.
 *
 * @example
 * const running: SvcSubscription = await svc.subscribe('newBlock', ({ height }) => console.log(height))
 * running.unsubscribe()
 */
export interface SvcSubscription {
  /** Ends it: nothing more is told. */
  readonly unsubscribe: () => void
}

/** One subscription. Before `height` nothing is missing; of that height, `seen` events were told. */
interface Running {
  readonly topic: string
  readonly options: SubscribeOptions
  readonly tell: (event: unknown) => void
  readonly show: (connection: Connection) => void
  readonly settle: PromiseWithResolvers<void>
  isOpen: boolean
  height?: number
  seen: number
  /** Events of that height that come again after the connection was lost. */
  skip: number
}

interface Notification {
  readonly subscription: string
  readonly result?: { readonly height: number }
  readonly height?: number
  readonly gap?: { readonly from: number; readonly to: number }
}

interface Refusal {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

interface Message {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: Refusal
  readonly params?: Notification
}

const isHeight = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/** Every height that a notification names, and 0 for what it leaves out. */
const heightsIn = ({ result = { height: 0 }, height = 0, gap = { from: 0, to: 0 } }: Notification) => [
  result.height,
  height,
  gap.from,
  gap.to,
]

/** Reads what a gateway sent; undefined when a gateway sends no such thing. */
function readMessage(text: string): Message | undefined {
  try {
    const message: Message = JSON.parse(text)
    const { error, params } = message
    const isErrorValid = error === undefined || (Number.isSafeInteger(error.code) && typeof error.message === 'string')
    const areParamsValid =
      params === undefined || (typeof params.subscription === 'string' && heightsIn(params).every(isHeight))
    return isObject(message) && isErrorValid && areParamsValid ? message : undefined
  } catch {
    // It is not JSON, or null stands where an object belongs.
    return undefined
  }
}

const PAUSE_MS_MIN = 200
const PAUSE_MS_MAX = 10_000

/** How often the gateway has to say something, in ms; it is asked for it. */
const HEARTBEAT_MS = 30_000

const METHOD = 'svc_subscribe'

const refusalOf = ({ code, message, data } = { code: -32603, message: 'the gateway refuses' } as Refusal) =>
  new SvcRpcError(METHOD, code, message, data)

function hear(running: Running, { result, height, gap }: Notification): void {
  const goOn = (next: number): void => void Object.assign(running, { height: next, seen: 0, skip: 0 })
  if (gap !== undefined) {
    // It was asked from the height on that it had heard of last. Of what has one event a block, it lacks nothing there.
    const isWhole = running.topic === 'newBlock' && gap.from === running.height && running.seen > 0
    const from = isWhole ? gap.from + 1 : gap.from
    goOn(gap.to + 1)
    if (from <= gap.to) running.show({ state: 'gap', from, to: gap.to })
  } else if (result === undefined) {
    const next = (height ?? 0) + 1
    if (next > (running.height ?? 0)) goOn(next)
  } else if (result.height === running.height && running.skip > 0) running.skip--
  else {
    if (result.height !== running.height) goOn(result.height)
    running.seen++
    running.tell(result)
  }
}

interface Listener {
  readonly onOpen: () => void
  readonly onMessage: (message: Message) => void
  /** Called once, whatever ended it. */
  readonly onEnd: (reason: string, error: Error) => void
}

/** Opens one websocket. The gateway is asked for a sign of life when it is silent. */
function openSocket(address: string, { onOpen, onMessage, onEnd }: Listener) {
  const socket = new WebSocket(address)
  let isEnded = false
  let isHeard = false
  const send = (id: number, method: string, params: object): void => {
    if (socket.readyState === socket.OPEN) socket.send(callText({ method, params }, id))
  }
  const beat = setInterval(() => {
    if (!isHeard) return end('the gateway says nothing')
    isHeard = false
    send(0, 'svc_blockNumber', [])
  }, HEARTBEAT_MS)
  const end = (reason: string, error: Error = unreachable(METHOD, address, reason)): void => {
    if (isEnded) return
    isEnded = true
    clearInterval(beat)
    socket.close()
    onEnd(reason, error)
  }
  socket.addEventListener('open', () => isEnded || onOpen())
  socket.addEventListener('error', () => end('the connection failed'))
  socket.addEventListener('close', ({ code, reason }) => end(reason || `it was closed with ${code}`))
  socket.addEventListener('message', ({ data }) => {
    isHeard = true
    if (isEnded) return
    const message = readMessage(String(data))
    if (message === undefined) return end('the gateway sent a malformed message')
    onMessage(message)
  })
  return { send, end, isOpen: () => socket.readyState === socket.OPEN }
}

/** An error that a callback throws is the caller's: it must not close the connection, nor keep another from coming. */
const later =
  <T>(isRunning: () => boolean, callback: ((told: T) => void) | undefined) =>
  (told: T): void =>
    queueMicrotask(() => void (isRunning() && callback?.(told)))

/**
 * Creates the websocket that all subscriptions of a client share. It is open while there are any. When it is lost it is
 * opened again after a growing pause, and every subscription goes on where it was: no event is told twice, and none is
 * missing unless `onState` told of a gap.
 */
export function connect(url: string) {
  const all = new Set<Running>()
  const address = new URL(url).href.replace(/^http/, 'ws')
  const asked = new Map<unknown, Running>()
  const named = new Map<string, Running>()
  let socket: ReturnType<typeof openSocket> | undefined
  let pauseMs = PAUSE_MS_MIN
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = 0

  const begin = (running: Running): void => {
    const { topic, options, height, seen } = running
    running.skip = seen
    asked.set(++last, running)
    socket?.send(last, METHOD, { topic, address: options.address, from: height ?? options.from })
  }
  const drop = (running: Running): void => {
    all.delete(running)
    if (all.size > 0) return
    clearTimeout(timer)
    socket?.end('closed by us')
  }
  const leave = (id: string): void => socket?.send(0, 'svc_unsubscribe', [id])
  const onAnswer = (running: Running, { result, error }: Message): void => {
    const refusal = refusalOf(error)
    const isAccepted = typeof result === 'string'
    if (isAccepted && !all.has(running)) return leave(result)
    if (isAccepted) {
      // Not before all are: a gateway that refuses one of several again and again is given time.
      if (asked.size === 0) pauseMs = PAUSE_MS_MIN
      named.set(result, running)
      running.isOpen = true
      running.settle.resolve()
      running.show({ state: 'open' })
    } else if (running.isOpen) socket?.end(refusal.reason)
    else {
      drop(running)
      running.settle.reject(refusal)
    }
  }
  const onMessage = (message: Message): void => {
    const { id, params, error } = message
    // Messages that are too many are refused before they are read, so the answer does not say which one it is for.
    if (id === null && error && asked.size > 0) return socket?.end(error.message, refusalOf(error))
    const running = params ? named.get(params.subscription) : asked.get(id)
    if (!running) return
    if (params) return hear(running, params)
    asked.delete(id)
    onAnswer(running, message)
  }
  const onEnd = (reason: string, error: Error): void => {
    socket = undefined
    asked.clear()
    named.clear()
    for (const running of all) {
      if (running.isOpen) running.show({ state: 'lost', reason })
      else {
        all.delete(running)
        running.settle.reject(error)
      }
    }
    clearTimeout(timer)
    if (all.size > 0) timer = setTimeout(open, pauseMs)
    pauseMs = Math.min(PAUSE_MS_MAX, 2 * pauseMs)
  }
  const open = (): void => {
    if (socket === undefined && all.size > 0)
      socket = openSocket(address, { onOpen: () => all.forEach(begin), onMessage, onEnd })
  }

  return {
    /** Resolves once the gateway has accepted it; rejects with SvcRpcError when it cannot be reached or refuses. */
    subscribe: async (
      topic: string,
      options: SubscribeOptions,
      onEvent: (event: never) => void,
    ): Promise<SvcSubscription> => {
      const settle = Promise.withResolvers<void>()
      const isRunning = (): boolean => all.has(running)
      const tell = later(isRunning, onEvent as (event: unknown) => void)
      const show = later(isRunning, options.onState)
      const running: Running = { topic, options, tell, show, settle, isOpen: false, seen: 0, skip: 0 }
      all.add(running)
      if (socket?.isOpen()) begin(running)
      else open()
      await settle.promise
      return {
        unsubscribe: () => {
          const [id] = [...named].find(([, one]) => one === running) ?? []
          if (id !== undefined && named.delete(id)) leave(id)
          drop(running)
        },
      }
    },
  }
}
