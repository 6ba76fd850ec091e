import { afterAll, describe, expect, test } from '@jest/globals'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { devnetSigners } from '../../src/cli/devnet/chain.ts'
import { takeLock } from '../../src/base/sqlite.ts'
import { root, run } from './engine.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('init')
afterAll(remove)

const OWNER = '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27'

const init = (...args: readonly string[]) =>
  run([process.execPath, join(root, 'src/cli/svcd.js'), 'init', ...args], process.env)

describe('svcd init --devnet', () => {
  const home = join(folder, 'home')
  const parts = ['--home', home, '--devnet', '--rpc', '0.0.0.0:26657']
  const files = [
    'config/genesis.json',
    'config/priv_validator_key.json',
    'config/node_key.json',
    'data/priv_validator_state.json',
  ]
  const read = (name: string): string => readFileSync(join(home, name), 'utf8')

  test('makes a home with the public accounts whose node finds the application where it is told', () => {
    expect(init(...parts)).toMatchObject({ status: 0 })
    const genesis = JSON.parse(read('config/genesis.json')) as {
      chain_id: string
      app_state: { accounts: { address: string }[] }
    }
    expect(genesis.chain_id).toBe('svcd-devnet')
    expect(genesis.app_state.accounts.map(({ address }) => address)).toEqual(
      devnetSigners().map(({ address }) => address),
    )
    expect(read('config/config.toml')).toContain(`proxy_app = "unix://${home}/abci.sock"`)
    expect(read('config/config.toml')).toContain('laddr = "tcp://0.0.0.0:26657"')
  })

  test('once more leaves keys, signing state and genesis as they are', () => {
    const before = files.map(read)
    expect(init(...parts)).toMatchObject({ status: 0 })
    expect(files.map(read)).toEqual(before)
  })

  describe('while another process uses the home', () => {
    const inUse = (args: readonly string[]) => {
      const lock = takeLock(join(home, 'devnet'))
      try {
        return init(...args)
      } finally {
        lock.close()
      }
    }

    test('leaves a complete one as it is and tells its node', () => {
      const before = [...files, 'config/config.toml'].map(read)
      const free = JSON.parse(init(...parts, '--json').stdout) as object
      const { status, stdout, stderr } = inUse([...parts, '--rpc', '127.0.0.1:1234', '--block-time', '9s', '--json'])
      expect({ status, stderr }).toEqual({ status: 0, stderr: `${home} is in use and was left as it is\n` })
      expect(JSON.parse(stdout)).toEqual(free)
      expect([...files, 'config/config.toml'].map(read)).toEqual(before)
    })

    test.each([...files, 'config/config.toml'])('refuses one without %s, and writes nothing', (name) => {
      const text = read(name)
      rmSync(join(home, name))
      expect(inUse(parts)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining(`${home} is in use by another devnet or application`),
      })
      expect(() => read(name)).toThrow('ENOENT')
      writeFileSync(join(home, name), text)
    })
  })

  test.each([
    [['--owner', OWNER], '--devnet cannot be combined with --owner'],
    [
      ['--moniker', 'carol', '--peers', `${'f'.repeat(40)}@127.0.0.1:1`, '--state-sync', 'a:1,b:1'],
      '--devnet cannot be combined with --moniker, --peers or --state-sync',
    ],
    [
      ['--trust-height', '1', '--trust-period', '8h'],
      '--devnet cannot be combined with --trust-height or --trust-period',
    ],
    [['--abci', 'app:26658'], '--abci: expected unix:///path or tcp://host:port'],
  ])('%j is refused in one line, and nothing is made', (args, line) => {
    const { status, stderr } = init('--home', join(folder, 'none'), '--devnet', ...args)
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(line) })
    expect(() => readFileSync(join(folder, 'none/config/genesis.json'))).toThrow('ENOENT')
  })

  test('a home of another chain is refused', () => {
    const other = join(folder, 'other')
    expect(init('--home', other, '--chain-id', 'mine', '--owner', OWNER)).toMatchObject({ status: 0 })
    expect(init('--home', other, '--devnet')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('holds the chain mine'),
    })
  })
})
