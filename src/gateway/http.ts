import { fastify, type FastifyInstance } from 'fastify'
import { answerText, type Params, type Server } from './envelope.ts'
import { type GuardOptions, refusedOrigin } from './guard.ts'
import type { Readiness } from './health.ts'
import { BODY_BYTES_MAX, REQUEST_MS_MAX } from './limits.ts'

/** What the routes serve. */
export interface Routes {
  /** Runs a method; `authorization` is that header of its request. */
  readonly call: (method: string, params: Params, authorization: string | undefined) => Promise<unknown>
  readonly log: Server['log']
  readonly guard: GuardOptions
  readonly ready: () => Promise<Readiness>
  readonly metrics: () => Promise<string>
  readonly document: () => object
  /** Told when the server begins to close: it waits for the calls under way. */
  readonly onClosing: () => void
}

/** JSON without `__proto__` and `constructor` keys; throws for those too. */
function safeParser(app: FastifyInstance): Server['parse'] {
  const parser = app.getDefaultJsonParser('error', 'error')
  return (text) => {
    let outcome: { readonly error: Error | null; readonly body: unknown } | undefined
    // It calls back before it returns, and never looks at the request.
    void parser(undefined as never, text, (error, body) => { outcome = { error, body } })
    if (outcome === undefined || outcome.error !== null) throw outcome?.error ?? new Error('the JSON parser did not answer')
    return outcome.body
  }
}

/** Refuses strangers, and tells pages of allowed origins that they may read the answer (CORS). */
function addGuard(app: FastifyInstance, guard: GuardOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    const { host, origin } = request.headers
    const why = refusedOrigin(guard, { host, origin })
    if (why !== undefined) return reply.code(403).send({ error: why })
    reply.header('x-content-type-options', 'nosniff')
    if (origin === undefined) return
    reply.header('access-control-allow-origin', origin).header('vary', 'origin')
    if (request.method !== 'OPTIONS') return
    return reply.header('access-control-allow-methods', 'POST, GET').header('access-control-allow-headers', 'content-type, authorization')
      .header('access-control-max-age', '600').code(204).send()
  })
}

/** Ends the connections of calls that are under way at the close; else each would be kept for the next call, and the close would wait. */
function addClosing(app: FastifyInstance, onClosing: () => void): void {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
    onClosing()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close')
  })
}

/** The HTTP server, not yet listening. Bodies up to BODY_BYTES_MAX, `application/json` only. */
export function makeHttp({ call, log, guard, ready, metrics, document, onClosing }: Routes): FastifyInstance {
  const app = fastify({ logger: false, bodyLimit: BODY_BYTES_MAX, requestTimeout: REQUEST_MS_MAX })
  const parse = safeParser(app)
  addGuard(app, guard)
  addClosing(app, onClosing)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.setErrorHandler<{ readonly statusCode?: number; readonly message: string }>((error, request, reply) => {
    const { statusCode = 500, message } = error
    if (statusCode < 500) return reply.code(statusCode).send({ error: message })
    log.error({ err: error, url: request.url }, 'a request ended in a defect')
    return reply.code(500).send({ error: 'internal error' })
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found: POST / takes JSON-RPC' }))
  app.post('/', async (request, reply) => {
    if (typeof request.body !== 'string') return reply.code(415).send({ error: 'expected a body of application/json' })
    const { authorization } = request.headers
    const answer = await answerText({ call: (method, params) => call(method, params, authorization), parse, log }, request.body)
    return answer === undefined ? reply.code(204).send() : reply.type('application/json; charset=utf-8').send(answer)
  })
  app.get('/healthz', async () => ({ ok: true }))
  app.get('/readyz', async (_request, reply) => {
    const answer = await ready()
    return reply.code(answer.ready ? 200 : 503).send(answer)
  })
  app.get('/metrics', async (_request, reply) => reply.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics()))
  app.get('/openrpc.json', async () => document())
  return app
}
