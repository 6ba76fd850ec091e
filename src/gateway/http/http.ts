import { createServer } from 'node:http'
import cors from '@fastify/cors'
import { compile } from '@fastify/proxy-addr'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { callerAddress } from './callerAddress.ts'
import { dropBody, readText } from './body.ts'
import { type GuardOptions, isHost, refusedOrigin } from './access.ts'
import { type Admission, createAdmission } from './admission.ts'
import { allowHalfOpen, boundConnections, type Connections } from './connections.ts'
import { answer, type Params, type Piece, type Server } from '../rpc/envelope.ts'
import { RpcError, type RpcErrorObject, rpcErrors } from '../rpc/errors.ts'
import type { Readiness } from './health.ts'
import type { Light } from './light.ts'
import type { CallConnection, CallSubscriber } from '../rpc/methods/define.ts'
import { type Page, servePage } from './page.ts'
import { sendPieces } from './pieces.ts'
import { answerMessages, keepAlive, openQueue } from './socket.ts'
import type { SendText, Subscriber } from '../feed/subscriptions.ts'
import { asksForWebsocket, routeUpgrades } from './upgrades.ts'
import {
  BODY_BYTES_MAX,
  type HTTP_LIMITS,
  KEEP_ALIVE_GRACE_MS,
  KEEP_ALIVE_MS,
  LIGHT_BODY_BYTES_MAX,
  READY_MS,
} from './limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The address that its caller counts by, as `callerAddress` says. */
    caller: string
  }
}

/** What the routes serve. */
export interface Routes {
  readonly call: (method: string, params: Params, connection: CallConnection) => Promise<unknown>
  /** Opens the subscriptions of a websocket from an address; its notifications go to `send`. */
  readonly subscriber: (address: string, send: SendText) => Subscriber
  /** Told of each websocket that was closed because it reads too slowly. */
  readonly onSlow: () => void
  readonly isList: (method: string) => boolean
  readonly log: Server['log']
  readonly guard: GuardOptions
  readonly limits: typeof HTTP_LIMITS
  readonly ready: () => Promise<Readiness>
  /** The JSON of the OpenRPC document for a gateway that is reached at a URL. */
  readonly documentAt: (url: string) => readonly Piece[]
  readonly page: Page
  readonly light: Light | undefined
  /** Told when the server begins to close: it waits for the calls under way. */
  readonly onClosing: () => void
}

/** Refuses strangers, and tells pages of the origins that pass that they may read the answer (CORS). */
async function addGuard(app: FastifyInstance, guard: GuardOptions): Promise<void> {
  app.addHook('onRequest', (request, reply, next) => {
    const why = refusedOrigin(guard, request.headers)
    if (why !== undefined) return void reply.code(403).send({ error: why })
    reply.header('x-content-type-options', 'nosniff')
    next()
  })
  await app.register(cors, {
    origin: true,
    methods: ['POST', 'GET'],
    allowedHeaders: ['content-type', 'authorization'],
    exposedHeaders: ['retry-after'],
    maxAge: 600,
  })
}

/**
 * Sets the status of an answer that is one error: 429 for too many requests, with the seconds after which to try again.
 */
function setStatus(reply: FastifyReply, refused: RpcErrorObject | undefined): void {
  if (refused?.code !== rpcErrors.tooMany.code) return
  const { retryAfterMs } = refused.data as { readonly retryAfterMs: number }
  reply.code(429).header('retry-after', String(Math.ceil(retryAfterMs / 1000)))
}

/** How long the body of a request says that it is; 0 where it does not say. */
const bodyBytesOf = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0)

/** Counts every request as a call or more, whatever it asks for. What is too much is refused before its body has come. */
function addRateLimit(app: FastifyInstance, { countRequest }: Admission): void {
  app.decorateRequest('caller', '')
  app.addHook('onRequest', (request, reply, next) => {
    request.caller = callerAddress(request.ip)
    const refused = countRequest(request.caller, bodyBytesOf(request))
    if (refused === undefined) return next()
    const { code, message, data } = refused
    setStatus(reply, refused)
    void reply.send({ jsonrpc: '2.0', error: { code, message, data }, id: null })
  })
}

/** Drops bodies that were not read before their answer is sent: those of refused requests, whatever the reason. */
function addDropping(app: FastifyInstance): void {
  app.addHook('onSend', ({ raw }, _reply, payload, next) => {
    if (!raw.complete || raw.readableLength > 0) dropBody(raw)
    next(null, payload)
  })
}

/**
 * Closes the connections of calls that are under way once they are answered, when the server closes. Otherwise each would
 * be kept for a next call, and the server would wait for it. Connections without a whole request are closed at once.
 */
function addClosing(app: FastifyInstance, onClosing: () => void, { closeIdle }: Connections): void {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    closeIdle()
    onClosing()
  })
  app.addHook('onSend', (_request, reply, payload, next) => {
    if (closing) reply.header('connection', 'close')
    next(null, payload)
  })
}

function open({ requestMs, trustProxies }: typeof HTTP_LIMITS, { watch }: Connections): FastifyInstance {
  const timeouts = {
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    connectionsCheckingInterval: requestMs / 10,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveTimeoutBuffer: KEEP_ALIVE_GRACE_MS,
    shouldUpgradeCallback: asksForWebsocket,
  }
  return fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: trustProxies.length === 0 ? false : [...trustProxies],
    // Called for each address that `localhost` has.
    serverFactory: (handler) => {
      const server = allowHalfOpen(createServer(timeouts))
      watch(server, handler)
      return server
    },
  })
}

function addErrors(app: FastifyInstance, log: Server['log']): void {
  app.setErrorHandler<{ readonly statusCode?: number; readonly code?: string; readonly message: string }>(
    (error, request, reply) => {
      const { statusCode = 500, code, message } = error
      if (statusCode < 500) return reply.code(statusCode).send({ error: message })
      // The caller has gone before a long answer. Nobody reads another one, and nothing is wrong here.
      if (code === 'ERR_STREAM_PREMATURE_CLOSE') return reply.code(400).send({ error: 'the connection has ended' })
      log.error({ err: error, url: request.url }, 'a request ended in a defect')
      return reply.code(500).send({ error: 'internal error' })
    },
  )
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found: POST / takes JSON-RPC' }))
}

/** The address at which a caller reached the gateway, or a trusted proxy before it: X-Forwarded-Proto and -Host say so. */
const urlOf = ({ protocol, host, headers }: FastifyRequest): string =>
  `${/^(?:https|wss)$/i.test(protocol) ? 'https' : 'http'}://${isHost(host) ? host : headers.host}/`

/** Where a call comes from, and where it reached the gateway. */
const connectionOf = (request: FastifyRequest, { charge }: Admission): CallConnection => ({
  address: request.caller,
  authorization: request.headers.authorization,
  url: urlOf(request),
  charge: (calls) => charge(request.caller, calls),
})

/** Says who answers the calls of a request. */
type ServerOf = (request: FastifyRequest) => Pick<Server, 'call'> & Partial<Pick<Server, 'admitCalls'>>

/** Refuses batches. */
const oneAtATime: Server['admitCalls'] = (methods) =>
  methods.map(async () =>
    methods.length === 1 ? undefined : new RpcError('invalidRequest', 'Invalid Request: no batches here'),
  )

/** Creates the HTTP server, which does not listen yet. It takes bodies up to BODY_BYTES_MAX, `application/json` only. */
export async function createHttpServer(routes: Routes): Promise<FastifyInstance> {
  const { call, isList, log, guard, limits, ready, documentAt, onClosing } = routes
  const isProxy = compile([...limits.trustProxies])
  const connections = boundConnections(limits, (address) => isProxy(address, 0))
  const { unread } = connections
  const app = open(limits, connections)
  const admission = createAdmission(limits.callsPerSecond, isList)
  const upgrade = routeUpgrades(app, limits.connectionsOfAddress)
  await addGuard(app, guard)
  addRateLimit(app, admission)
  addDropping(app)
  addClosing(app, onClosing, connections)
  addErrors(app, log)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, body, done) =>
    readText(body, bodyBytesOf(request), request.routeOptions.bodyLimit, done),
  )
  const takeCalls = (path: string, bodyLimit: number, serverOf: ServerOf): void => {
    app.post(path, { bodyLimit }, async (request, reply) => {
      if (typeof request.body !== 'string')
        return reply.code(415).send({ error: 'expected a body of application/json' })
      const answered = await answer(
        { log, ...admission.textOf(request.caller, bodyBytesOf(request)), ...serverOf(request) },
        request.body,
      )
      if (answered === undefined) return reply.code(204).send()
      setStatus(reply, answered.refused)
      return sendPieces(reply.type('application/json; charset=utf-8'), unread, answered.pieces)
    })
  }
  takeCalls('/', BODY_BYTES_MAX, (request) => {
    const connection = connectionOf(request, admission)
    return { call: (method, params) => call(method, params, connection) }
  })
  if (routes.light !== undefined) {
    const { call: ask } = routes.light
    takeCalls('/light', LIGHT_BODY_BYTES_MAX, ({ caller }) => ({
      call: (method, params) => ask(method, params, caller),
      admitCalls: oneAtATime,
    }))
  }
  const serve = (socket: WebSocket, request: FastifyRequest): void => {
    connections.release(request.raw.socket, socket)
    keepAlive(socket, limits.pingMs)
    const send = openQueue(socket, request.raw.socket, unread, routes.onSlow)
    const subscriber = routes.subscriber(request.caller, (text, onTaken) => send([text], onTaken))
    socket.once('close', subscriber.end)
    const connection = connectionOf(request, admission)
    answerMessages(socket, send, async (text) => {
      const begun: string[] = []
      const add: CallSubscriber['add'] = (interest, from) => {
        const id = subscriber.add(interest, from)
        begun.push(id)
        return id
      }
      const caller = { ...connection, subscriber: { add, remove: subscriber.remove } }
      const server = { call: (method: string, params: Params) => call(method, params, caller), log }
      const reply = await answer({ ...server, ...admission.textOf(request.caller) }, text)
      const sent = (): void => {
        for (const id of begun) subscriber.begin(id)
      }
      return { reply, sent }
    })
  }
  const page = routes.page === undefined ? undefined : servePage(app, routes.page, unread)
  app.get('/', async (request, reply) => {
    if (upgrade(request, reply, (socket) => serve(socket, request))) return reply
    return page === undefined ? reply.callNotFound() : page(request, reply)
  })
  app.get('/healthz', async () => ({ ok: true }))
  let last: { readonly atMs: number; readonly answer: Promise<Readiness> } | undefined
  app.get('/readyz', async (_request, reply) => {
    const nowMs = performance.now()
    if (last === undefined || nowMs - last.atMs > READY_MS) last = { atMs: nowMs, answer: ready() }
    const readiness = await last.answer
    return reply.code(readiness.ready ? 200 : 503).send(readiness)
  })
  app.get('/openrpc.json', async (request, reply) =>
    sendPieces(reply.type('application/json; charset=utf-8'), unread, documentAt(urlOf(request))),
  )
  return app
}
