import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  acceptReverted,
  assertDevnetHome,
  assertValidators,
  devnetNodes,
  writeDevnetHomes,
  programVersionsOf,
} from '../../src/cli/devnet/home.ts'
import { homeFiles } from '../../src/comet/home.ts'
import { raiseProgramVersion } from '../../src/modules/chain/keeper.ts'
import { tables } from '../../src/modules/registry.ts'
import { acceptProgramVersion, programVersionOf } from '../../src/node/programVersion.ts'
import { createOverlay } from '../../src/store/overlay.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { tempFolder } from '../support/tempFolder.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ path: folder, remove } = tempFolder('devnet'))
})
afterEach(() => remove())

const nodesOf = (validators: number, { host = '127.0.0.1', port = 26656 } = {}) =>
  devnetNodes({ home: folder, validators, rpc: { host: '127.0.0.1', port: 26657 }, p2p: { host, port } })
const read = (path: string): string => readFileSync(path, 'utf8')

describe('the validators of a devnet', () => {
  test('the only one has the home itself, its ports as given, and no peers', () => {
    const nodes = nodesOf(1)
    expect(nodes).toMatchObject([
      { home: folder, rpc: { port: 26657 }, p2p: { port: 26656 }, abci: `unix://${folder}/abci.sock` },
    ])
    writeDevnetHomes(nodes)
    expect(read(homeFiles(folder).config)).toMatch(/^persistent_peers = ""$/m)
    expect(read(homeFiles(folder).config)).toMatch(/^external_address = ""$/m)
  })

  test('the others have homes below it, ports 10 apart and accounts of their own, and dial each other', () => {
    const nodes = nodesOf(3, { host: '0.0.0.0' })
    expect(nodes.map(({ home }) => home)).toEqual([folder, join(folder, 'node1'), join(folder, 'node2')])
    expect(nodes.map(({ rpc, p2p }) => [rpc.port, p2p.port])).toEqual([
      [26657, 26656],
      [26667, 26666],
      [26677, 26676],
    ])
    expect(new Set(nodes.map(({ owner }) => owner)).size).toBe(3)
    const [, second, third] = writeDevnetHomes(nodes)
    expect(read(homeFiles(folder).config)).toContain(
      `persistent_peers = "${second?.nodeId}@127.0.0.1:26666,${third?.nodeId}@127.0.0.1:26676"`,
    )
    // What svcd query --prove and svcd testnet write into the home by default.
    for (const name of ['light', 'testnet']) mkdirSync(join(folder, name))
    assertDevnetHome(folder)
    assertValidators(folder, 3)
    expect(() => assertValidators(folder, 1)).toThrow(
      /has 3 validators, not 1. Continue it with svcd devnet --validators 3, .*--reset/,
    )
  })

  test('of ports that do not exist are refused, and the highest that do are taken', () => {
    expect(nodesOf(3, { port: 65_515 }).at(-1)?.p2p.port).toBe(65_535)
    expect(() => nodesOf(3, { port: 65_516 })).toThrow(
      '--p2p: expected a port of at most 65515, got 65516: validator 2 would need port 65536',
    )
  })
})

describe('homes made once more', () => {
  const [GENESIS, KEYS] = [(home: string) => homeFiles(home).genesis, (home: string) => homeFiles(home).validatorKey]

  test('keep keys and genesis, and what a crash left out comes as it was', () => {
    const nodes = nodesOf(3)
    writeDevnetHomes(nodes)
    // As if it were of an earlier program: one made anew would differ, and so would the chain.
    for (const { home } of nodes) writeFileSync(GENESIS(home), `${read(GENESIS(home))}\n`)
    const before = nodes.flatMap(({ home }) => [read(GENESIS(home)), read(KEYS(home))])
    rmSync(GENESIS(join(folder, 'node2')))
    rmSync(join(folder, 'node1', 'config', 'config.toml'))
    writeDevnetHomes(nodes)
    expect(nodes.flatMap(({ home }) => [read(GENESIS(home)), read(KEYS(home))])).toEqual(before)
    expect(new Set(nodes.map(({ home }) => read(GENESIS(home)))).size).toBe(1)
  })

  test('without the key of a validator are refused: another could sign nothing', () => {
    writeDevnetHomes(nodesOf(2))
    rmSync(KEYS(join(folder, 'node1')))
    expect(() => writeDevnetHomes(nodesOf(2))).toThrow(
      /node1\/config\/priv_validator_key\.json is not a key of the genesis file in/,
    )
  })
})

describe('the program version that each application executes', () => {
  /** A home whose state needs the program version. */
  const homeAt = (version: number): string => {
    const home = join(folder, `at${version}`)
    mkdirSync(join(home, 'data'), { recursive: true })
    const store = openSqliteStore({ path: join(home, 'data', 'state.db'), tables })
    const overlay = createOverlay(store)
    for (let at = 1; at < version; at++) raiseProgramVersion(overlay)
    store.commit(store.prepare(overlay), { height: 1, timeMs: 1, chainId: 'test', transactions: 0 })
    store.close()
    return home
  }

  test('is the accepted one, but the one before where only the block of the retirement is missing', () => {
    const [first, second, third] = [homeAt(1), homeAt(2), homeAt(3)]
    expect(programVersionsOf([second, second], 2)).toEqual([2, 2])
    expect(programVersionsOf([second, first], 2)).toEqual([2, 1])
    // Nobody's chain has come that far, or somebody's is two behind: svcd start refuses, and says so.
    expect(programVersionsOf([first, first], 2)).toEqual([2, 2])
    expect(programVersionsOf([third, first], 3)).toEqual([3, 3])
    expect(programVersionsOf([join(folder, 'none')], 1)).toEqual([1])
  })

  test('is after a revert the one that the chain is at, which the home remembers in place of what this release was told', () => {
    const [first, second] = [homeAt(1), homeAt(2)]
    acceptProgramVersion(folder, 2)
    expect([acceptReverted(folder, [second]), acceptReverted(folder, [second], 2)]).toEqual([undefined, 2])
    // One of them is a block behind.
    expect(acceptReverted(folder, [first, second])).toBe(undefined)
    expect(programVersionOf(folder)).toBe(2)
    expect([acceptReverted(folder, [first, first], 2), programVersionOf(folder)]).toEqual([1, 1])
    expect([acceptReverted(folder, [second], 1), programVersionOf(folder)]).toEqual([2, 2])
  })
})
