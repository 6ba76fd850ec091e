import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../e2e/support/processes.ts'
import { endedWith, makePlace, type Place, run, svcd, typed } from './support.ts'

const OWNER = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'
let place: Place
beforeAll(async () => {
  place = makePlace(await freePorts(3))
})
afterAll(() => place.remove())

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
/** Everything in a folder, and the folder, that others than its owner may do anything with. */
const openIn = (folder: string): readonly string[] =>
  ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]
    .map((name) => join(folder, name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0)
const init = (home: string) => svcd(place, ['init', '--home', home, '--chain-id', 'mine', '--owner', OWNER])

describe('a home', () => {
  const home = (): string => join(place.folder, 'mine')

  test('is made for its owner alone, whatever the umask, and stays so while its application runs', async () => {
    const made = await typed(place, `umask 0000; svcd init --home mine --chain-id mine --owner ${OWNER}`)
    expect([made.status, openIn(home())]).toEqual([0, []])
    const running = await run(place, ['start', '--home', home(), '--snapshot-interval', '1'], /the application listens/)
    expect(['abci.sock', 'data/state.db', 'data/state.db-wal'].map((name) => existsSync(join(home(), name)))).toEqual([
      true,
      true,
      true,
    ])
    expect(openIn(home())).toEqual([])
    await running.stop()
    expect(['config', 'config/genesis.json', 'data/state.db'].map((name) => modeOf(join(home(), name)))).toEqual([
      '700',
      '600',
      '600',
    ])
  })

  test('that is open is closed when it is used, and a line says so', async () => {
    chmodSync(home(), 0o755)
    const running = await run(place, ['start', '--home', home()], /the application listens/)
    await running.stop()
    expect(running.said()).toContain(
      `${home()}: mode 0755 lets other users of this machine read it; changed it to 0700`,
    )
    expect(modeOf(home())).toBe('700')
  })

  test('made in an empty folder takes that folder; one that holds other things is left, and a line says how to close it', async () => {
    const [empty, shared] = ['empty', 'shared'].map((name) => join(place.folder, name)) as [string, string]
    for (const folder of [empty, shared]) {
      mkdirSync(folder)
      chmodSync(folder, 0o755)
    }
    writeFileSync(join(shared, 'notes.txt'), 'x')
    expect(await init(empty)).toMatchObject({ status: 0, stderr: expect.not.stringContaining('mode') })
    expect(await init(shared)).toMatchObject(endedWith(0, `; run chmod 700 ${shared}`))
    expect([modeOf(empty), modeOf(shared), modeOf(join(shared, 'config'))]).toEqual(['700', '755', '700'])
  })

  test('of svcd testnet is closed too, and its scripts run', async () => {
    const made = await typed(place, 'umask 0000; svcd testnet --validators 1 --output net')
    expect([made.status, openIn(join(place.folder, 'net'))]).toEqual([0, []])
    expect(modeOf(join(place.folder, 'net', 'start.sh'))).toBe('700')
  })
})

describe('a file that holds a secret', () => {
  const loose = (name: string, text: string): string => {
    const path = join(place.folder, name)
    writeFileSync(path, text)
    chmodSync(path, 0o640)
    return path
  }

  test.each([
    ['password', ['keys', 'new', 'alice', '--password-file'], '--password-file'],
    ['mnemonic', ['keys', 'import', 'alice', '--mnemonic', '--secret-file'], '--secret-file'],
    ['token of a gateway', ['gateway', '--auth-token-file'], '--auth-token-file'],
    ['token of a call', ['query', 'accounts', '--auth-token-file'], '--auth-token-file'],
  ])('%s: is refused when others may read it, and the way to mend it is said', async (_name, args, flag) => {
    const path = loose('loose.txt', 'a-secret-that-is-long-enough\n')
    expect(await svcd(place, [...args, path])).toEqual({
      status: 2,
      stdout: '',
      stderr: `svcd: ${flag}: ${path}: mode 0640 lets others read or write it; run chmod 600 ${path}\n`,
    })
    expect(existsSync(join(place.folder, 'keys'))).toBe(false)
  })

  test('may be a pipe of the shell', async () => {
    expect(await typed(place, 'svcd keys new piped --password-file <(echo correct horse)')).toMatchObject({ status: 0 })
  })
})
