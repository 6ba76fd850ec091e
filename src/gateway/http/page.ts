import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendPieces } from './pieces.ts'
import type { Unread } from './unread.ts'

/** Where the build writes the page: src/dashboard/gen in a checkout, dist/dashboard/gen in the package. */
export const PAGE_FOLDER = join(import.meta.dirname, '../../dashboard/gen')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * What a browser must not let the page do, whatever comes to stand in it. Only files of the gateway are loaded and only
 * the gateway is called (no inline script or style, no frame around it, no form), and text never becomes markup or
 * script (trusted types; `svcd-worker` of src/dashboard vouches for the address of the wallet's worker).
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; " +
    "require-trusted-types-for 'script'; trusted-types svcd-worker",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': [
    ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid', 'magnetometer'],
    ...['microphone', 'midi', 'payment', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb'],
  ]
    .map((feature) => `${feature}=()`)
    .join(', '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  vary: 'accept-encoding',
} as const

type Encoding = 'br' | 'gzip'

const compress: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  // Level 9 takes 20 ms for 500 kB; level 11 takes 30 times as long and saves 8 %.
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
}

interface PageFile {
  readonly type: string
  readonly cacheControl: string
  readonly etag: string
  readonly plain: Buffer
  /** Resolves with the file in an encoding. Each is made once, when it is first asked for. */
  readonly encoded: (encoding: Encoding) => Promise<Buffer>
}

function readFile(path: string, isImmutable: boolean): PageFile {
  const plain = readFileSync(path)
  const made: { [E in Encoding]?: Promise<Buffer> } = {}
  return {
    type: TYPES[extname(path)] as string,
    // The name of a file in assets/ has a hash of its contents.
    cacheControl: isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    encoded: (encoding) =>
      (made[encoding] ??= compress[encoding](plain).catch((error: unknown) => {
        delete made[encoding]
        throw error
      })),
  }
}

/**
 * Reads the files of a built page, by the path at which they are served: index.html, and of assets/ the regular files of
 * known types, so that a link leads nowhere. Undefined when the page is not built.
 */
function readPage(folder: string): ReadonlyMap<string, PageFile> | undefined {
  const [index, assets] = [join(folder, 'index.html'), join(folder, 'assets')]
  if (!existsSync(index) || !existsSync(assets)) return undefined
  const files = new Map([['/', readFile(index, false)]])
  for (const entry of readdirSync(assets, { withFileTypes: true }))
    if (entry.isFile() && /^[\w-][\w.-]*$/.test(entry.name) && extname(entry.name) in TYPES)
      files.set(`/assets/${entry.name}`, readFile(join(assets, entry.name), true))
  return files
}

/** The encodings that a request takes, the smaller one first. */
function encodingOf(accepted: IncomingHttpHeaders['accept-encoding']): Encoding | undefined {
  const taken = new Set(
    String(accepted ?? '')
      .split(',')
      .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
      .map((one) => one.split(';')[0]?.trim().toLowerCase()),
  )
  return (['br', 'gzip'] as const).find((one) => taken.has(one))
}

const isHeld = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(',').some((one) => one.trim().replace(/^(?:W\/)?/, 'W/') === etag) === true

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

const handlerOf =
  (file: PageFile, unread: Unread): Handler =>
  async (request, reply) => {
    reply.headers({ ...HEADERS, 'cache-control': file.cacheControl, etag: file.etag })
    if (isHeld(request.headers['if-none-match'], file.etag)) return reply.code(304).send()
    const encoding = encodingOf(request.headers['accept-encoding'])
    const bytes = encoding === undefined ? file.plain : await file.encoded(encoding)
    if (encoding !== undefined) reply.header('content-encoding', encoding)
    return sendPieces(reply.type(file.type), unread, [bytes])
  }

/** What the page must know of its gateway and cannot ask by JSON-RPC. */
export interface PageFacts {
  /** True when anybody has the keys of the accounts that the gateway signs for. */
  readonly devnet: boolean
  /** True when POST /light asks a light client. */
  readonly light: boolean
}

/** The page that a gateway serves, if it serves one. `files`: undefined when it is not built. */
export type Page = ReturnType<typeof openPage>

/** Reads the page in a folder, once: a build that replaces it is served by the next start. No folder is no page. */
export const openPage = (folder: string | false, facts: PageFacts) =>
  folder === false ? undefined : { files: readPage(folder), facts }

/**
 * Serves the page's files, each at a path of its own: no request makes the gateway look at the disk. Returns the
 * handler of GET /, which is the page unless it asks for a websocket.
 */
export function servePage(app: FastifyInstance, { files, facts }: NonNullable<Page>, unread: Unread): Handler {
  app.get('/page.json', async (_request, reply) => reply.header('cache-control', 'no-store').send(facts))
  for (const [path, file] of files ?? []) if (path !== '/') app.get(path, handlerOf(file, unread))
  const index = files?.get('/')
  if (index !== undefined) return handlerOf(index, unread)
  return async (_request, reply) =>
    reply.code(404).send({ error: 'the page is not built: run `node tools/page.ts` in the checkout, then start again' })
}
