import { Broken } from '../support/campaign.ts'

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

/** How long a call may take whose answer has to come. The machine may be busy with other things. */
export const PATIENCE_MS = 300_000

/** The result of a call over HTTP. Throws Broken when there is none within PATIENCE_MS. */
export async function resultOf(url: string, method: string, params: unknown): Promise<unknown> {
  const answer = await ask(url, method, params, PATIENCE_MS)
  if (answer?.result === undefined) throw new Broken(`${method}: ${JSON.stringify(answer?.error ?? 'no answer')}`)
  return answer.result
}

/** An account as a gateway tells it. */
export interface Account {
  readonly nonce: number
  readonly balance: bigint
}

/** Reads an account. Throws as resultOf does. */
export const readAccount = async (url: string, address: string): Promise<Account> => ({
  nonce: (await resultOf(url, 'svc_getTransactionCount', [address])) as number,
  balance: BigInt((await resultOf(url, 'svc_getBalance', [address])) as string),
})

/** Opens a websocket, and sends one call over it as `ask` does. */
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
