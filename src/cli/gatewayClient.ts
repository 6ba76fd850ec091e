import { isObject, parseJson } from '../base/json.ts'
import { Failed } from '../node/errors.ts'
import { type GatewayFlags, gatewayUrl } from './options.ts'
import { firstLine } from './secrets.ts'

/** How long `svcd` waits for a gateway's answer, in ms. */
export const CALL_MS_MAX = 60_000
/** The most bytes of it. A page of a history is far shorter. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** A fetch that reads the whole answer. Rejects when it is late or too long, whoever answers. */
export const boundedFetch: typeof fetch = async (url, init = {}) => {
  const late = AbortSignal.timeout(CALL_MS_MAX)
  const { body, status } = await fetch(url, { ...init, signal: AbortSignal.any([late, init.signal ?? late]) })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`its answer is over ${ANSWER_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status })
}

const read = async (url: string, init?: RequestInit): Promise<string> => (await boundedFetch(url, init)).text()

interface Answer {
  readonly result?: unknown
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { readonly hash?: unknown }
  }
}

const isAnswer = (read: unknown): read is Answer => isObject(read) && ('result' in read || isObject(read['error']))

async function ask(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answer> {
  const where = `the gateway at ${url}`
  let text: string
  try {
    text = await read(url, { method: 'POST', headers, body })
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: string; message?: string }; message: string }
    const why = cause?.code ?? cause?.message ?? message
    throw new Failed(`${where} does not answer (${why}). Check that it is running, or name another with --gateway URL`)
  }
  const answer = parseJson(text)
  if (!isAnswer(answer))
    throw new Failed(`${where} did not answer with JSON-RPC, but with ${JSON.stringify(text.slice(0, 80))}`)
  return answer
}

/** Creates a client of the gateway at `url`. `token`: for `Authorization: Bearer`. */
export function createGatewayClient(url: string, token?: string) {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  return {
    url,
    token,
    /**
     * Calls a method and resolves with its `result`. Throws a Failed when there is no answer, or for an error, with its
     * code.
     */
    call: async (method: string, params: unknown = {}): Promise<unknown> => {
      const { result, error } = await ask(url, headers, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      if (!isObject(error)) return result
      const hash = error.data?.hash
      const which = typeof hash === 'string' ? ` (hash ${hash})` : ''
      throw new Failed(`${method}: code ${error.code}: ${error.message}${which}`, { error })
    },
    /** Reads /readyz: `ready`, and a `reason` if it is false. Empty when a proxy does not pass that path on. */
    readiness: async (): Promise<{ readonly ready?: boolean; readonly reason?: string }> => {
      try {
        const { ready, reason } = JSON.parse(await read(`${url}/readyz`)) as {
          readonly ready?: unknown
          readonly reason?: unknown
        }
        return { ...(typeof ready === 'boolean' ? { ready } : {}), ...(typeof reason === 'string' ? { reason } : {}) }
      } catch {
        return {}
      }
    },
  }
}

/** A client of a gateway. */
export type GatewayClient = ReturnType<typeof createGatewayClient>

/** The gateway of the flags, else of config/svcd.json, else the default one on this machine. */
export function gatewayFrom(flags: GatewayFlags): GatewayClient {
  const url = gatewayUrl(flags)
  const { authTokenFile: file } = flags
  return createGatewayClient(url, file === undefined ? undefined : firstLine(file, '--auth-token-file'))
}
