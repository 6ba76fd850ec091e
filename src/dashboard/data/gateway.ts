import { Svc, type SubscribeOptions, type SvcSubscription, type SvcTopics } from '../../client/index.ts'
import { learnTime } from './clock.ts'
import { createStore } from './store.ts'

/** The address of the page, which is the gateway's: whatever stands before `#`, without a file name. */
export const gatewayUrl = new URL('.', location.href).href

/** How long the page waits for a gateway that answers too many requests with 429, in ms; then it shows why it waits. */
const PATIENCE_MS = 30_000

/** Before this moment, in ms of the browser's clock, the gateway wants no more requests: the page waits. */
export const patienceUntil = createStore(0)

/** A fetch that waits where a gateway, or a proxy before it, asks for patience, and then asks again. Source: RFC 6585. */
async function patientFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const inMs = patienceUntil.get() - Date.now()
    if (inMs > 0) await new Promise((done) => setTimeout(done, inMs))
    const response = await fetch(input, init)
    learnTime(response.headers.get('date'))
    const after = Number(response.headers.get('retry-after'))
    const again = Date.now() + Math.max(1, after) * 1_000
    if (response.status !== 429 || !(again < end)) return response
    patienceUntil.set(Math.max(patienceUntil.get(), again))
  }
}

/** The client that asks and signs for this page. */
export const svc = new Svc({ url: gatewayUrl, light: new URL('light', gatewayUrl).href, fetch: patientFetch })

const RETRY_MS = 2_000

/** Subscribes, again and again while the gateway refuses or is away, until what it returns is called. */
export function subscribe<T extends keyof SvcTopics>(
  topic: T,
  options: SubscribeOptions,
  onEvent: (event: SvcTopics[T]) => void,
): () => void {
  let isOver = false
  let running: SvcSubscription | undefined
  const begin = async (): Promise<void> => {
    while (!isOver && running === undefined) {
      running = await svc.subscribe(topic, options, onEvent).catch(() => undefined)
      if (running === undefined) await new Promise((done) => setTimeout(done, RETRY_MS))
    }
    if (isOver) running?.unsubscribe()
  }
  void begin()
  return () => {
    isOver = true
    running?.unsubscribe()
  }
}

/** What the gateway says of itself beside JSON-RPC. */
export interface GatewayInfo {
  /** The keys of its accounts are public, so that anybody may use them. */
  readonly devnet: boolean
  /** It forwards to a light client, so that rows can be verified. */
  readonly light: boolean
}

/** Asks the gateway what it says of itself. */
export async function askInfo(): Promise<GatewayInfo> {
  const answer = await patientFetch(new URL('page.json', gatewayUrl))
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  return (await answer.json()) as GatewayInfo
}
