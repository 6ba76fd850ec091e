/** `svcd/web3-plugin`: web3.svc on web3.js 4, by `web3.registerPlugin(new SvcPlugin())`. */
import { Web3PluginBase } from 'web3'
import { cannotWait } from './blocking.ts'
import { asError, SvcRpcError } from './errors.ts'
import { type Call, httpTransport, plainParams, readReplies, type Reply, type Transport } from './transport.ts'
import { createFunctions, type Svc } from './svc.ts'

/** The part of web3's request manager that is used here. */
interface Manager {
  readonly provider: unknown
  readonly send: (request: never) => Promise<unknown>
  readonly sendBatch: (requests: never) => Promise<unknown>
}

interface Failure {
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: unknown
}

/** web3 throws an error of its own; the gateway's stands in its cause. */
function rpcErrorOf(method: string, thrown: unknown): SvcRpcError {
  const cause = (thrown as { cause?: Failure } | null)?.cause
  const isAnswer = typeof cause?.code === 'number' && typeof cause.message === 'string'
  const error = isAnswer
    ? new SvcRpcError(method, cause.code as number, cause.message as string, cause.data)
    : new SvcRpcError(method, undefined, asError(thrown).message)
  return Object.assign(error, { cause: thrown })
}

const withPlainParams = ({ method, params }: Call): never => ({ method, params: plainParams(params) }) as never

/** A transport over the provider that web3 is set to. Only an HTTP provider can be waited for. */
function managerTransport(manager: () => Manager): Transport {
  const ask: Transport['ask'] = async (call, signal) => {
    signal?.throwIfAborted()
    try {
      return await manager().send(withPlainParams(call))
    } catch (thrown) {
      throw rpcErrorOf(call.method, thrown)
    }
  }
  const askOne = (call: Call): Promise<Reply> =>
    ask(call).then(
      (result) => ({ result }),
      (error: SvcRpcError) => ({ error }),
    )
  const askAll: Transport['askAll'] = async (calls) => {
    if (calls.length === 1) return [await askOne(calls[0] as Call)]
    try {
      return readReplies(
        calls,
        200,
        JSON.stringify(await manager().sendBatch(calls.map(withPlainParams) as never)),
        'by position',
      )
    } catch (thrown) {
      return calls.map(({ method }) => ({ error: rpcErrorOf(method, thrown) }))
    }
  }
  const waiting = new Map<string, Transport>()
  const askBlocking: Transport['askBlocking'] = (call, functionCall) => {
    const url = (manager().provider as { readonly clientUrl?: unknown } | undefined)?.clientUrl
    if (typeof url !== 'string') throw cannotWait(functionCall, 'only an HTTP provider of web3 can be waited for')
    const http = waiting.get(url) ?? httpTransport({ url })
    waiting.set(url, http)
    return http.askBlocking(call, functionCall)
  }
  return { ask, askAll, askBlocking }
}

/**
 * web3.js 4 plugin: `web3.svc` has the functions, accounts and promise forms of `Svc`; `defaultAccount` follows web3's
 * until it is set.
 */
class Plugin extends Web3PluginBase {
  pluginNamespace = 'svc'
  constructor() {
    super()
    Object.assign(
      this,
      createFunctions(
        managerTransport(() => this.requestManager as unknown as Manager),
        () => this.defaultAccount,
      ),
    )
  }
}

/** What `web3.svc` is once the plugin is registered. */
export type SvcPlugin = Plugin & Omit<Svc, 'defaultAccount' | 'verified'>

/** The plugin: `web3.registerPlugin(new SvcPlugin())`. web3 refuses to register it twice. */
export const SvcPlugin = Plugin as unknown as new () => SvcPlugin

declare module 'web3' {
  interface Web3Context {
    svc: SvcPlugin
  }
}
