import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { GatewayOptions } from '../../src/gateway/gateway.ts'
import { openRaw } from './rawClient.ts'
import { post, startPair } from './support.ts'
import { request } from '../support/request.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('page')
const HTML = '<!doctype html><title>svcd</title><script type="module" src="./assets/main-1a2b3c4d.js"></script>\n'
const SCRIPT = `export const text = '${'the page '.repeat(30_000)}'\n`
const SECRET = 'nobody may read this'

/** Writes what a build leaves: index.html, and assets whose names have a hash. */
function writePage(at: string): string {
  mkdirSync(join(at, 'assets'), { recursive: true })
  writeFileSync(join(at, 'index.html'), HTML)
  writeFileSync(join(at, 'assets/icon-5e6f.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(at, 'assets/main-1a2b3c4d.js'), SCRIPT)
  writeFileSync(join(at, 'assets/main-5e6f7a8b.css'), 'body{margin:0}')
  return at
}

/** A request whose path is sent as it stands. */
const fetchRaw = (url: string, path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  request(url, { path, method, headers, agent: false })

const ACCOUNTS = '{"jsonrpc":"2.0","id":1,"method":"svc_accounts"}'

/** Makes a call over a websocket at the gateway's address; resolves with the answer. */
const callBySocket = (url: string): Promise<unknown> =>
  new Promise((done, failed) => {
    const socket = new WebSocket(url.replace('http', 'ws'))
    socket.onopen = () => socket.send(ACCOUNTS)
    socket.onerror = () => failed(new Error('there is no websocket'))
    socket.onmessage = ({ data }) => {
      socket.close()
      done(JSON.parse(String(data)))
    }
  })

type Pair = Awaited<ReturnType<typeof startPair>>
const pairs: Pair[] = []
const start = async (options: Partial<GatewayOptions>): Promise<Pair> => {
  const pair = await startPair({}, options)
  pairs.push(pair)
  return pair
}

let pair: Pair
let url = ''
beforeAll(async () => {
  const built = writePage(join(folder, 'built'))
  writeFileSync(join(folder, 'secret.txt'), SECRET)
  writeFileSync(join(folder, 'secret.js'), SECRET)
  writeFileSync(join(built, 'inputs.sha256'), SECRET)
  writeFileSync(join(built, 'other.js'), SECRET)
  symlinkSync('../secret.js', join(built, 'linked.js'))
  symlinkSync('../../secret.js', join(built, 'assets/linked.js'))
  mkdirSync(join(built, 'assets/folder.js'))
  pair = await start({ page: built })
  url = pair.gateway.url
})
afterAll(async () => {
  await Promise.all(pairs.map((one) => one.close()))
  remove()
})

describe('GET /', () => {
  test('is the page, with headers that let it do nothing that it does not need', async () => {
    const { status, headers, body } = await fetchRaw(url, '/')
    expect([status, String(body)]).toEqual([200, HTML])
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': expect.stringMatching(
        /^default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; /,
      ),
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': expect.stringMatching(/\bcamera=\(\).*\bgeolocation=\(\).*\bmicrophone=\(\).*\busb=\(\)/),
    })
    expect(headers['content-security-policy']).not.toMatch(/unsafe|data:|\*|https?:/)
    expect(headers['set-cookie']).toBeUndefined()
  })

  test('is 304 to who has it, and the page to who has another one', async () => {
    const { etag = '' } = (await fetchRaw(url, '/')).headers
    for (const held of [etag, `"other", ${etag}`, etag.replace('W/', '')]) {
      const { status, headers, body } = await fetchRaw(url, '/', { 'if-none-match': held })
      expect([status, body.length, headers.etag, headers['cache-control']]).toEqual([304, 0, etag, 'no-cache'])
    }
    expect((await fetchRaw(url, '/', { 'if-none-match': 'W/"another"' })).status).toBe(200)
  })

  test('HEAD has the headers and no body', async () => {
    const { status, headers, body } = await fetchRaw(url, '/', {}, 'HEAD')
    expect([status, headers['content-type'], body.length]).toEqual([200, 'text/html; charset=utf-8', 0])
  })

  test('is still a websocket to who asks for one, and JSON-RPC to a POST', async () => {
    expect(await callBySocket(url)).toMatchObject({ result: [expect.any(String)] })
    expect(await (await post(url, ACCOUNTS)).json()).toMatchObject({ result: [expect.any(String)] })
  })
})

describe('the files of the page', () => {
  test.each([
    ['/assets/main-1a2b3c4d.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/assets/main-5e6f7a8b.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/assets/icon-5e6f.svg', 'image/svg+xml', 'public, max-age=31536000, immutable'],
  ])('%s has its type, its time and the headers of the page', async (path, type, cacheControl) => {
    const { status, headers } = await fetchRaw(url, path)
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, type, cacheControl])
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
    expect(headers['content-security-policy']).toContain("default-src 'self'")
  })

  test.each([
    ['br, gzip, deflate', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['GZIP', 'gzip'],
    ['identity', undefined],
    ['br;q=0, gzip;q=0.0', undefined],
    ['', undefined],
  ])('accept-encoding "%s" gets %s', async (accepted, encoding) => {
    const { headers, body } = await fetchRaw(url, '/assets/main-1a2b3c4d.js', { 'accept-encoding': accepted })
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, expect.stringContaining('accept-encoding')])
    const plain = encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body
    expect(String(plain)).toBe(SCRIPT)
    if (encoding !== undefined) expect(body.length).toBeLessThan(SCRIPT.length / 10)
    expect(headers['content-length']).toBe(String(body.length))
  })

  test.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.js',
    '/assets/%2e%2e/%2e%2e/secret.js',
    '/%2e%2e%2fsecret.js',
    '/assets/..%5c..%5csecret.js',
    '/assets//../../secret.js',
    '/assets%2fmain-1a2b3c4d.js/../../../secret.js',
    '/assets/%00main-1a2b3c4d.js',
    '/assets/%252e%252e/%252e%252e/secret.js',
    '/other.js',
    '/linked.js',
    '/assets/linked.js',
    '/assets/folder.js',
    '/assets/',
    '/assets',
    '/index.html/../../secret.js',
    '/inputs.sha256',
    '//secret.js',
    '/C:/secret.js',
    '/__proto__',
    '/assets/constructor',
    '/assets/main-1a2b3c4d.js%00',
    '/assets/%',
  ])('%s reads no file', async (path) => {
    const { status, body } = await fetchRaw(url, path)
    expect([400, 404]).toContain(status)
    expect(String(body)).not.toContain(SECRET)
    expect(String(body)).not.toContain(folder)
  })

  test('a path as bytes that no HTTP client would send reads no file either', async () => {
    for (const target of ['../secret.js', '/\\..\\secret.js', 'file:///etc/passwd', '/assets/\u00ff../secret.js']) {
      const client = await openRaw(url, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      await client.closed
      expect(client.text()).toMatch(/^HTTP\/1.1 (?:400|404) /)
      expect(client.text()).not.toContain(SECRET)
    }
  })

  test('of a later build wait for the next start: the files of one start belong together', async () => {
    const at = writePage(join(folder, 'rebuilt'))
    const own = await start({ page: at })
    writeFileSync(join(at, 'index.html'), 'another page')
    rmSync(join(at, 'assets'), { recursive: true })
    expect(String((await fetchRaw(own.gateway.url, '/')).body)).toBe(HTML)
    expect((await fetchRaw(own.gateway.url, '/assets/main-5e6f7a8b.css')).status).toBe(200)
  })
})

describe('/page.json', () => {
  const factsOf = async (options: Partial<GatewayOptions>): Promise<unknown> => {
    const own = await start({ page: join(folder, 'built'), ...options })
    return JSON.parse(String((await fetchRaw(own.gateway.url, '/page.json')).body))
  }

  test('says whether the keys of the accounts are public, and whether there is a light client', async () => {
    const authToken = 'a-token-of-the-test'
    expect(await factsOf({})).toEqual({ devnet: true, light: false })
    expect(await factsOf({ publicKeys: false, authToken })).toEqual({ devnet: false, light: false })
    expect(await factsOf({ light: 'http://127.0.0.1:9' })).toEqual({ devnet: true, light: true })
  })
})

describe('a gateway', () => {
  test('that has a page says where; a page that is not built is 404 and says how to build it, and calls go on', async () => {
    expect(pair.gateway.pageUrl).toBe(`${url}/`)
    const own = await start({ page: join(folder, 'missing') })
    const { status, body } = await fetchRaw(own.gateway.url, '/')
    expect([status, String(body)]).toEqual([404, expect.stringContaining('node tools/page.ts')])
    expect(own.gateway.pageUrl).toBeUndefined()
    expect((await fetchRaw(own.gateway.url, '/page.json')).status).toBe(200)
    expect((await own.rpc('svc_accounts')).result).toHaveLength(1)
  })

  test('with page: false serves nothing of it', async () => {
    const own = await start({ page: false })
    for (const path of ['/', '/page.json', '/assets/main-1a2b3c4d.js'])
      expect((await fetchRaw(own.gateway.url, path)).status).toBe(404)
    expect(await callBySocket(own.gateway.url)).toMatchObject({ result: [expect.any(String)] })
  })

  test('counts the files as calls, and its smallest limit has room for a page', async () => {
    const own = await start({ page: join(folder, 'built'), limits: { callsPerSecond: 1 } })
    const paths = ['/', '/assets/main-1a2b3c4d.js', '/assets/main-5e6f7a8b.css', '/assets/icon-5e6f.svg', '/page.json']
    const load = async (): Promise<readonly number[]> =>
      Promise.all(paths.map(async (path) => (await fetchRaw(own.gateway.url, path)).status))
    expect(await load()).toEqual(paths.map(() => 200))
    expect([...(await load()), ...(await load())]).toContain(429)
  })

  test('shows the page to no name that does not lead to it', async () => {
    const { status } = await fetchRaw(url, '/', { host: 'evil.example' })
    expect(status).toBe(403)
  })
})
