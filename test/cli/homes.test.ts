/** Homes that a command must leave alone: no genesis, somebody else's, in use, a place where no folder can be made. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { machineOs } from '../../src/node/settings.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { type Ended, makePlace, type Place, run, type Running, svcd } from './support.ts'

const DEVNET_0 = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'
const HANG_MS_MAX = 300_000

let place: Place
let home = ''
let ports: readonly number[] = []
const started: Running[] = []

beforeAll(async () => {
  ports = await freePorts(6)
  place = makePlace(ports)
  home = place.env['SVCD_HOME'] as string
})
afterAll(async () => {
  await Promise.all(started.map((one) => one.stop()))
  place.remove()
})

/** Starts a command; whatever a failed test leaves running is stopped at the end. */
async function begin(args: readonly string[], ready: RegExp): Promise<Running> {
  const running = await run(place, args, ready)
  started.push(running)
  return running
}

/** One clear line and status 2, or the command hangs. */
async function expectUserError(args: readonly string[], line: RegExp, input = ''): Promise<void> {
  const hang = new Promise<Ended>((done) =>
    setTimeout(done, HANG_MS_MAX, { status: -1, stdout: '', stderr: 'it hangs' }).unref(),
  )
  const ended = await Promise.race([svcd(place, args, input), hang])
  expect([args, ended]).toMatchObject([args, { status: 2, stderr: expect.stringMatching(line) }])
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
}

/** Every file below a folder with its bytes and its time. */
const picture = (folder: string): unknown =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.endsWith('addrbook.json')) // CometBFT writes it when it likes.
    .sort()
    .map((name) => {
      const path = join(folder, name)
      const stat = statSync(path)
      return [name, stat.mtimeMs, stat.isFile() ? readFileSync(path, 'utf8') : '']
    })

test('init joins no chain with a validator key whose signing state is missing, and leaves the home as it is', async () => {
  const [made, joined] = [join(place.folder, 'lost'), join(place.folder, 'rejoined')]
  const chain = ['init', '--home', made, '--chain-id', 'c', '--owner', DEVNET_0]
  expect(await svcd(place, chain)).toMatchObject({ status: 0 })
  mkdirSync(join(joined, 'config'), { recursive: true, mode: 0o700 })
  const key = join('config', 'priv_validator_key.json')
  writeFileSync(join(joined, key), readFileSync(join(made, key)), { mode: 0o600 })
  const before = picture(joined)
  const joining = ['init', '--home', joined, '--genesis', join(made, 'config', 'genesis.json')]
  await expectUserError(joining, /^svcd: \S+priv_validator_state\.json is missing: .* sign a height twice/)
  expect(picture(joined)).toEqual(before)
  const state = join('data', 'priv_validator_state.json')
  mkdirSync(join(joined, 'data'))
  writeFileSync(join(joined, state), readFileSync(join(made, state)), { mode: 0o600 })
  expect(await svcd(place, joining)).toMatchObject({ status: 0 })
})

describe('a home where no folder can be made', () => {
  test.each<[string, readonly string[], string]>([
    ['init', ['init', '--home', '/proc/x', '--chain-id', 'c', '--owner', DEVNET_0], ''],
    ['init in a folder of it', ['init', '--home', '/proc/x/y/z', '--chain-id', 'c', '--owner', DEVNET_0], ''],
    ['init --devnet', ['init', '--devnet', '--home', '/proc/x'], ''],
    ['devnet', ['devnet', '--home', '/proc/x'], ''],
    ['testnet', ['testnet', '--validators', '1', '--output', '/proc/x'], ''],
    ['keys new', ['keys', 'new', 'alice', '--keystore', '/proc/x'], 'a password\n'],
    ['below a file', ['init', '--home', '/proc/version/x', '--chain-id', 'c', '--owner', DEVNET_0], ''],
  ])('%s ends with one line', async (_, args, input) => {
    await expectUserError(
      args,
      /^svcd: \/proc\/[a-z0-9/]+: the folder cannot be made \(.*mkdir.*\): name another place\n$/,
      input,
    )
  })
})

describe('svcd start without config/genesis.json', () => {
  test('is refused, and makes nothing', async () => {
    const empty = join(place.folder, 'empty')
    await expectUserError(['start', '--home', empty], /has no config\/genesis\.json\. Create the home with svcd init/)
    expect(existsSync(empty)).toBe(false)
    mkdirSync(empty)
    await expectUserError(['start', '--home', empty], /has no config\/genesis\.json/)
    expect(readdirSync(empty)).toEqual([])
  })
})

describe('a genesis file that cannot be served', () => {
  const made = (): string => join(place.folder, 'made')
  const write = (
    change: (genesis: {
      consensus_params: { block: { max_bytes: unknown }; validator: { pub_key_types: unknown } }
      initial_height: string
    }) => void,
  ): string => {
    const genesis = JSON.parse(readFileSync(join(made(), 'config', 'genesis.json'), 'utf8'))
    change(genesis)
    const path = join(place.folder, 'genesis.json')
    writeFileSync(path, JSON.stringify(genesis))
    return path
  }
  beforeAll(async () => {
    const args = ['init', '--home', made(), '--chain-id', 'c', '--owner', DEVNET_0]
    expect(await svcd(place, args)).toMatchObject({ status: 0 })
  })

  test('block.max_bytes that is no number: init --genesis, start and doctor say so', async () => {
    const path = write((genesis) => {
      genesis.consensus_params.block.max_bytes = 'many'
    })
    const line =
      /genesis\.json: genesis consensus_params: block\.max_bytes: expected 1 to 67108864 \(64 MiB\), got NaN\n$/
    const joined = join(place.folder, 'joined')
    await expectUserError(['init', '--home', joined, '--genesis', path], line)
    expect(existsSync(joined)).toBe(false)
    mkdirSync(join(joined, 'config'), { recursive: true, mode: 0o700 })
    writeFileSync(join(joined, 'config', 'genesis.json'), readFileSync(path))
    await expectUserError(['start', '--home', joined], line)
    expect(readdirSync(joined)).toEqual(['config'])
    const doctor = await svcd(place, ['doctor', '--home', joined])
    expect(doctor).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/bad +home .*block\.max_bytes: expected 1 to 67108864/),
    })
  })

  test('validator.pub_key_types null: init --genesis says so', async () => {
    const path = write((genesis) => {
      genesis.consensus_params.validator.pub_key_types = null
    })
    const line = /consensus_params: validator\.pub_key_types: expected \["ed25519"\] alone, got null\n$/
    await expectUserError(['init', '--home', join(place.folder, 'other'), '--genesis', path], line)
  })

  test('an init that ends before its last file can be run again', async () => {
    const home = join(place.folder, 'ended')
    const units = join(home, 'systemd')
    mkdirSync(home, { mode: 0o700 })
    writeFileSync(units, 'in the way')
    const args = ['init', '--home', home, '--chain-id', 'c', '--owner', DEVNET_0]
    await expectUserError(args, /systemd: the folder cannot be made/)
    rmSync(units)
    expect(await svcd(place, args)).toMatchObject({ status: 0 })
    expect(readdirSync(units)).toHaveLength(3)
  })

  test('reset says what the validator has signed, unless it forgets that too', async () => {
    const home = join(place.folder, 'signed')
    expect(await svcd(place, ['init', '--home', home, '--chain-id', 'c', '--owner', DEVNET_0])).toMatchObject({
      status: 0,
    })
    writeFileSync(join(home, 'data', 'priv_validator_state.json'), '{"height":"98","round":0,"step":3}')
    const reset = ['reset', '--home', home, '--yes']
    expect((await svcd(place, reset)).stderr).toMatch(
      /^the validator signed last at height 98, .* svcd reset --signing-state\n$/,
    )
    expect((await svcd(place, [...reset, '--signing-state'])).stderr).toBe('')
  })

  test('nor is one behind the genesis: settings that cannot be written leave none', async () => {
    const home = join(place.folder, 'full')
    const inTheWay = join(home, 'config', 'svcd.json.new')
    mkdirSync(inTheWay, { recursive: true, mode: 0o700 })
    // Where the machine has an OS that libraries know, nothing is to be written.
    const status = machineOs() === undefined ? 2 : 0
    const args = ['init', '--home', home, '--chain-id', 'c', '--owner', DEVNET_0]
    expect(await svcd(place, args)).toMatchObject({ status })
    expect(existsSync(join(home, 'config', 'genesis.json'))).toBe(status === 0)
  })

  test('a moniker that is refused leaves no genesis, and the next init makes the home', async () => {
    const path = write(() => undefined)
    const init = ['init', '--home', join(place.folder, 'again'), '--genesis', path, '--moniker']
    await expectUserError([...init, 'ä'], /moniker: expected 1 to 64 printable ASCII characters/)
    expect(await svcd(place, [...init, 'node'])).toMatchObject({ status: 0 })
    expect(readFileSync(join(place.folder, 'again', 'config', 'genesis.json'))).toEqual(readFileSync(path))
  })

  test('the largest block and a genesis without consensus_params are taken', async () => {
    const largest = write((genesis) => {
      genesis.consensus_params.block.max_bytes = '67108864'
    })
    expect(await svcd(place, ['init', '--home', join(place.folder, 'largest'), '--genesis', largest])).toMatchObject({
      status: 0,
    })
    const without = write((genesis) => {
      delete (genesis as Partial<typeof genesis>).consensus_params
    })
    expect(await svcd(place, ['init', '--home', join(place.folder, 'without'), '--genesis', without])).toMatchObject({
      status: 0,
    })
  })

  test('an initial height that no number counts is refused', async () => {
    const path = write((genesis) => {
      genesis.initial_height = '9223372036854775807'
    })
    await expectUserError(
      ['init', '--home', join(place.folder, 'high'), '--genesis', path],
      /initial_height: expected 0 to 10{9}, got /,
    )
  })
})

describe('a devnet home in use', () => {
  const other = (): readonly string[] =>
    ['--gateway', '--rpc', '--p2p'].flatMap((flag, at) => [flag, `127.0.0.1:${ports[3 + at]}`])

  test('a second devnet and a reset end before they write anything, an init leaves it; after its end the home is free', async () => {
    const first = await begin(['devnet', '--block-time', '200ms'], /devnet ready/)
    const before = picture(join(home, 'config'))
    const line = /home is in use by another devnet or application. Stop that one first/
    await expectUserError(['devnet', ...other(), '--block-time', '500ms'], line)
    await expectUserError(['devnet', ...other(), '--reset'], line)
    const { status, stderr } = await svcd(place, ['init', '--devnet', '--block-time', '500ms'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: `${home} is in use and was left as it is\n` })
    expect(picture(join(home, 'config'))).toEqual(before)
    expect(await first.stop()).toBe(0)
    const again = await begin(['devnet', ...other(), '--block-time', '300ms'], /devnet ready/)
    expect(await again.stop()).toBe(0)
    expect(picture(join(home, 'config'))).not.toEqual(before)
  })

  test('so does a devnet on a home that an application runs on', async () => {
    const app = await begin(['start'], /the application listens/)
    const before = picture(join(home, 'config'))
    await expectUserError(
      ['devnet', ...other(), '--block-time', '700ms'],
      /home is in use by another devnet or application/,
    )
    expect(picture(join(home, 'config'))).toEqual(before)
    expect(await app.stop()).toBe(0)
  })
})

test('svcd start warns of an ABCI address that is open to the network', async () => {
  const app = await begin(['start', '--abci', `tcp://0.0.0.0:${ports[5]}`], /warning/)
  expect(app.said()).toMatch(
    /svcd: warning: --abci tcp:\/\/0\.0\.0\.0:\d+: whoever can reach this address can control the application/,
  )
  expect(await app.stop()).toBe(0)
})
