import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureFolder } from '../../base/folder.ts'
import { homeFiles, readCometConfig, signedHeight, signingFiles, writeNodeKeys } from '../../comet/home.ts'
import { takeLock } from '../../base/sqlite.ts'
import { Failed, UserError } from '../../node/errors.ts'
import { statePathOf } from '../../node/homes.ts'
import { commonOptions, type Configure, type FlagsOf, option, withOptions } from '../options.ts'
import { note, printAnswer } from '../output.ts'
import { confirm } from '../secrets.ts'

const options = [
  ...commonOptions,
  option('--yes', 'do not ask'),
  option(
    '--signing-state',
    'also forget what the validator has signed, and verified headers; only for a chain that starts over, or it may sign ' +
      'a height twice',
  ),
] as const

/** What `look` finds in the files of a home, or `otherwise` where one cannot be read: svcd doctor tells of that. */
function foundOr<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}

/** The file of what the validator of a home has signed; the usual one where config.toml cannot be read. */
const stateOf = (home: string): string =>
  foundOr(() => signingFiles(home).validatorState, resolve(homeFiles(home).validatorState))

/**
 * The paths that are removed: the contents of `data`, `logs` and the socket; of a chain that starts over, also the signing
 * state, wherever it is, and the headers that svcd query --prove keeps.
 */
function doomed(home: string, withSigningState: boolean): readonly string[] {
  const [data, state] = [resolve(home, 'data'), stateOf(home)]
  const inData = (existsSync(data) ? readdirSync(data) : [])
    .map((name) => join(data, name))
    .filter((path) => path !== state)
  const beside = ['logs', 'abci.sock', ...(withSigningState ? ['light'] : [])].map((name) => join(home, name))
  return [...inData, ...[...(withSigningState ? [state] : []), ...beside].filter((path) => existsSync(path))]
}

/** The height at which the validator of a home signed last; 0 where it has none. */
const lastSigned = (home: string): number =>
  foundOr(() => (existsSync(signingFiles(home).validatorKey) ? signedHeight(home) : 0), 0)

/** The block at which a home that is empty again begins, if CometBFT is set to begin with a snapshot. */
function syncHeight(home: string): unknown {
  const { enable, trust_height: height } = foundOr(() => readCometConfig(home).statesync, undefined) ?? {}
  return enable === true ? height : undefined
}

async function run({ home, json, yes, signingState = false }: FlagsOf<typeof options>): Promise<void> {
  if (!existsSync(join(home, 'config', 'genesis.json'))) {
    throw new UserError(`${home} is not the home of a chain, because it has no config/genesis.json`)
  }
  const state = statePathOf(home)
  const removed = doomed(home, signingState)
  if (!(await confirm(`Remove the state, blocks and logs of ${home}? Stop its CometBFT first.`, yes)))
    throw new Failed('nothing was removed')
  if (existsSync(state)) takeLock(state).close() // Throws a StoreError while the application runs.
  for (const path of removed) rmSync(path, { recursive: true, force: true })
  if (signingState) {
    // A home that has a key but not this file would count as one that lost it.
    ensureFolder(join(home, 'data'))
    writeNodeKeys(home)
  }
  const height = lastSigned(home)
  if (height > 0) {
    note(
      `the validator signed last at height ${height}, and signs no block up to there. If no other node has the blocks, the ` +
        'chain starts over only after svcd reset --signing-state',
    )
  }
  const trusted = syncHeight(home)
  if (trusted !== undefined) {
    note(
      `config.toml begins with state sync from block ${trusted}. Once this block is older than trust_period, CometBFT refuses ` +
        'every snapshot and waits at height 0. For a newer block, move config/genesis.json out of the home and run svcd init with ' +
        '--genesis and --state-sync again; to fetch all blocks from peers instead, set enable = false in [statesync]',
    )
  }
  printAnswer(json, { home, removed }, () =>
    removed.length === 0 ? 'there was nothing to remove' : ['removed', ...removed].join('\n  '),
  )
}

/** Configures `svcd reset`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd reset --home ~/my-chain --yes', options).action(run)
}
