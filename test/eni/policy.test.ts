import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type Server } from 'node:net'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { download } from '../../src/eni/download.ts'
import { type Lookup, parseAllowList, refusalOf, systemResolver } from '../../src/eni/policy.ts'
import { closeAll, fileBytes, type FileServer, md5Of, serve, startNameServer, tempHome } from './support.ts'

afterAll(closeAll)

test.each([
  ['8.8.8.8', undefined],
  ['93.184.216.34', undefined],
  ['2606:4700::1111', undefined],
  ['2a00:1450:4001:81b::200e', undefined],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['169.254.169.254', 'linkLocal'],
  ['100.64.0.1', 'carrierGradeNat'],
  ['100.100.100.200', 'carrierGradeNat'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['198.18.0.1', 'reserved'],
  ['203.0.113.1', 'reserved'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['fe80::1', 'linkLocal'],
  ['fe80::1%eth0', 'linkLocal'],
  ['fc00::1', 'uniqueLocal'],
  ['fd00:ec2::254', 'uniqueLocal'],
  ['ff02::1', 'multicast'],
  ['::ffff:127.0.0.1', 'ipv4Mapped'],
  ['::ffff:8.8.8.8', 'ipv4Mapped'],
  ['64:ff9b::7f00:1', 'rfc6052'],
  ['64:ff9b::808:808', 'rfc6052'],
  ['2002:7f00:1::', '6to4'],
  ['2001::7f00:1', 'teredo'],
  ['2001:db8::1', 'reserved'],
  ['100::1', 'discard'],
  ['4000::1', 'not public'],
  ['1::1', 'not public'],
  ['nonsense', 'not an address'],
])('address %s: %s', (address, why) => {
  expect(refusalOf(address, [])).toBe(why)
})

test('IPv4 inside IPv6 in every old form is refused', () => {
  for (const address of ['::127.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b:1::7f00:1', 'fec0::1']) {
    expect([address, refusalOf(address, [])]).toEqual([address, expect.any(String)])
  }
})

test("this machine's own addresses are refused, whatever network they are of", () => {
  for (const { address } of Object.values(networkInterfaces()).flatMap((own) => own ?? []))
    expect(refusalOf(address, [])).toBeDefined()
})

test('the allow list takes addresses and blocks of their own kind, and lets nothing else through', () => {
  const allowed = parseAllowList(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  for (const address of ['127.0.0.1', '10.255.0.1', 'fd12::1']) expect(refusalOf(address, allowed)).toBeUndefined()
  const refused = ['127.0.0.2', '::ffff:127.0.0.1', '192.168.0.1', 'fc00::1'].map((address) =>
    refusalOf(address, allowed),
  )
  expect(refused).toEqual(['loopback', 'ipv4Mapped', 'private', 'uniqueLocal'])
})

test.each([
  '',
  'localhost',
  '127.1',
  '0x7f000001',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  'fd00::/129',
  '10.0.0.1 ',
])('no entry of an allow list: %j', (entry) => {
  expect(() => parseAllowList([entry])).toThrow(/expected an address or a block/)
})

describe('no URL leads inward', () => {
  const file = fileBytes(1)
  const paths: string[] = []
  const inward: Server[] = []
  let connections = 0
  let port = 0
  let begun = 0
  let outer: FileServer
  let names: Awaited<ReturnType<typeof startNameServer>>
  // The channel tells of every connection of this process, also of what another test file left behind.
  const ours = new AsyncLocalStorage<boolean>()
  const onConnect = (): void => {
    if (ours.getStore() === true) begun++
  }
  const lookup: Lookup = (host) =>
    host.replace(/\.$/, '').endsWith('.test') ? names.lookup(host) : systemResolver(host)

  beforeAll(async () => {
    // Every form of an inward address below leads to one of these, if anything does.
    for (const host of ['127.0.0.1', '::1']) {
      const server = createServer((socket) => {
        connections++
        socket.resume().end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      })
      await new Promise<void>((done) => server.once('error', () => done()).listen(port, host, done))
      port ||= (server.address() as { port: number }).port
      inward.push(server)
    }
    outer = await serve((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://a')
      if (pathname === '/file') response.end(file)
      else response.writeHead(searchParams.has('to') ? 302 : 404, { location: searchParams.get('to') ?? '' }).end()
    }, '127.0.0.2')
    names = await startNameServer({
      'inward.test': [['127.0.0.1']],
      'metadata.test': [['169.254.169.254']],
      'private.test': [['10.0.0.1']],
      'rebind.test': [['127.0.0.2'], ['127.0.0.1']],
      'mixed.test': [['127.0.0.1', '127.0.0.2']],
      'both.test': [['127.0.0.1', '10.0.0.1']],
    })
    subscribe('undici:client:beforeConnect', onConnect)
  })
  afterAll(async () => {
    unsubscribe('undici:client:beforeConnect', onConnect)
    for (const server of inward) await new Promise((done) => server.close(done))
  })

  const fetch = async (url: string, allow: readonly string[] = ['127.0.0.2']): Promise<string> => {
    const path = join(tempHome(), 'file')
    paths.push(path)
    const given = {
      url,
      md5: md5Of(file),
      path,
      allowed: parseAllowList(allow),
      lookup,
      signal: AbortSignal.timeout(300_000),
    }
    return ours.run(true, () =>
      download(given).then(
        () => 'fetched',
        (error: Error) => error.message,
      ),
    )
  }

  // P stands for the port on which the inward servers listen.
  const urls = [
    'http://127.0.0.1:P/',
    'https://127.0.0.1:P/',
    'http://127.1:P/',
    'http://127.0.1:P/',
    'http://2130706433:P/',
    'http://0x7f000001:P/',
    'http://0x7F.0.0.1:P/',
    'http://0x7f.1:P/',
    'http://0177.0.0.1:P/',
    'http://017700000001:P/',
    'http://127.000.000.001:P/',
    'http://0177.0x0.0.01:P/',
    'http://127.0.0.1.:P/',
    'http://%31%32%37.0.0.1:P/',
    'http://①②⑦.⓪.⓪.①:P/',
    'http://127。0。0。1:P/',
    'http:127.0.0.1:P/',
    'http:\\\\127.0.0.1:P\\',
    'http:///127.0.0.1:P/',
    'http://0:P/',
    'http://0.0.0.0:P/',
    'http://0x0:P/',
    'http://localhost:P/',
    'http://LOCALHOST:P/',
    'http://localhost.:P/',
    'http://[::1]:P/',
    'http://[0:0:0:0:0:0:0:1]:P/',
    'http://[::]:P/',
    'http://[::ffff:127.0.0.1]:P/',
    'http://[::ffff:7f00:1]:P/',
    'http://[0:0:0:0:0:ffff:127.0.0.1]:P/',
    'http://[::127.0.0.1]:P/',
    'http://[::ffff:0:127.0.0.1]:P/',
    'http://[64:ff9b::127.0.0.1]:P/',
    'http://[64:ff9b:1::7f00:1]:P/',
    'http://[2002:7f00:1::]:P/',
    'http://[2001::7f00:1]:P/',
    'http://[fe80::1]:P/',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://[ff02::1]:P/',
    'http://[fec0::1]:P/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xA9FEA9FE/',
    'http://0251.0376.0251.0376/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://user:pass@127.0.0.1:P/',
    'http://example.com@127.0.0.1:P/',
    'http://127.0.0.1:P@example.com/',
    'http://example.com:80@[::1]:P/',
    'http://user@127.0.0.2/',
    'http://:secret@127.0.0.2/',
    'file:///etc/passwd',
    'ftp://127.0.0.1:P/',
    'gopher://127.0.0.1:P/_x',
    'data:text/plain,x',
    'javascript:1',
    'unix:///run/x.sock',
    'http://inward.test:P/',
    'http://INWARD.test.:P/',
    'http://metadata.test/',
    'http://private.test/',
    'http://both.test:P/',
    'http://',
    'http://[::1',
    'http://127.0.0.1:99999/',
  ]

  test.each(urls)('%s', async (url) => {
    const real = url.replaceAll('P', String(port))
    const before = begun
    expect(await fetch(real)).toMatch(
      /may not be called|user name or password|expected an http|not a URL|has no address|ENOTFOUND/,
    )
    expect(begun).toBe(before)
    // The same as the place that a server names.
    const byRedirect = await fetch(`${outer.url}/?to=${encodeURIComponent(Buffer.from(real).toString('latin1'))}`)
    expect(byRedirect).not.toBe('fetched')
    expect(begun).toBe(before + (url === 'http:127.0.0.1:P/' ? 2 : 1)) // as a redirect from http it is a path there
    expect(connections).toBe(0)
  })

  test('a name is asked for once, and that answer alone is called: a second one, inward, comes too late', async () => {
    const url = `http://rebind.test:${outer.port}/file`
    expect(await fetch(url)).toBe('fetched')
    expect(names.asked.filter((name) => name === 'rebind.test')).toHaveLength(1)
    expect(await fetch(url)).toMatch(/127\.0\.0\.1 \(loopback\)/)
    expect(connections).toBe(0)
  })

  test('of several addresses only those that may be called are', async () => {
    expect(await fetch(`http://mixed.test:${outer.port}/file`)).toBe('fetched')
    expect(connections).toBe(0)
  })

  test('there are at least 40 of them, nothing was written, and the inward servers do answer who is allowed', async () => {
    expect(urls.length).toBeGreaterThanOrEqual(40)
    expect(connections).toBe(0)
    expect(paths.filter(existsSync)).toHaveLength(2)
    expect(await fetch(`http://2130706433:${port}/`, ['127.0.0.1'])).toMatch(/MD5/)
    expect(connections).toBe(1)
  })
})
