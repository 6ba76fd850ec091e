import { Svc, type SubscribeOptions, type SvcSubscription, type SvcTopics } from '../../client/index.ts'
import { createStore } from './store.ts'

/** The address of the page, which is the gateway's: whatever stands before `#`, without a file name. */
export const gatewayUrl = new URL('.', location.href).href

/** The client that asks and signs for this page. */
export const svc = new Svc({ url: gatewayUrl, light: new URL('light', gatewayUrl).href })

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

/** What it says of itself; neither until it has answered, and where it does not. */
export const gatewayInfo = createStore<GatewayInfo>({ devnet: false, light: false })

fetch(new URL('page.json', gatewayUrl))
  .then(async (answer) => gatewayInfo.set((await answer.json()) as GatewayInfo))
  .catch(() => undefined)
