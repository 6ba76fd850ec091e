import { describe, expect, test } from '@jest/globals'
import { refusedOrigin } from '../../src/gateway/guard.ts'

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

  test.each(['https://wallet.example', 'http://localhost:8545'])('answers pages of %s', (origin) =>
    expect(refusedOrigin(local, { host: 'localhost:8545', origin })).toBeUndefined(),
  )

  test.each([
    'http://evil.example',
    'https://wallet.example.evil.example',
    'http://wallet.example',
    'null',
    'http://localhost:3000',
    'https://localhost:8545',
    '',
  ])('refuses pages of "%s"', (origin) =>
    expect(refusedOrigin(local, { host: 'localhost:8545', origin })).toMatch(/Origin/),
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
  })

  test('does not take an Origin equal to Host for its own page', () => {
    expect(refusedOrigin(open, { host: 'evil.example:8545', origin: 'http://evil.example:8545' })).toMatch(/Origin/)
    expect(
      refusedOrigin({ ...open, allowOrigins: ['*'] }, { host: 'x', origin: 'http://evil.example' }),
    ).toBeUndefined()
  })

  test('answers to its own name when that is an IPv6 address', () => {
    expect(refusedOrigin({ ...local, host: '::1' }, { host: '[::1]:8545', origin: undefined })).toBeUndefined()
  })
})
