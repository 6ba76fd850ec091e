import type { Command } from 'commander'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { makeFolder } from '../../base/folder.ts'
import { type CommonFlags, type Configure, example, homeFrom, withCommon } from '../command.ts'
import { answer, fields, note, table } from '../output.ts'
import { needState, restorePathOf, snapshotsOf, statePathOf } from '../statePaths.ts'
import { UserError } from '../userError.ts'

interface Flags extends CommonFlags {
  readonly height?: string
  readonly appHash?: string
}

function heightFrom({ height }: Flags): number | undefined {
  if (height === undefined || /^[1-9]\d{0,14}$/.test(height)) return height === undefined ? undefined : Number(height)
  throw new UserError(`--height: expected a height of 1 or more, got ${JSON.stringify(height)}`)
}

async function create(flags: Flags): Promise<void> {
  const home = homeFrom(flags)
  const path = needState(home)
  const { openSqliteReader } = await import('../../store/sqlite/sqliteReader.ts')
  const { tables } = await import('../../modules/registry.ts')
  const { writeSnapshot } = await import('../../store/snapshot/write.ts')
  const { keepNewest } = await import('../../store/snapshot/folder.ts')
  const { chooseKeeping } = await import('../snapshot/keeping.ts')
  const { printSnapshot } = await import('../snapshot/restoreFolder.ts')
  const reader = openSqliteReader({ path, tables })
  try {
    const folder = snapshotsOf(home)
    const made = reader.read((state) => {
      if (state.height() === 0) throw new UserError(`${path}: no block is committed yet`)
      return writeSnapshot(state, tables, folder)
    })
    keepNewest(folder, chooseKeeping(home, {}).keep)
    answer(flags.json, printSnapshot(made), () => fields(printSnapshot(made)))
  } finally {
    reader.close()
  }
}

async function list(flags: Flags): Promise<void> {
  const { listSnapshots } = await import('../../store/snapshot/folder.ts')
  const { printSnapshot } = await import('../snapshot/restoreFolder.ts')
  const found = listSnapshots(snapshotsOf(homeFrom(flags))).map(printSnapshot)
  answer(flags.json, found, () =>
    found.length === 0
      ? 'none'
      : table(
          ['height', 'format', 'chunks', 'bytes', 'hash', 'app_hash'],
          found.map((one) => [one.height, one.format, one.chunks, one.bytes, one.hash, one.app_hash].map(String)),
        ),
  )
}

async function verify(from: string | undefined, flags: Flags): Promise<void> {
  const { findSnapshot, printSnapshot, restoreInto } = await import('../snapshot/restoreFolder.ts')
  const found = findSnapshot(from === undefined ? snapshotsOf(homeFrom(flags)) : resolve(from), heightFrom(flags))
  const folder = mkdtempSync(join(tmpdir(), 'svcd-verify-'))
  try {
    restoreInto(join(folder, 'restore.db'), found)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const printed = printSnapshot(found.snapshot)
  answer(
    flags.json,
    { ...printed, verified: true },
    () => `${fields(printed)}\nevery chunk is whole, and its rows have this app hash`,
  )
}

async function restore(from: string, flags: Flags): Promise<void> {
  const home = homeFrom(flags)
  const { findSnapshot, printSnapshot, restoreInto } = await import('../snapshot/restoreFolder.ts')
  const { tables, views } = await import('../../modules/registry.ts')
  const { openSqliteStore } = await import('../../store/sqlite/sqliteStore.ts')
  const { removeRestore } = await import('../../store/snapshot/restore.ts')
  const { chainIdOf } = await import('../start.ts')
  const found = findSnapshot(resolve(from), heightFrom(flags))
  const printed = printSnapshot(found.snapshot)
  if (flags.appHash !== undefined && !/^[0-9a-f]{64}$/i.test(flags.appHash)) {
    throw new UserError(`--app-hash: expected 64 hex digits, got ${JSON.stringify(flags.appHash)}`)
  }
  if (flags.appHash !== undefined && flags.appHash.toUpperCase() !== printed.app_hash) {
    throw new UserError(
      `--app-hash: the snapshot is of app hash ${printed.app_hash}, not ${flags.appHash.toUpperCase()}`,
    )
  }
  const chainId = chainIdOf(home)
  if (chainId !== undefined && chainId !== printed.chain_id) {
    throw new UserError(`${found.path}: is of chain ${printed.chain_id}, not of ${chainId}, as this home is`)
  }
  makeFolder(dirname(statePathOf(home)))
  // Holds the lock from here on: a StoreError while the application runs.
  const store = openSqliteStore({ path: statePathOf(home), tables, views, expectChainId: printed.chain_id })
  try {
    const to = restorePathOf(home)
    restoreInto(to, found)
    store.replaceBy(to)
    removeRestore(to)
  } finally {
    store.close()
  }
  if (flags.appHash === undefined) {
    note(
      `no --app-hash was given: the snapshot's own was trusted. Hold it against app_hash in the header of block ${printed.height + 1}`,
    )
  }
  answer(flags.json, { ...printed, home }, () => `${fields(printed)}\nis the state of ${home} now`)
}

const sub = (command: Command, name: string, doc: string, ...examples: readonly string[]): Command =>
  withCommon(example(command.command(name).description(doc), ...examples))

const fromHelp = 'a folder of snapshots such as <home>/data/snapshots, or one of the snapshots in it'

/** `svcd snapshot`. */
export const configure: Configure = (command) => {
  example(command, 'svcd snapshot list')
  sub(command, 'create', 'Makes a snapshot of the head, also while the node runs.', 'svcd snapshot create').action(
    create,
  )
  sub(command, 'list', 'Lists the snapshots of a home.', 'svcd snapshot list').action(list)
  sub(command, 'verify', 'Checks every chunk, and works out the app hash anew from the rows.', 'svcd snapshot verify')
    .argument('[from]', `${fromHelp} (default: those of --home)`)
    .option('--height <height>', 'that of this height (default: the newest)')
    .action((from: string | undefined, flags: Flags) => verify(from, flags))
  sub(
    command,
    'restore',
    'Puts a snapshot in place of the state of a home that does not run.',
    'svcd snapshot restore home/data/snapshots --home restored',
  )
    .argument('<from>', fromHelp)
    .option('--height <height>', 'that of this height (default: the newest)')
    .option('--app-hash <hex>', 'the app hash to trust: app_hash in the header of the block that follows')
    .action((from: string, flags: Flags) => restore(from, flags))
}
