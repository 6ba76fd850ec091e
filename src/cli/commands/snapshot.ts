import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { toHex } from '../../base/bytes.ts'
import { ensureFolder } from '../../base/folder.ts'
import { headOfState } from '../../modules/chain/keeper.ts'
import { tables, views } from '../../modules/registry.ts'
import {
  chunkFile,
  keepNewest,
  listSnapshots,
  METADATA_FILE,
  readChunk,
  readSnapshot,
  snapshotPath,
} from '../../store/snapshot/folder.ts'
import { NotARecord, type Snapshot, SNAPSHOT_FORMAT, snapshotHash } from '../../store/snapshot/format.ts'
import { beginRestore, removeRestore } from '../../store/sqlite/restore.ts'
import { writeSnapshot } from '../../store/snapshot/write.ts'
import { openSqliteReader } from '../../store/sqlite/sqliteReader.ts'
import { openSqliteStore } from '../../store/sqlite/sqliteStore.ts'
import { Failed, UserError } from '../errors.ts'
import { chainIdOf, needState, restorePathOf, snapshotsOf, statePathOf } from '../homes.ts'
import { type CommonFlags, type Configure, example, homeFrom, withCommon } from '../options.ts'
import { answer, fields, note, table } from '../output.ts'
import { chooseRetention } from '../settings.ts'

/** A snapshot and the folder of its files. */
export interface Found {
  readonly path: string
  readonly snapshot: Snapshot
}

const upper = (bytes: Uint8Array): string => toHex(bytes).toUpperCase()

/** A snapshot as it is printed: hashes in upper-case hex, as CometBFT prints them. */
export const printSnapshot = ({
  metadata: { chainId, height, appHash, records, bytes, chunkHashes },
  metadataBytes,
}: Snapshot) => ({
  height,
  format: SNAPSHOT_FORMAT,
  chain_id: chainId,
  chunks: chunkHashes.length,
  bytes,
  records,
  hash: upper(snapshotHash(metadataBytes)),
  app_hash: upper(appHash),
})

/**
 * The snapshot in `folder`, which is one itself or holds some: then that of `height`, or the newest. Throws a UserError
 * when there is none.
 */
export function findSnapshot(folder: string, height: number | undefined): Found {
  const newest = height ?? listSnapshots(folder)[0]?.metadata.height
  const isOne = existsSync(join(folder, METADATA_FILE))
  const path = isOne ? folder : newest === undefined ? undefined : snapshotPath(folder, newest)
  const snapshot = path === undefined ? undefined : readSnapshot(path)
  if (path === undefined || snapshot === undefined) {
    throw new UserError(`${folder}: there is no snapshot${height === undefined ? '' : ` of height ${height}`} in it`)
  }
  if (height !== undefined && snapshot.metadata.height !== height) {
    throw new UserError(`${folder}: is the snapshot of height ${snapshot.metadata.height}, not ${height}`)
  }
  return { path, snapshot }
}

/**
 * Restores a snapshot into a new database at `to`: every chunk is held against the metadata, and the rows against its
 * app hash. Throws Failed with what is wrong, and leaves no database then.
 */
export function restoreInto(to: string, { path, snapshot: { metadata } }: Found): void {
  const restore = beginRestore({ path: to, tables, metadata, headOf: headOfState })
  try {
    for (let index = 0; index < metadata.chunkHashes.length; index++) {
      const chunk = readChunk(path, index)
      const file = join(path, chunkFile(index))
      if (chunk === undefined) throw new Failed(`${file}: is missing, or longer than a chunk can be`)
      if (restore.add(chunk) === 'bad') throw new Failed(`${file}: is not the chunk that the metadata names`)
    }
    restore.finish()
  } catch (error) {
    restore.drop()
    if (error instanceof NotARecord)
      throw new Failed(`${path}: is no state of height ${metadata.height}: ${error.message}`)
    throw error
  }
}

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
  const reader = openSqliteReader({ path, tables })
  try {
    const folder = snapshotsOf(home)
    const made = reader.read((state) => {
      if (state.height() === 0) throw new UserError(`${path}: no block is committed yet`)
      return writeSnapshot(state, tables, folder)
    })
    keepNewest(folder, chooseRetention(home, {}).keep)
    answer(flags.json, printSnapshot(made), () => fields(printSnapshot(made)))
  } finally {
    reader.close()
  }
}

async function list(flags: Flags): Promise<void> {
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
  ensureFolder(dirname(statePathOf(home)))
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
