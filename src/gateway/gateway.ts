import type { Registry } from 'prom-client'
import { PORTS } from '../base/ports.ts'
import { VERSION } from '../base/version.ts'
import { startBlockFeed } from '../comet/feed.ts'
import type { Signer } from '../tx/sign.ts'
import { createChain, openClients } from './chain.ts'
import { boundErrors } from './errorLog.ts'
import { turnsOf } from './fewAtATime.ts'
import { type Params, RawJson } from './rpc/envelope.ts'
import { type DefectLog, errorObject, RpcError, rpcErrors } from './rpc/errors.ts'
import { beginWatch, logStalls, type Readiness, readiness, watchHead } from './http/health.ts'
import { createHttpServer } from './http/http.ts'
import { openLight } from './http/light.ts'
import { CALLS_OF_ADDRESS_MAX, HTTP_LIMITS, WAIT_MS } from './http/limits.ts'
import { createMetrics, type Metrics } from './http/metrics.ts'
import type { CallConnection, Services } from './rpc/methods/define.ts'
import { methodGroups, methodOf } from './rpc/methods/list.ts'
import { createDocument } from './rpc/openrpc.ts'
import { readParams } from './rpc/fields.ts'
import { openPage, PAGE_FOLDER } from './http/page.ts'
import { createFaucet } from './send/faucet.ts'
import { createSender } from './send/sender.ts'
import { createSubscriptions } from './feed/subscriptions.ts'
import { checkSigning, type GuardOptions, mayAskToSign } from './http/access.ts'
import { createTracker } from './send/tracker.ts'

/** A pino logger has this shape. */
export interface GatewayLog extends DefectLog {
  info: (about: object, message: string) => void
  warn: (about: object, message: string) => void
}

/** How a gateway is started. It listens on 127.0.0.1 and allows no hosts or origins unless told otherwise. */
export interface GatewayOptions extends Partial<GuardOptions> {
  /** http://host:port of the CometBFT node's RPC. It may be away. */
  readonly node: string
  /** Default PORTS.gateway; 0 takes any free one. */
  readonly port?: number
  /** Accounts that it signs for, in the order of svc_accounts: whoever reaches the gateway may act for them. */
  readonly signers?: readonly Signer[]
  /** Without it in `Authorization: Bearer` nobody has the gateway sign. Needed with signers, whatever the address. */
  readonly authToken?: string | undefined
  /** True when anybody has the signers' keys anyway: no token is needed. Default false. */
  readonly publicKeys?: boolean
  readonly logger: GatewayLog
  /** How long a transaction is waited for. Default WAIT_MS. */
  readonly waitMs?: number
  /** Age of the head from which transactions are refused, in ms; 0 for never. Default: see watchHead. */
  readonly stalledAfterMs?: number | undefined
  /** What callers may take of it. What is left out is taken from HTTP_LIMITS. */
  readonly limits?: Partial<typeof HTTP_LIMITS>
  /** The folder of the built web page that is served at /, or false to serve none. Default PAGE_FOLDER. */
  readonly page?: string | false
  /** http://host:port of a `cometbft light` proxy for POST /light. Without it there is none. */
  readonly light?: string | undefined
  /** For a devnet whose blocks wait for transactions: what svc_mine calls. */
  readonly propose?: Services['propose']
}

/** A running gateway. */
export interface Gateway {
  /** http://host:port. */
  readonly url: string
  /** Whether it can serve transactions and queries, as /readyz says. */
  readonly readiness: () => Promise<Readiness>
  /** The address of the web page; undefined when it is not served, or not built. */
  readonly pageUrl: string | undefined
  /** Its metrics, which it serves nowhere itself. */
  readonly metrics: Registry
  /** Resolves after `close`. Rejects when it hears of no more blocks: the node follows another chain than before. */
  readonly ended: Promise<void>
  /** Stops: calls that wait for a block are answered with -32012 and the hash. */
  readonly close: () => Promise<void>
}

/** Runs a method by name and counts it. Throws what `errorObject` prints. */
function createCall(services: Services, onCall: Metrics['onCall'], log: DefectLog, authToken: string | undefined) {
  const inTurn = turnsOf('the call', CALLS_OF_ADDRESS_MAX)
  return async (name: string, params: Params, connection: CallConnection): Promise<unknown> => {
    const begunMs = performance.now()
    const method = methodOf.get(name)
    let code = 0
    try {
      if (method === undefined) throw new RpcError('methodNotFound', `Method not found: ${name.slice(0, 80)}`)
      if (method.signs === true && !mayAskToSign(authToken, connection.authorization))
        throw new RpcError('needsToken', rpcErrors.needsToken.message)
      if (method.needsSocket === true && connection.subscriber === undefined)
        throw new RpcError('methodNotFound', `${name} needs a websocket: open one at the address of the gateway`)
      const run = async (): Promise<unknown> => method.run(services, readParams(method, params), connection)
      return await (method.hasOwnBounds === true ? run() : inTurn(connection.address, run))
    } catch (thrown) {
      const error = errorObject(thrown, log, name)
      code = error.code
      throw new RpcError(code, error.message, error.data)
    } finally {
      onCall(method === undefined ? 'unknown' : name, code, (performance.now() - begunMs) / 1000)
    }
  }
}

/**
 * Starts a gateway: JSON-RPC 2.0 on POST /, beside it the web page, /healthz, /readyz and /openrpc.json. The node
 * may be away at the start: calls are answered with -32011 until it is there. Rejects when it cannot listen on the
 * address, and with a GatewayStartError when it would sign for strangers. Source: protocol.md §10.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { node, host = '127.0.0.1', port = PORTS.gateway, waitMs = WAIT_MS, logger } = options
  const { signers = [], authToken, publicKeys = false, allowHosts = [], allowOrigins = [] } = options
  checkSigning({ accounts: signers.length, authToken, publicKeys })
  const light = options.light === undefined ? undefined : openLight(options.light)
  const page = openPage(options.page ?? PAGE_FOLDER, { devnet: publicKeys, light: light !== undefined })
  const log = boundErrors(logger)
  const clients = openClients(node)
  const tracker = createTracker()
  const head = watchHead(options.stalledAfterMs)
  const feed = startBlockFeed(clients.transactions, {
    onBlock: (block) => {
      head.onBlock(block)
      tracker.onBlock(block)
      subscriptions.onBlock(block)
    },
    // Those who wait for a transaction of this block will need its gas price, so both are read at the same time.
    onHeight: (height) => {
      head.onHeight(height)
      chain.onHeight()
      if (tracker.size() > 0) chain.gasPrice(height).catch(() => undefined)
    },
    onState: ({ connected, head: at, lost, reason }) => {
      if (!connected) chain.onLost()
      if (lost !== undefined || reason !== undefined)
        logger.warn({ connected, head: at, lost, reason }, 'the feed of blocks was disturbed')
    },
  })
  void feed.ready.then((height) => beginWatch(head, clients.transactions, height))
  const chain = createChain(clients, feed, head)
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const subscriptions = createSubscriptions(chain, limits, (error) =>
    logger.warn({ err: error }, 'a block could not be read for subscriptions'),
  )
  const endLog = logStalls(head, logger)
  feed.done.catch((error: unknown) => logger.error({ err: error }, 'the feed of blocks ended'))
  const sender = createSender({ chain, tracker, waitMs })
  const documentAt = createDocument(methodGroups, VERSION)
  const metrics = createMetrics({
    height: feed.head,
    headAgeMs: head.ageMs,
    connected: () => Number(feed.connected()),
    waiting: sender.underWay,
    subscriptions: subscriptions.size,
  })
  const services: Services = {
    chain,
    sender,
    propose: options.propose,
    isClosing: tracker.isClosed,
    faucet: publicKeys ? createFaucet(signers) : undefined,
    signers: new Map(signers.map((signer) => [signer.address, signer])),
    onOutcome: metrics.onOutcome,
    discover: (url) => new RawJson(documentAt(url)),
  }
  let app: Awaited<ReturnType<typeof createHttpServer>> | undefined
  const close = async (): Promise<void> => {
    endLog()
    subscriptions.close()
    await app?.close()
    await feed.close()
    light?.close()
    for (const client of Object.values(clients)) client.close()
  }
  try {
    app = await createHttpServer({
      call: createCall(services, metrics.onCall, log, authToken),
      isList: (name) => methodOf.get(name)?.isList === true,
      log,
      guard: { host, allowHosts, allowOrigins },
      limits,
      ready: () => readiness(chain),
      documentAt,
      subscriber: subscriptions.subscriber,
      onSlow: metrics.onSlow,
      page,
      light,
      onClosing: tracker.close,
    })
    const url = await app.listen({ host, port })
    const pageUrl = page?.files === undefined ? undefined : `${url}/`
    logger.info({ url, node, accounts: signers.length, page: pageUrl }, 'the gateway listens')
    return { url, pageUrl, readiness: () => readiness(chain), metrics: metrics.registry, ended: feed.done, close }
  } catch (error) {
    await close()
    throw error
  }
}
