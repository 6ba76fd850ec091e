import { describe, expect, test } from '@jest/globals'
import { checkSigning, mayAskToSign, refusedOrigin } from '../../src/gateway/http/access.ts'
import { startGateway } from '../../src/gateway/gateway.ts'
import { alice, bob, keptLog, startPair } from './support.ts'

const local = { host: '127.0.0.1', allowHosts: ['node.example'], allowOrigins: ['https://wallet.example'] }
const open = { ...local, host: '0.0.0.0', allowHosts: [] }

describe('a gateway on loopback', () => {
  test.each([
    'localhost',
    'localhost:8545',
    'LOCALHOST:1',
    '127.0.0.1',
    '127.0.0.1:8545',
    '127.9.9.9:80',
    '[::1]',
    '[::1]:8545',
    'node.example:8545',
  ])('answers to the Host %s', (host) => expect(refusedOrigin(local, { host, origin: undefined })).toBeUndefined())

  test('answers to a name that it was given in other letters', () => {
    const named = { ...local, allowHosts: ['Node.Example'] }
    expect(refusedOrigin(named, { host: 'node.example', origin: undefined })).toBeUndefined()
  })

  test.each([
    undefined,
    '',
    'evil.example',
    'evil.example:8545',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example/localhost',
    '10.0.0.1',
    '0.0.0.0:8545',
    '[::2]',
    'localhost:',
    'localhost:999999',
    'a b',
    'user@localhost',
    '127.1',
  ])('refuses the Host %s', (host) => expect(refusedOrigin(local, { host, origin: undefined })).toMatch(/Host/))

  test.each(['https://wallet.example', 'http://localhost:8545', 'https://localhost:8545', 'HTTPS://LOCALHOST:8545'])(
    'answers pages of %s',
    (origin) => expect(refusedOrigin(local, { host: 'localhost:8545', origin })).toBeUndefined(),
  )

  test.each([
    'http://evil.example',
    'https://wallet.example.evil.example',
    'http://wallet.example',
    'null',
    'http://localhost:3000',
    'https://localhost',
    'ftp://localhost:8545',
    'https://localhost:8545/',
    'https://user@localhost:8545',
    '',
  ])('refuses pages of "%s"', (origin) =>
    expect(refusedOrigin(local, { host: 'localhost:8545', origin })).toMatch(/Origin/),
  )
})

describe('a gateway that allows the origins of this machine', () => {
  const pages = { ...local, allowOrigins: ['loopback'] }

  test.each(['http://localhost:3000', 'https://LOCALHOST', 'http://127.0.0.1:5173', 'http://[::1]:8080'])(
    'answers pages of %s',
    (origin) => expect(refusedOrigin(pages, { host: 'localhost:8545', origin })).toBeUndefined(),
  )

  test.each([
    'https://wallet.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example:3000',
    'http://evil.example/http://localhost',
    'http://user@localhost:3000',
    'http://localhost:3000/',
    'file://localhost',
    'null',
    '',
  ])('refuses pages of "%s", and names the flag', (origin) =>
    expect(refusedOrigin(pages, { host: 'localhost:8545', origin })).toMatch(/^pages of the Origin ".*--allow-origin/),
  )
})

describe('a gateway on every address', () => {
  test.each(['anything.example', '10.0.0.1:8545', 'gateway:8545'])('answers to the Host %s', (host) =>
    expect(refusedOrigin(open, { host, origin: undefined })).toBeUndefined(),
  )

  test('answers only to the allowed hosts once there are any, and to names of this machine', () => {
    const named = { ...open, allowHosts: ['node.example'] }
    for (const host of ['node.example', 'NODE.example:8545', 'localhost:8545', '127.0.0.1:8545', '0.0.0.0:8545']) {
      expect(refusedOrigin(named, { host, origin: undefined })).toBeUndefined()
    }
    for (const host of ['anything.example', '10.0.0.1:8545'])
      expect(refusedOrigin(named, { host, origin: undefined })).toMatch(/Host/)
    expect(refusedOrigin(named, { host: 'node.example:8545', origin: 'http://node.example:8545' })).toBeUndefined()
    // Behind a proxy with TLS.
    expect(refusedOrigin(named, { host: 'node.example', origin: 'https://node.example' })).toBeUndefined()
    expect(refusedOrigin(named, { host: 'node.example', origin: 'https://node.example:8443' })).toMatch(/Origin/)
  })

  test('takes an Origin equal to Host for its own page only where nobody can point that Host elsewhere', () => {
    for (const scheme of ['http', 'https']) {
      for (const host of ['evil.example:8545', '10.0.0.1.evil.example', '127.1'])
        expect(refusedOrigin(open, { host, origin: `${scheme}://${host}` })).toMatch(/Origin/)
      for (const host of ['10.0.0.1:8545', '[fd00::1]:8545', 'localhost:8545'])
        expect(refusedOrigin(open, { host, origin: `${scheme}://${host}` })).toBeUndefined()
    }
    expect(refusedOrigin(open, { host: '10.0.0.1:8545', origin: 'http://10.0.0.2:8545' })).toMatch(/Origin/)
    expect(
      refusedOrigin({ ...open, allowOrigins: ['*'] }, { host: 'x', origin: 'http://evil.example' }),
    ).toBeUndefined()
  })

  test('answers to its own name when that is an IPv6 address', () => {
    expect(refusedOrigin({ ...local, host: '::1' }, { host: '[::1]:8545', origin: undefined })).toBeUndefined()
  })
})

const TOKEN = 'a-token-of-the-test'

describe('a gateway with a token', () => {
  test('signs only for who sends it, call by call in a batch; all else needs none', async () => {
    const pair = await startPair({}, { authToken: TOKEN })
    try {
      const [from, to] = [alice.address, bob.address]
      const send = (headers: Readonly<Record<string, string>>) =>
        pair.batch(
          [
            ['svc_transfer', { from, to, value: '1' }],
            ['svc_transfer', { from: to, to, value: '1' }],
            ['svc_accounts'],
          ],
          headers,
        )
      for (const authorization of ['', 'Bearer wrong-wrong-wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN} x`]) {
        const [transfer, other, accounts] = await send(authorization === '' ? {} : { authorization })
        expect([transfer?.error?.code, other?.error?.code]).toEqual([-32014, -32014])
        expect(accounts?.result).toEqual([alice.address])
      }
      const [, other] = await send({ authorization: `Bearer ${TOKEN}` })
      expect(other?.error?.code).toBe(-32010)
    } finally {
      await pair.close()
    }
  })
})

describe('an unlocked account', () => {
  const start = (options: object) =>
    startGateway({ node: 'http://127.0.0.1:9', port: 0, signers: [alice], logger: keptLog(), ...options })

  test.each(['0.0.0.0', '127.0.0.1'])('on %s is refused without a token before anything listens', async (host) => {
    const refusal = { name: 'GatewayStartError', message: expect.stringContaining('--auth-token-file') }
    const started = start({ host })
    // One that starts all the same must not outlive the test.
    void started.then(
      (gateway) => gateway.close(),
      () => undefined,
    )
    await expect(started).rejects.toMatchObject(refusal)
  })

  test('is served with a token, where the keys are public, and where there is no account', () => {
    const rule = { accounts: 1, authToken: undefined, publicKeys: false }
    expect(() => checkSigning(rule)).toThrow('on a loopback address too')
    for (const change of [{ authToken: TOKEN }, { publicKeys: true }, { accounts: 0 }]) {
      expect(() => checkSigning({ ...rule, ...change })).not.toThrow()
    }
  })

  test('a token of 15 characters, or with a space, is none; one of 16 is', () => {
    const rule = { accounts: 1, publicKeys: false }
    for (const authToken of ['x'.repeat(15), `${'x'.repeat(16)} y`, '']) {
      expect(() => checkSigning({ ...rule, authToken })).toThrow(/at least 16/)
    }
    expect(() => checkSigning({ ...rule, authToken: 'x'.repeat(16) })).not.toThrow()
    expect(mayAskToSign(undefined, undefined)).toBe(true)
    expect(mayAskToSign(TOKEN, undefined)).toBe(false)
    expect(mayAskToSign(TOKEN, `bearer ${TOKEN}`)).toBe(true)
  })
})
