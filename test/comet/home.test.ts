import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import {
  addressOfPubKey,
  homeFiles,
  writeNodeHome,
  writeNodeKeys,
  type NodeHomeOptions,
  readNodeId,
  readValidatorKey,
} from '../../src/comet/home.ts'
import { PORTS } from '../../src/base/ports.ts'
import { setTomlValues, templateOf } from '../../src/comet/config.ts'
import { type TempFolder, tempFolder } from '../support/tempFolder.ts'

let folder: TempFolder
beforeEach(() => {
  folder = tempFolder('comet')
})
afterEach(() => folder.remove())

const options = (more: Partial<NodeHomeOptions> = {}): NodeHomeOptions => ({
  home: folder.path,
  chainId: 'c-1',
  genesis: { appState: { a: [1] }, genesisTime: '2026-11-20T10:00:00Z' },
  ...more,
})
const read = (path: string) => readFileSync(path, 'utf8')
const config = () => parse(read(homeFiles(folder.path).config)) as Record<string, Record<string, unknown>>
const everyFile = () => {
  const { genesis, nodeKey, validatorKey, validatorState } = homeFiles(folder.path)
  return [genesis, nodeKey, validatorKey, validatorState].map(read)
}

describe('home', () => {
  test('the address is the one CometBFT gives the same key', () => {
    // Key and address as `cometbft init` of 0.38.25 wrote them.
    expect(addressOfPubKey('1Dj1N9dbRn1vlPEqWrOVDQ44Ylnm3DXhiZTYxG9x8uM=')).toBe(
      '811EC31D75B52E624CF4A4F1B9232485671AC219',
    )
  })

  test('the validator key is a whole ed25519 pair, and secrets are for their owner only', () => {
    const identity = writeNodeHome(options())
    const files = homeFiles(folder.path)
    const { priv_key } = JSON.parse(read(files.validatorKey)) as { priv_key: { value: string } }
    const both = Buffer.from(priv_key.value, 'base64')
    const x = Buffer.from(identity.pubKey, 'base64').toString('base64url')
    const key = createPrivateKey({
      format: 'jwk',
      key: { kty: 'OKP', crv: 'Ed25519', d: both.subarray(0, 32).toString('base64url'), x },
    })
    const pub = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } })
    expect(verify(null, Buffer.from('x'), pub, sign(null, Buffer.from('x'), key))).toBe(true)
    expect(both.subarray(32).toString('base64url')).toBe(x)
    for (const path of [files.validatorKey, files.nodeKey, files.validatorState])
      expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readValidatorKey(folder.path)).toEqual({ pubKey: identity.pubKey, address: identity.address })
    expect(readNodeId(folder.path)).toBe(identity.nodeId)
  })

  test('two homes never share a key', () => {
    const other = tempFolder('comet')
    const [a, b] = [writeNodeKeys(folder.path), writeNodeKeys(other.path)]
    other.remove()
    expect([a.pubKey, a.nodeId]).not.toEqual([b.pubKey, b.nodeId])
    expect(a.pubKey).not.toBe(b.pubKey)
  })

  test('genesis lists the node itself unless told otherwise, with whole numbers as text', () => {
    const own = writeNodeHome(options({ genesis: { ...options().genesis, initialHeight: 7 } }))
    expect(JSON.parse(read(homeFiles(folder.path).genesis))).toMatchObject({
      chain_id: 'c-1',
      initial_height: '7',
      app_state: { a: [1] },
      app_hash: '',
      consensus_params: {
        block: { max_bytes: '4194304', max_gas: '-1' },
        abci: { vote_extensions_enable_height: '0' },
      },
      validators: [
        { address: own.address, pub_key: { type: 'tendermint/PubKeyEd25519', value: own.pubKey }, power: '10' },
      ],
    })
  })

  test('genesis of a network lists what it is given, the same bytes on each node', () => {
    const pubKey = '1Dj1N9dbRn1vlPEqWrOVDQ44Ylnm3DXhiZTYxG9x8uM='
    const genesis = { ...options().genesis, validators: [{ pubKey, power: 3, name: 'a' }] }
    writeNodeHome(options({ genesis }))
    const first = read(homeFiles(folder.path).genesis)
    rmSync(folder.path, { recursive: true })
    writeNodeHome(options({ genesis }))
    expect(read(homeFiles(folder.path).genesis)).toBe(first)
    const row = { address: '811EC31D75B52E624CF4A4F1B9232485671AC219', power: '3', name: 'a' }
    expect(JSON.parse(first)).toMatchObject({ validators: [row] })
  })

  test('a new config has the flags in it and a block time in proportion', () => {
    writeNodeHome(
      options({ moniker: 'a "b"', blockTimeMs: 200, addresses: { rpc: 'tcp://127.0.0.1:1', metrics: '127.0.0.1:2' } }),
    )
    const { rpc, consensus, mempool, instrumentation, moniker, tx_index } = config()
    expect(moniker).toBe('a "b"')
    expect(rpc).toMatchObject({ laddr: 'tcp://127.0.0.1:1', cors_allowed_origins: [], unsafe: false })
    expect(consensus).toMatchObject({ timeout_commit: '200ms', timeout_propose: '1000ms', skip_timeout_commit: false })
    expect(mempool).toMatchObject({ size: 10_000, max_tx_bytes: 65_536, recheck: true })
    expect(instrumentation).toMatchObject({ prometheus: true, prometheus_listen_addr: '127.0.0.1:2' })
    expect(tx_index).toMatchObject({ indexer: 'null' })
  })

  test('a second start changes what its flags name and nothing else, not even a comment', () => {
    writeNodeHome(options())
    const path = homeFiles(folder.path).config
    writeFileSync(path, read(path).replace('size = 10000', 'size = 77 # mine'))
    const [before, files] = [read(path), everyFile()]
    writeNodeHome(options({ chainId: 'other', moniker: 'other' }))
    expect([read(path), everyFile()]).toEqual([before, files])
    writeNodeHome(options({ blockTimeMs: 3_000, addresses: { p2p: 'tcp://127.0.0.1:9', abci: 'unix:///x.sock' } }))
    const changed = read(path)
      .split('\n')
      .filter((line, i) => line !== before.split('\n')[i])
    const wanted = ['proxy_app = "unix:///x.sock"', 'laddr = "tcp://127.0.0.1:9"', 'timeout_commit = "3000ms"']
    expect(changed).toEqual(expect.arrayContaining(wanted))
    expect(config()).toMatchObject({
      rpc: { laddr: 'tcp://127.0.0.1:26657' },
      p2p: { laddr: 'tcp://127.0.0.1:9' },
      mempool: { size: 77 },
    })
    expect(everyFile()).toEqual(files)
  })

  test('a home with blocks and a key but no signing state is refused, as a height could be signed twice', () => {
    writeNodeHome(options())
    const files = homeFiles(folder.path)
    rmSync(files.validatorState)
    mkdirSync(files.blockStore, { recursive: true })
    expect(() => writeNodeHome(options())).toThrow(
      expect.objectContaining({ code: 'COMET', message: expect.stringContaining('twice') }),
    )
  })

  test.each([
    [{ chainId: 'x'.repeat(51) }, 'chain id'],
    [{ chainId: '' }, 'chain id'],
    [{ blockTimeMs: 9 }, 'block time'],
    [{ blockTimeMs: 600_001 }, 'block time'],
    [{ moniker: 'a\nb' }, 'moniker'],
    [{ addresses: { rpc: 'localhost:1' } }, 'rpc address'],
    [{ addresses: { abci: 'http://x' } }, 'ABCI address'],
    [{ addresses: { metrics: 'x' } }, 'metrics address'],
    // CometBFT takes a time of RFC 3339 in UTC.
    ...[
      'soon',
      '2026',
      '2026-12-01',
      '1 Dec 2026',
      '2026-12-01T10:00Z',
      '2026-12-01T10:00:00',
      '2026-12-01T10:00:00+01:00',
      '2026-12-01T24:00:00Z',
      '2026-02-30T10:00:00Z',
    ].map((genesisTime) => [{ genesis: { appState: {}, genesisTime } }, 'genesis time'] as const),
    [{ genesis: { appState: {}, genesisTime: '2026-11-20T10:00:00Z', validators: [] } }, 'at least one validator'],
  ])('%j is refused with a word on the %s', (more, words) => {
    expect(() => writeNodeHome(options(more))).toThrow(
      expect.objectContaining({ code: 'COMET', message: expect.stringContaining(words) }),
    )
  })

  test('a key file that is damaged is named', () => {
    writeNodeHome(options())
    writeFileSync(homeFiles(folder.path).validatorKey, '{}')
    const error = expect.objectContaining({
      code: 'COMET',
      message: expect.stringContaining('priv_validator_key.json'),
    })
    expect(() => readValidatorKey(folder.path)).toThrow(error)
  })
})

describe('template', () => {
  test('has a line for every setting, and the values of a node without any', () => {
    writeNodeHome(options())
    expect(read(homeFiles(folder.path).config)).toBe(templateOf('config.toml'))
    expect(config()).toMatchObject({
      rpc: { laddr: `tcp://127.0.0.1:${PORTS.rpc}` },
      p2p: { laddr: `tcp://0.0.0.0:${PORTS.p2p}` },
      instrumentation: { prometheus_listen_addr: `127.0.0.1:${PORTS.metrics}` },
    })
    rmSync(folder.path, { recursive: true })
    const peers = { persistentPeers: ['a@b:1'], externalAddress: 'c:2' }
    const addresses = { rpc: 'tcp://h:1', p2p: 'tcp://h:2', abci: 'unix:///x.sock', metrics: 'h:3' }
    const stateSync = { servers: ['a', 'b'], trustHeight: 1, trustHash: '', trustPeriodMs: 1 }
    writeNodeHome(options({ moniker: 'm', privateNet: true, blockTimeMs: 10, addresses, peers, stateSync }))
    const keysOf = (text: string) => text.split('\n').map((line) => line.split('=')[0])
    expect(keysOf(read(homeFiles(folder.path).config))).toEqual(keysOf(templateOf('config.toml')))
  })

  test('a key is set in its own section only, and added when it is missing', () => {
    const text = 'k = 1 # top\n[a]\nk = 2\n[b]\nkk = 3\n'
    expect(setTomlValues(text, { 'b.k': 'x' })).toBe('k = 1 # top\n[a]\nk = 2\n[b]\nk = "x"\nkk = 3\n')
    expect(setTomlValues(text, { k: 9, 'a.k': true })).toBe('k = 9\n[a]\nk = true\n[b]\nkk = 3\n')
    expect(setTomlValues(text, { 'a.kk': 5 })).toBe('k = 1 # top\n[a]\nkk = 5\nk = 2\n[b]\nkk = 3\n')
    expect(parse(setTomlValues(text, { 'c.k': 4 }))).toMatchObject({ k: 1, c: { k: 4 } })
  })
})
