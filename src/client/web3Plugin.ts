/** `svcd/web3-plugin`: web3.svc on web3.js 4, by `web3.registerPlugin(new SvcPlugin())`. */
import { utils, Web3PluginBase } from 'web3'
import { cannotWait } from './blocking.ts'
import { asError, SvcRpcError } from './errors.ts'
import {
  abortable,
  type Call,
  httpTransport,
  plainParams,
  repliesOf,
  type Reply,
  resultOf,
  type Transport,
} from './transport.ts'
import { createFunctions, type Svc } from './svc.ts'

/** Every method of the gateway, as web3 types the methods of a node. */
type Api = Record<string, (params: unknown) => unknown>
type Manager = Web3PluginBase<Api>['requestManager']

/** What web3's HTTP provider keeps, and does not type. */
interface HttpProvider {
  readonly clientUrl?: unknown
  readonly httpProviderOptions?: { readonly providerOptions?: RequestInit }
}

/** web3 throws an error of its own; the gateway's stands in its cause. */
function rpcErrorOf(method: string, thrown: unknown): SvcRpcError {
  const { code, message, data } = (thrown as { cause?: Partial<SvcRpcError> } | null)?.cause ?? {}
  const error =
    typeof code === 'number' && typeof message === 'string'
      ? new SvcRpcError(method, code, message, data)
      : new SvcRpcError(method, undefined, asError(thrown).message)
  return Object.assign(error, { cause: thrown })
}

const withPlainParams = ({ method, params }: Call) => ({ method, params: plainParams(params) as [unknown] })

/** A transport over the provider that web3 is set to. Only an HTTP provider can be waited for. */
function managerTransport(manager: () => Manager): Transport {
  const ask: Transport['ask'] = async (call, signal) => {
    signal?.throwIfAborted()
    const asked = manager()
      .send(withPlainParams(call))
      .catch((thrown: unknown) => {
        throw rpcErrorOf(call.method, thrown)
      })
    const [reply] = repliesOf([call], { result: await abortable(asked, signal) })
    return resultOf(reply as Reply)
  }
  const askAll: Transport['askAll'] = async (calls) => {
    const [only] = calls
    try {
      if (only !== undefined && calls.length === 1) return [{ result: await ask(only) }]
      const body = await manager().sendBatch(utils.jsonRpc.toBatchPayload(calls.map(withPlainParams)))
      // The ids are web3's own; the answers stand in the order of the calls.
      return repliesOf(calls, Array.isArray(body) ? body.map((answer, id) => ({ ...answer, id })) : body)
    } catch (thrown) {
      return calls.map(({ method }) => ({
        error: thrown instanceof SvcRpcError ? thrown : rpcErrorOf(method, thrown),
      }))
    }
  }
  const waiting = new WeakMap<HttpProvider, Transport>()
  const askBlocking: Transport['askBlocking'] = (call, functionCall) => {
    const provider = manager().provider as HttpProvider | undefined
    const { clientUrl: url, httpProviderOptions: options } = provider ?? {}
    if (provider === undefined || typeof url !== 'string')
      throw cannotWait(functionCall, 'only an HTTP provider of web3 can be waited for')
    const { 'content-type': _, ...headers } = Object.fromEntries(new Headers(options?.providerOptions?.headers))
    const http = waiting.get(provider) ?? httpTransport({ url }, headers)
    waiting.set(provider, http)
    return http.askBlocking(call, functionCall)
  }
  return { ask, askAll, askBlocking }
}

/**
 * web3.js 4 plugin: `web3.svc` has the functions, accounts and promise forms of `Svc`; `defaultAccount` follows web3's
 * until it is set.
 */
class Plugin extends Web3PluginBase<Api> {
  pluginNamespace = 'svc'
  constructor() {
    super()
    const transport = managerTransport(() => this.requestManager)
    Object.assign(
      this,
      createFunctions(transport, () => this.defaultAccount),
    )
  }
}

/** What `web3.svc` is once the plugin is registered. */
export type SvcPlugin = Plugin & Omit<Svc, 'defaultAccount' | 'subscribe' | 'verified'>

/** The plugin: `web3.registerPlugin(new SvcPlugin())`. web3 refuses to register it twice. */
export const SvcPlugin = Plugin as (new () => SvcPlugin) & typeof Plugin

declare module 'web3' {
  interface Web3Context {
    svc: SvcPlugin
  }
}
