import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { examineProgram } from '../../src/cli/doctorChecks.ts'
import { acceptProgramVersion, programVersionOf } from '../../src/node/programVersion.ts'
import { readConfig } from '../../src/node/settings.ts'
import { FIRST_PROGRAM_VERSION, raiseProgramVersion } from '../../src/modules/chain/keeper.ts'
import { tables, views } from '../../src/modules/registry.ts'
import { createOverlay } from '../../src/store/overlay.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import { type Ended, endedWith, makePlace, type Place, run, svcd } from './support.ts'

let place: Place
/** A home whose CometBFT would replay the chain from genesis. */
let fresh = ''

beforeAll(async () => {
  place = makePlace([9, 9, 9])
  fresh = join(place.folder, 'fresh')
  const made = await svcd(place, ['init', '--home', fresh, '--chain-id', 'c', '--owner', `0x${'1'.repeat(40)}`])
  if (made.status !== 0) throw new Error(made.stderr)
})
afterAll(() => place.remove())

let copies = 0
function copyOf(home: string): string {
  const copy = join(place.folder, `home${copies++}`)
  cpSync(home, copy, { recursive: true })
  return copy
}

/** A home whose chain is at a program version, after block 7. */
function homeAt(version: number): string {
  const home = copyOf(fresh)
  const store = openSqliteStore({ path: join(home, 'data', 'state.db'), tables, views })
  const overlay = createOverlay(store)
  for (let at = FIRST_PROGRAM_VERSION; at < version; at++) raiseProgramVersion(overlay)
  store.commit(store.prepare(overlay), { height: 7, timeMs: 1, chainId: 'c', transactions: 0 })
  store.close()
  return home
}

function enableStateSync(home: string): string {
  const path = join(home, 'config', 'config.toml')
  const text = readFileSync(path, 'utf8')
  const enabled = text.replace(/(\[statesync\][^[]*\nenable = )false/, '$1true')
  expect(enabled).not.toBe(text)
  writeFileSync(path, enabled)
  return home
}

const start = (home: string, ...args: readonly string[]): Promise<Ended> =>
  svcd(place, ['start', '--home', home, ...args])
const withVariable = (version: string): Place => ({
  ...place,
  env: { ...place.env, SVCD_ACCEPT_PROGRAM_VERSION: version },
})

describe('the program version that a release runs', () => {
  test('is the one given, else that of config/svcd.json, else its own; a number out of range is refused', () => {
    const home = copyOf(fresh)
    expect(programVersionOf(home)).toBe(1)
    acceptProgramVersion(home, 3)
    expect([programVersionOf(home), programVersionOf(home, 2)]).toEqual([3, 2])
    for (const bad of [0, 1_000_000, '2', 1.5]) {
      writeFileSync(join(home, 'config', 'svcd.json'), JSON.stringify({ acceptProgramVersion: bad }))
      expect(() => programVersionOf(home)).toThrow(
        `config/svcd.json: acceptProgramVersion: expected a whole number from 1 to 999999, got ${JSON.stringify(bad)}`,
      )
    }
    acceptProgramVersion(home, 999_999)
    expect(programVersionOf(home)).toBe(999_999)
  })

  test('of svcd start: the flag wins over the variable, the variable over the file', async () => {
    const home = homeAt(4)
    acceptProgramVersion(home, 3)
    const runs = async (where: Place, ...args: readonly string[]): Promise<string | undefined> =>
      /runs version (\d)/.exec((await svcd(where, ['start', '--home', home, ...args])).stderr)?.[1]
    expect(await runs(place)).toBe('3')
    expect(await runs(withVariable('2'))).toBe('2')
    expect(await runs(withVariable('2'), '--accept-program-version', '5')).toBe('5')
  })

  test('is written beside the other settings, and not at all where it is the release’s own', () => {
    const home = copyOf(fresh)
    writeFileSync(join(home, 'config', 'svcd.json'), '{"from":"alice"}')
    acceptProgramVersion(home, 2)
    expect(readConfig(home)).toEqual({ from: 'alice', acceptProgramVersion: 2, acceptedBy: 1 })
    // A later release has rules of its own.
    expect([2, 3].map((own) => programVersionOf(home, undefined, own))).toEqual([2, 3])
    expect(programVersionOf(home, 2, 3)).toBe(2)
    acceptProgramVersion(home, 1)
    expect(readConfig(home)).toEqual({ from: 'alice' })
    // A later release begins a chain, whose first version is 1.
    acceptProgramVersion(home, FIRST_PROGRAM_VERSION, 2)
    expect(readConfig(home)).toEqual({ from: 'alice', acceptProgramVersion: 1, acceptedBy: 2 })
    expect(programVersionOf(home, undefined, 2)).toBe(1)
    acceptProgramVersion(home, 2, 2)
    expect(readConfig(home)).toEqual({ from: 'alice' })
  })
})

describe('svcd program accept', () => {
  test('declares this release the successor: svcd start runs the version that it wrote', async () => {
    const home = homeAt(2)
    expect(await start(home)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        'this program runs version 1, which the chain has retired: it is at version 2. Install the successor. If ' +
          'this release is the successor, start it with --accept-program-version 2, or run svcd program accept 2 ' +
          `--home ${home} once`,
      ),
    })
    const accepted = await svcd(place, ['program', 'accept', '2', '--home', home, '--json'])
    expect([accepted.status, JSON.parse(accepted.stdout)]).toMatchObject([
      0,
      { home, chain_id: 'c', program_version: 2 },
    ])
    expect(readConfig(home).acceptProgramVersion).toBe(2)
    const running = await run(place, ['start', '--home', home], /"programVersion":2/)
    expect(await running.stop()).toBe(0)
  })

  test('of svcd start: what a killed process left is removed first, because it may be what fills the disk', async () => {
    const home = homeAt(2)
    const left = ['restore.db', 'restore.db-wal', 'snapshots/tmp-9-x'].map((name) => join(home, 'data', name))
    mkdirSync(left[2] as string, { recursive: true })
    for (const path of left.slice(0, 2)) writeFileSync(path, 'x')
    expect(await start(home)).toMatchObject(endedWith(2, 'which the chain has retired'))
    expect(left.filter((path) => existsSync(path))).toEqual([])
  })

  test('refuses any version but the chain’s, so that the program before it can still run; a home without a state takes any', async () => {
    const accept = (home: string, version: string): Promise<Ended> =>
      svcd(place, ['program', 'accept', version, '--home', home])
    const home = homeAt(2)
    for (const [version, why] of [
      ['3', `<version>: expected 2, which the chain is at in ${home}, got 3. Run the release of version 2 until`],
      ['1', `<version>: expected 2, which the chain is at in ${home}, got 1\n`],
      ['0', '<version>: expected a whole number from 1 to 999999, got "0"'],
    ] as const)
      expect(await accept(home, version)).toMatchObject(endedWith(2, why))
    expect(readConfig(home)).toEqual(readConfig(fresh))
    expect((await accept(copyOf(fresh), '3')).status).toBe(0)
    const none = join(place.folder, 'none')
    expect(await accept(none, '2')).toMatchObject(endedWith(2, 'no config/genesis.json'))
    expect(existsSync(none)).toBe(false)
  })
})

describe('a home without a state', () => {
  const replay = (home: string): string =>
    'this program runs version 2, but this home has no state, and a replay from genesis begins with the blocks of ' +
    'version 1. Join by state sync: move config/genesis.json out of the home, and run svcd init with --genesis and ' +
    '--state-sync. Or run the release of version 1 until the chain retires ' +
    `it. If the chain began with this release, run svcd program accept 1 --home ${home}`

  test('is refused to a successor that would replay older blocks, and told by doctor too; with state sync it starts', async () => {
    const home = copyOf(fresh)
    acceptProgramVersion(home, 2)
    expect(await start(home)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(replay(home)) })
    expect(examineProgram(home, undefined)).toEqual({ check: 'program', verdict: 'bad', found: replay(home) })
    enableStateSync(home)
    const found = 'this release runs version 2, and this home has no state yet'
    expect(examineProgram(home, undefined)).toEqual({ check: 'program', verdict: 'ok', found })
    const running = await run(place, ['start', '--home', home], /"programVersion":2/)
    expect(await running.stop()).toBe(0)
  })
})

describe('svcd doctor', () => {
  const bad = (found: string) => ({ check: 'program', verdict: 'bad', found: expect.stringContaining(found) })

  test('tells the version that runs and the one that the chain is at; it ends with 1 where they differ', async () => {
    const home = homeAt(2)
    expect(examineProgram(home, 2)).toEqual({
      check: 'program',
      verdict: 'ok',
      found: 'this release runs version 2, and the chain is at version 2',
    })
    expect(examineProgram(home, undefined)).toEqual(bad('runs version 1, which the chain has retired'))
    expect(examineProgram(home, 3)).toEqual(
      bad('this program runs version 3, but the chain is still at version 2. Run the release of version 2 until'),
    )
    expect(examineProgram(home, 3)).toEqual(
      bad(`leave out --accept-program-version, or run svcd program accept 2 --home ${home}`),
    )
    const ended = await svcd(place, ['doctor', '--home', home, '--json'])
    expect([ended.status, JSON.parse(ended.stdout)]).toEqual([1, expect.arrayContaining([bad('has retired')])])
    const accepted = await svcd(withVariable('2'), ['doctor', '--home', home, '--json'])
    expect(JSON.parse(accepted.stdout)).toContainEqual(expect.objectContaining({ check: 'program', verdict: 'ok' }))
  })

  test('says what is wrong with the setting or the state instead of throwing', () => {
    const home = copyOf(fresh)
    writeFileSync(join(home, 'config', 'svcd.json'), '{"acceptProgramVersion":"2"}')
    expect(examineProgram(home, undefined)).toEqual(bad('acceptProgramVersion: expected a whole number'))
    rmSync(join(home, 'config', 'svcd.json'))
    mkdirSync(join(home, 'data'), { recursive: true })
    writeFileSync(join(home, 'data', 'state.db'), 'not a database, but long enough to be looked at by anybody')
    expect(examineProgram(home, undefined)).toEqual(bad('is not a database'))
  })
})
