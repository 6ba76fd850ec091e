import { Failed } from './errors.ts'
import { type GatewayFlags, parseUrl, settingOf } from './options.ts'
import { firstLine } from './secrets.ts'

/** The gateway that a command asks. */
export interface Remote {
  readonly url: string
  /** What it wants in `Authorization: Bearer`. */
  readonly token: string | undefined
  /** The `result` of a call. Throws a Failed: no answer, or an error with its code. `params` by name. */
  readonly call: (method: string, params?: unknown) => Promise<unknown>
  /** `ready`, and `reason` when it is false, as its /readyz says; nothing when a proxy keeps that path to itself. */
  readonly readiness: () => Promise<{ readonly ready?: boolean; readonly reason?: string }>
}

const CALL_MS_MAX = 60_000

async function ask(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<unknown> {
  const where = `the gateway at ${url}`
  let text: string
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(CALL_MS_MAX) })
    text = await answer.text()
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: string; message?: string }; message: string }
    const why = cause?.code ?? cause?.message ?? message
    throw new Failed(`${where} does not answer (${why}): is it running? Name another with --gateway URL`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Failed(`${where} answers something that is not JSON-RPC: ${JSON.stringify(text.slice(0, 80))}`)
  }
}

/** The gateway of the flags, else of SVCD_GATEWAY, else of config/svcd.json, else on this machine. */
export function remoteFrom(flags: GatewayFlags): Remote {
  const url = parseUrl(settingOf(flags, flags.gateway, 'gateway') ?? 'http://127.0.0.1:8545', '--gateway')
  const tokenFile = flags.authTokenFile ?? process.env['SVCD_AUTH_TOKEN_FILE']
  const token = tokenFile === undefined ? undefined : firstLine(tokenFile, '--auth-token-file')
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  return {
    url,
    token,
    call: async (method, params = {}) => {
      const answer = (await ask(url, headers, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))) as {
        readonly result?: unknown
        readonly error?: { readonly code: number; readonly message: string }
      }
      if (answer.error === undefined) return answer.result
      throw new Failed(`${method}: code ${answer.error.code}: ${answer.error.message}`, { error: answer.error })
    },
    readiness: async () => {
      try {
        const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(CALL_MS_MAX) })
        const { ready, reason } = (await response.json()) as { readonly ready?: unknown; readonly reason?: unknown }
        return { ...(typeof ready === 'boolean' ? { ready } : {}), ...(typeof reason === 'string' ? { reason } : {}) }
      } catch {
        return {}
      }
    },
  }
}
