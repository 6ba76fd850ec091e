import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { ed25519Signer, Svc } from '../../src/client/index.ts'
import { createKeystore } from '../../src/keys/keystore.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { serveCalls } from '../support/serveCalls.ts'

interface Asked {
  readonly method: string
  readonly params: unknown
  readonly authorization: string | undefined
}
const asked: Asked[] = []
let body: unknown = {}
let text: string | undefined
let url = ''

// A gateway in this very process: what the synchronous form must not wait for.
let gateway: Awaited<ReturnType<typeof serveCalls>>
beforeAll(async () => {
  gateway = await serveCalls(({ method, params }, { headers: { authorization } }) => {
    asked.push({ method, params, authorization })
    return text ?? (body as object)
  })
  url = gateway.url
})
afterAll(() => gateway.close())
afterEach(() => {
  asked.length = 0
  text = undefined
  jest.restoreAllMocks()
})

const failure = {
  height: 0,
  hash: 'AB',
  check_tx: { code: 1, log: 'already activated', fee: {} },
  deliver_tx: { fee: {} },
}

describe('what is asked', () => {
  test('an operation sends one object with from; defaultAccount stands in, and bigints are decimal text', async () => {
    body = { result: { height: 1, hash: 'AB', check_tx: { fee: {} }, deliver_tx: { fee: {} } } }
    const svc = new Svc({ url, token: 'secret' })
    await svc.async.transfer({ from: '0x1', to: '0x2', value: 10n ** 20n })
    svc.defaultAccount = '0x3'
    await svc.async.transfer({ to: '0x2', value: '1' })
    expect(asked.map(({ params }) => params)).toEqual([
      [{ from: '0x1', to: '0x2', value: '100000000000000000000' }],
      [{ from: '0x3', to: '0x2', value: '1' }],
    ])
    expect(asked[0]).toMatchObject({ method: 'svc_transfer', authorization: 'Bearer secret' })
  })

  test.each(['nonce', 'maxAmount'])('%s NaN or Infinity is no member that was left out', async (member) => {
    const svc = new Svc({ url, chainId: 'test' })
    const alice = svc.accounts.add(PUBLIC_MNEMONIC)
    for (const value of [Number.NaN, Infinity]) {
      body = { error: { code: -32602, message: 'refused' } }
      const input = { pubKey: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=', [member]: value }
      // The gateway refuses the text, as it would any other.
      await expect(svc.async.stake.validator.declare({ from: '0x1', ...input })).rejects.toThrow('refused')
      expect(asked.pop()?.params).toEqual([{ from: '0x1', ...input, [member]: String(value) }])
      await expect(svc.async.stake.validator.declare({ from: alice, ...input })).rejects.toThrow(`got "${value}"`)
      expect(asked).toEqual([])
    }
  })

  test('a query sends its arguments by position or by name, and no signal', async () => {
    body = { result: { height: 1, data: [] } }
    const {
      stake: { validator },
    } = new Svc(url).async
    const { signal } = new AbortController()
    await validator.list()
    await validator.list(5, { signal })
    await validator.list({ limit: 3 }, { signal })
    await validator.query('0x1', { signal })
    await validator.query('0x1', {})
    await validator.query('0x1', { limit: 3 } as never)
    expect(asked.map(({ params }) => params)).toEqual([
      ...[[], [5], { limit: 3 }, ['0x1'], ['0x1']],
      // What is no option is for the gateway to refuse.
      ['0x1', { limit: 3 }],
    ])
  })
})

describe('what is answered', () => {
  test('a failed transaction rejects with SvcTxError and is the only argument of a callback', async () => {
    body = { result: failure }
    const svc = new Svc(url)
    await expect(svc.async.stake.validator.activate({ from: '0x1' })).rejects.toMatchObject({
      name: 'SvcTxError',
      code: 1,
      log: 'already activated',
      result: failure,
    })
    expect(
      await new Promise((done) => {
        svc.stake.validator.activate({ from: '0x1' }, (...told) => done(told))
      }),
    ).toEqual([failure])
  })

  test('code 20 is looked up: what a balance lacked stands in SvcTxError and its message', async () => {
    const shortfall = { account: '0x1', needed: '7', fee: '1', available: '6' }
    const result = { ...failure, check_tx: { code: 20, log: 'Insufficient balance', fee: {} } }
    const answers: unknown[] = [result, shortfall]
    const svc = new Svc({
      url,
      fetch: async (address, init) => {
        body = { result: answers.shift() }
        return fetch(address, init)
      },
    })
    await expect(svc.async.transfer({ from: '0x1', to: '0x2', value: 6n })).rejects.toMatchObject({
      message: 'the transaction failed with code 20: Insufficient balance (needed 7, available 6 base units)',
      shortfall,
      result,
    })
    expect(asked.at(-1)).toMatchObject({ method: 'svc_getShortfall', params: [failure.hash] })
  })

  test('a failure that only deliver_tx tells of is one too', async () => {
    body = { result: { ...failure, check_tx: { fee: {} }, deliver_tx: { code: 20, log: 'late', fee: {} } } }
    await expect(new Svc(url).async.stake.validator.activate({ from: '0x1' })).rejects.toMatchObject({
      code: 20,
      log: 'late',
    })
  })

  test('a JSON-RPC error is an SvcRpcError with code and data, in a callback too', async () => {
    body = { error: { code: -32010, message: 'no key', data: { from: '0x1' } } }
    const svc = new Svc(url)
    const error = {
      name: 'SvcRpcError',
      code: -32010,
      data: { from: '0x1' },
      method: 'svc_transfer',
      message: 'svc_transfer: no key',
    }
    await expect(svc.async.transfer({ from: '0x1', to: '0x2', value: 1 })).rejects.toMatchObject(error)
    const told = await new Promise((done) => {
      svc.transfer({ from: '0x1', to: '0x2', value: 1 }, (...all) => done(all))
    })
    expect(told).toEqual([expect.objectContaining(error)])
    body = { error: 'bad' }
    await expect(svc.async.blockNumber()).rejects.toThrow('svc_blockNumber: the gateway left the call unanswered')
  })

  test('no gateway is an SvcRpcError with code 4900, and an answer that is not JSON-RPC one without a code', async () => {
    text = '<html>'
    await expect(new Svc(url).async.blockNumber()).rejects.toMatchObject({
      code: undefined,
      message: expect.stringContaining('HTTP status 200'),
    })
    await expect(new Svc('http://127.0.0.1:9').async.blockNumber()).rejects.toMatchObject({
      name: 'SvcRpcError',
      code: 4900,
      message: expect.stringMatching(/^svc_blockNumber: the gateway at http:\/\/127\.0\.0\.1:9\/ cannot be reached: /),
    })
    const away = new Svc('http://127.0.0.1:9')
    const said = (): string => {
      try {
        return String(away.blockNumber())
      } catch (error) {
        return (error as Error).message
      }
    }
    let last = said()
    // The thread behind synchronous calls may begin too slowly for the first one.
    while (last.includes('says nothing')) last = said()
    expect(last).toContain('cannot be reached')
    await expect(new Svc('http://127.0.0.1:9').subscribe('newBlock', () => undefined)).rejects.toMatchObject({
      code: 4900,
    })
  })

  test('a connection that is lost before the answer is an SvcRpcError with code 4900', async () => {
    const rude = await serveCalls((_call, request) => void request.socket.destroy())
    await expect(new Svc(rude.url).async.blockNumber()).rejects.toMatchObject({ code: 4900 })
    await rude.close()
  })

  test('the RPC of a CometBFT node is told apart from a gateway', async () => {
    const node = await serveCalls(({ method }) =>
      method === 'status'
        ? { result: { node_info: { network: 'c' }, sync_info: {} } }
        : { error: { code: -32601, message: 'Method not found' } },
    )
    await expect(new Svc(node.url).async.blockNumber()).rejects.toMatchObject({
      code: -32601,
      message: expect.stringMatching(/^svc_blockNumber: \S+ is the RPC of a CometBFT node, not a gateway of svcd/),
    })
    await node.close()
    body = { error: { code: -32601, message: 'Method not found: svc_blockNumber' } }
    await expect(new Svc(url).async.blockNumber()).rejects.toThrow(
      /^svc_blockNumber: Method not found: svc_blockNumber$/,
    )
  })

  test.each<[string, RegExp]>([
    [
      '127.0.0.1:8545',
      /^expected the URL of a gateway, .*, got "127\.0\.0\.1:8545"\. Did you mean http:\/\/127\.0\.0\.1:8545\?$/,
    ],
    ['localhost:8545', /Did you mean http:\/\/localhost:8545\?$/],
    ['ws://127.0.0.1:8545', /^expected the URL of a gateway, .*, got "ws:\/\/127\.0\.0\.1:8545"$/],
    ['', /got ""$/],
  ])('%j is no URL of a gateway', (given, message) => {
    expect(() => new Svc(given)).toThrow(message)
    expect(() => new Svc({ url: given })).toThrow(TypeError)
  })

  test('a URL that was left out is none', () => {
    expect(() => new Svc(undefined as never)).toThrow(/^expected the URL of a gateway, .*, got nothing$/)
  })

  test('a URL with a password is refused, and its error does not show it', () => {
    const withPassword = 'http://me:secret@127.0.0.1:8545'
    expect(() => new Svc(withPassword)).toThrow(/^expected the URL of a gateway without a user and a password$/)
  })

  test('a signal ends the waiting with its reason', async () => {
    const hang = new Svc({
      url,
      fetch: (_url, init) =>
        new Promise((_done, failed) => {
          init?.signal?.addEventListener('abort', () => failed(new Error('aborted')))
        }),
    })
    const abort = new AbortController()
    const waiting = hang.async.blockNumber({ signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

describe('the synchronous form', () => {
  const instead = /Write instead: const result = await svc\.async\.stake\.validator\.list\(…\)$/

  test('does not wait for a gateway in its own thread, and sends it nothing', async () => {
    const svc = new Svc(url)
    expect(() => svc.stake.validator.list()).toThrow(instead)
    await new Promise((done) => {
      setTimeout(done, 50)
    })
    expect(asked.filter(({ method }) => method !== undefined)).toEqual([])
  })

  test('in a page, and with a fetch of its own, throws the line to write instead', () => {
    expect(() => new Svc({ url, fetch }).stake.validator.list()).toThrow(instead)
    jest.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
    expect(() => new Svc(url).stake.validator.list()).toThrow(instead)
  })
})

describe('keys', () => {
  test('a private key, its hex, a mnemonic and a signer give the address of the account', () => {
    const { accounts } = new Svc(url)
    const first = accounts.add(PUBLIC_MNEMONIC)
    expect(first).toBe('0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27')
    expect(accounts.add(PUBLIC_MNEMONIC, 1)).not.toBe(first)
    const bytes = new Uint8Array(32).fill(1)
    expect(accounts.add(`0x${'01'.repeat(32)}`)).toBe(accounts.add(bytes))
    expect(accounts.add({ address: `0x${'aB'.repeat(20)}`, signTx: () => bytes })).toBe(`0x${'ab'.repeat(20)}`)
    expect(accounts.list()).toHaveLength(4)
    expect([accounts.remove(first.toUpperCase().replace('0X', '0x')), accounts.remove(first)]).toEqual([true, false])
  })

  test('a signer that writes its address in capital letters, as wallets do, signs', async () => {
    body = { error: { code: -32602, message: 'refused' } }
    const svc = new Svc({ url, chainId: 'test' })
    const { address, signTx } = ed25519Signer('01'.repeat(32))
    const from = `0x${address.slice(2).toUpperCase()}`
    svc.accounts.add({ address: from, signTx })
    await expect(svc.async.transfer({ from, to: from, value: 1n })).rejects.toMatchObject({ code: -32602 })
    expect(asked.flatMap(({ method }) => method ?? [])).toEqual(['svc_getTransactionCount'])
  })

  test('a private key is read with the end of the line of its file', () => {
    const { accounts } = new Svc(url)
    expect(accounts.add(`${'01'.repeat(32)}\n`)).toBe(accounts.add('01'.repeat(32)))
  })

  const signTx = (): undefined => undefined
  test.each([undefined, null, {}, { address: '0xabc', signTx }, { signTx }])(
    'what is no key at all is refused as one: %p',
    (given) => expect(() => new Svc(url).accounts.add(given as never)).toThrow(/^key: expected a private key/),
  )

  test.each([
    ['a short key', '01'.repeat(31)],
    ['no key', 'secret!'],
    ['no mnemonic', 'these words are a secret'],
  ])('%s is refused without being repeated', (_name, key) => {
    const refusal = ((): string => {
      try {
        return new Svc(url).accounts.add(key)
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(refusal).toMatch(/^(?:key|mnemonic): expected /)
    expect(refusal).not.toContain(key)
  })

  test('a keystore gives the address of its key; with a wrong password, cut short or of another kind it is refused', async () => {
    const { accounts } = new Svc(url)
    const bytes = new Uint8Array(32).fill(1)
    const keystore = JSON.stringify(createKeystore(bytes, 'right', { kdf: 'scrypt', n: 1024, r: 8, p: 1 }))
    expect(await accounts.addKeystore(keystore, 'right')).toBe(accounts.add(bytes))
    await expect(accounts.addKeystore(keystore, 'wrong')).rejects.toMatchObject({ problem: 'wrongPassword' })
    await expect(accounts.addKeystore(keystore.slice(0, 100), 'right')).rejects.toMatchObject({ problem: 'malformed' })
    await expect(accounts.addKeystore(keystore.replace('"ed25519"', '"secp256k1"'), 'right')).rejects.toMatchObject({
      problem: 'otherCurve',
    })
  })

  test('an operation of a local account is refused in the words of the gateway before anything is sent', async () => {
    const svc = new Svc(url)
    const from = svc.accounts.add(PUBLIC_MNEMONIC)
    await expect(svc.async.transfer({ from, to: 'x', value: 1 })).rejects.toMatchObject({
      code: -32602,
      message: 'svc_transfer: to: expected an address (0x and 40 hex digits), got "x"',
    })
    expect(asked).toEqual([])
  })
})

test('tokens go to base units and back without loss', () => {
  expect(Svc.fromTokens('1.5')).toBe(15n * 10n ** 17n)
  expect(Svc.fromTokens('0.000000000000000001')).toBe(1n)
  expect(Svc.toTokens('1500000000000000000')).toBe('1.5')
  expect(Svc.toTokens(10n ** 36n)).toBe('1000000000000000000')
  for (const bad of ['1.0000000000000000001', '-1', '', 'x']) expect(() => Svc.fromTokens(bad)).toThrow(RangeError)
  for (const bad of ['1.5', '-1', '', 2 ** 53]) expect(() => Svc.toTokens(bad)).toThrow(RangeError)
})
