import { existsSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { download, FILE_BYTES_MAX, REDIRECTS_MAX } from '../../src/eni/download.ts'
import { type Lookup, parseAllowList, systemResolver } from '../../src/eni/policy.ts'
import { closeAll, fileBytes, type FileServer, md5Of, serve, tempHome } from './support.ts'

const file = fileBytes(1, 100_000)
const folder = tempHome()
const chunk = Buffer.alloc(1024 * 1024)
let server: FileServer
let requests: IncomingMessage[] = []
let sentBytes = 0

/** Sends so many bytes in chunks of 1 MiB, until the other side is gone; without their number unless it is told. */
async function flood(response: ServerResponse, bytes: number): Promise<void> {
  response.setMaxListeners(0)
  for (let sent = 0; sent < bytes && response.writable; sent += chunk.length) {
    const part = chunk.subarray(0, bytes - sent)
    sentBytes += part.length
    if (!response.write(part))
      await Promise.race(['drain', 'close'].map((event) => new Promise((done) => response.once(event, done))))
  }
  response.end()
}

const answers: Readonly<Record<string, (response: ServerResponse, url: URL) => unknown>> = {
  '/file': (response) => response.end(file),
  '/404': (response) => response.writeHead(404).end(file),
  '/206': (response) => response.writeHead(206).end(file),
  '/204': (response) => response.writeHead(204).end(),
  '/stall': () => undefined,
  '/half': (response) => response.writeHead(200, { 'content-length': file.length }).write(file.subarray(0, 50_000)),
  '/drip': (response) => {
    const timer = setInterval(() => response.write('x'), 10)
    response.once('close', () => clearInterval(timer))
  },
  '/max': (response) => flood(response, FILE_BYTES_MAX),
  '/over': (response) => flood(response, FILE_BYTES_MAX + chunk.length),
  '/told': (response) => flood(response.writeHead(200, { 'content-length': FILE_BYTES_MAX + 1 }), FILE_BYTES_MAX + 1),
  '/short': (response) =>
    response.writeHead(200, { 'content-length': file.length + 1 }).end(file, () => response.socket?.destroy()),
  '/long': (response) =>
    (response.socket as Socket).end(
      `HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n${file.toString('latin1')}`,
      'latin1',
    ),
  '/gzip': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(file)),
  '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
  '/nowhere': (response) => response.writeHead(302).end(),
  '/big-headers': (response) => response.writeHead(200, { 'x-big': 'x'.repeat(100_000) }).end(file),
  '/garbage': (response) => (response.socket as Socket).end('SSH-2.0-OpenSSH_9.0\r\n'),
  '/hops': (response, url) => {
    const left = Number(url.searchParams.get('left'))
    response.writeHead(307, { location: left > 1 ? `/hops?left=${left - 1}` : '/file' }).end()
  },
}

beforeAll(async () => {
  server = await serve((request, response) => {
    requests.push(request)
    const url = new URL(request.url ?? '', 'http://a')
    answers[url.pathname]?.(response, url)
  })
})
afterAll(closeAll)

interface Extra {
  readonly md5?: string
  readonly lookup?: Lookup
  readonly abort?: AbortController
}

/** One try with the file at `path`: 'fetched', or why not. A failed one leaves nothing. */
async function attempt(url: string, extra: Extra = {}): Promise<string> {
  const { md5 = md5Of(file), lookup = systemResolver, abort = new AbortController() } = extra
  const path = join(folder, 'file')
  const given = { url: url.startsWith('/') ? server.url + url : url, md5, path, lookup, signal: abort.signal }
  requests = []
  try {
    await download({ ...given, allowed: parseAllowList(['127.0.0.1']) })
  } catch (error) {
    expect(existsSync(path)).toBe(false)
    const { message } = error as Error
    expect(message).toMatch(/^\S[^\n]*$/)
    return message
  }
  return 'fetched'
}

test('a file is fetched whole, as it was sent, and everybody may read it', async () => {
  const before = process.umask(0o077)
  expect(await attempt('/file').finally(() => process.umask(before))).toBe('fetched')
  expect(readFileSync(join(folder, 'file')).equals(file)).toBe(true)
  expect(statSync(join(folder, 'file')).mode & 0o777).toBe(0o600)
  expect(requests.map(({ headers }) => [headers['accept-encoding'], headers['user-agent']])).toEqual([
    ['identity', 'svcd'],
  ])
})

test.each([
  ['/404', /status 404/],
  ['/206', /status 206/],
  ['/204', /status 204/],
  ['/nowhere', /status 302/],
  ['/loop', /more than 3 times/],
  ['/short', /\S/],
  ['/long', /md5|\S/],
  ['/big-headers', /[Hh]eader/],
  ['/garbage', /\S/],
  ['http://127.0.0.1:1/', /ECONNREFUSED/],
  ['http://no-such-name.invalid/', /ENOTFOUND|EAI_AGAIN/],
])('%s gives no file', async (url, why) => {
  expect(await attempt(url)).toMatch(why)
})

test('a wrong md5 names both', async () => {
  const md5 = md5Of(fileBytes(2))
  expect(await attempt('/file', { md5 })).toBe(`the file has the MD5 ${md5Of(file)}, but the proposal says ${md5}`)
})

test(`${REDIRECTS_MAX} redirects are followed, one more is not`, async () => {
  expect(await attempt(`/hops?left=${REDIRECTS_MAX}`)).toBe('fetched')
  expect(requests).toHaveLength(REDIRECTS_MAX + 1)
  expect(await attempt(`/hops?left=${REDIRECTS_MAX + 1}`)).toBe(
    `the server redirected more than ${REDIRECTS_MAX} times`,
  )
  expect(requests).toHaveLength(REDIRECTS_MAX + 1)
})

test('what is packed stays packed: the bytes that were sent count', async () => {
  expect(await attempt('/gzip')).toMatch(/MD5/)
  expect(await attempt('/gzip', { md5: md5Of(gzipSync(file)) })).toBe('fetched')
})

test('64 MiB are taken, one MiB more is not, and neither is what says beforehand that it is more', async () => {
  expect(await attempt('/max', { md5: md5Of(Buffer.alloc(FILE_BYTES_MAX)) })).toBe('fetched')
  expect(await attempt('/over', { md5: md5Of(Buffer.alloc(FILE_BYTES_MAX)) })).toBe(
    `the file is larger than ${FILE_BYTES_MAX} bytes`,
  )
  sentBytes = 0
  expect(await attempt('/told')).toBe(`the file is larger than ${FILE_BYTES_MAX} bytes`)
  expect(sentBytes).toBeLessThan(FILE_BYTES_MAX / 2)
})

describe('the end of the time ends a try wherever it stands', () => {
  test.each(['/stall', '/half', '/drip'])('%s', async (url) => {
    const abort = new AbortController()
    const ended = attempt(url, { abort })
    while (requests.length === 0 || (url === '/half' && !existsSync(join(folder, 'file'))))
      await new Promise((done) => setTimeout(done, 5))
    abort.abort(new Error('out of time'))
    expect(await ended).toBe('out of time')
  })

  test('at a name server that never answers', async () => {
    const abort = new AbortController()
    const ended = attempt('http://silent.test/', { abort, lookup: () => new Promise(() => {}) })
    abort.abort(new Error('out of time'))
    expect(await ended).toBe('out of time')
  })
})

test('a disk that refuses is named, with the path', async () => {
  const allowed = parseAllowList(['127.0.0.1'])
  const path = join(folder, 'absent', 'file')
  const given = {
    url: `${server.url}/file`,
    md5: md5Of(file),
    path,
    allowed,
    lookup: systemResolver,
    signal: new AbortController().signal,
  }
  await expect(download(given)).rejects.toThrow(`cannot write ${path}: ENOENT`)
})

test('no proxy of the environment is asked', async () => {
  const proxy = await serve((_request, response) => response.end())
  const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY']
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url
  expect(
    await attempt('/file').finally(() => {
      for (const name of names) delete process.env[name]
    }),
  ).toBe('fetched')
  expect(proxy.connections()).toBe(0)
})

describe('https', () => {
  const pem = readFileSync(join(import.meta.dirname, 'files.test.pem'), 'utf8')
  const lookup: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const https = createTlsServer({ key: pem, cert: pem }, (_request, response) => response.end(file))
  const own = getCACertificates('default')
  beforeAll(() => new Promise<void>((done) => https.listen(0, '127.0.0.1', done)))
  afterAll(() => {
    setDefaultCACertificates(own)
    https.close()
  })
  const at = (name: string): string => `https://${name}:${(https.address() as AddressInfo).port}/file`

  test('needs a certificate that somebody trusted signed, for the name in the URL', async () => {
    expect(await attempt(at('files.test'), { lookup })).toMatch(/self-signed certificate/)
    setDefaultCACertificates([...own, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))])
    expect(await attempt(at('other.test'), { lookup })).toMatch(/does not match certificate/)
    expect(await attempt(at('files.test'), { lookup })).toBe('fetched')
  })
})
