/** An answer of JSON-RPC, as it came. */
export interface Answer {
  readonly result?: unknown
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { readonly hash?: string }
  }
}

const textOf = (method: string, params: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** Calls over HTTP. Undefined when no answer came within `patienceMs`: then the caller has gone. */
export async function ask(
  url: string,
  method: string,
  params: unknown,
  patienceMs: number,
): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: textOf(method, params),
      signal: AbortSignal.timeout(patienceMs),
    })
    return (await response.json()) as Answer
  } catch {
    return undefined
  }
}

/** The same over a websocket of its own. */
export function askSocket(
  url: string,
  method: string,
  params: unknown,
  patienceMs: number,
): Promise<Answer | undefined> {
  const { promise, resolve } = Promise.withResolvers<Answer | undefined>()
  const socket = new WebSocket(url.replace(/^http/, 'ws'))
  const timer = setTimeout(() => resolve(undefined), patienceMs)
  socket.addEventListener('open', () => socket.send(textOf(method, params)))
  socket.addEventListener('message', ({ data }) => resolve(JSON.parse(String(data)) as Answer))
  for (const event of ['error', 'close']) socket.addEventListener(event, () => resolve(undefined))
  return promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}
