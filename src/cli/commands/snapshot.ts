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
import { openRestore, removeRestore } from '../../store/sqlite/restore.ts'
import { writeSnapshot } from '../../store/snapshot/write.ts'
import { openSqliteStore } from '../../store/sqlite/sqliteStore.ts'
import { Failed, UserError } from '../errors.ts'
import { chainIdOf, needState, readState, restorePathOf, snapshotsOf, statePathOf } from '../homes.ts'
import { type CommonFlags, type Configure, example, homeFrom, withCommon } from '../options.ts'
import { printAnswer, formatFields, note, formatTable } from '../output.ts'
import { chooseRetention } from '../settings.ts'

/** A snapshot and the folder of its files. */
export interface Found {
  readonly path: string
  readonly snapshot: Snapshot
}

const upper = (bytes: Uint8Array): string => toHex(bytes).toUpperCase()

/** A snapshot as it is printed, with hashes in upper-case hex like CometBFT's. */
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
 * Finds a snapshot: `folder` itself, or one of those in it, either that of `height` or the newest. Throws a UserError
 * when there is none.
 */
export function findSnapshot(folder: string, height: number | undefined): Found {
  const newest = height ?? listSnapshots(folder)[0]?.metadata.height
  const isOne = existsSync(join(folder, METADATA_FILE))
  const path = isOne ? folder : newest === undefined ? undefined : snapshotPath(folder, newest)
  const snapshot = path === undefined ? undefined : readSnapshot(path)
  if (path === undefined || snapshot === undefined) {
    throw new UserError(`${folder} holds no snapshot${height === undefined ? '' : ` of height ${height}`}`)
  }
  if (height !== undefined && snapshot.metadata.height !== height) {
    throw new UserError(`--height: expected ${snapshot.metadata.height}, the height of ${folder}, got ${height}`)
  }
  return { path, snapshot }
}

/**
 * Restores a snapshot into a new database at `to`, and verifies each chunk and the app hash of its rows against the
 * metadata. On failure it throws a Failed and leaves no database.
 */
export function restoreInto(to: string, { path, snapshot: { metadata } }: Found): void {
  const restore = openRestore({ path: to, tables, metadata, headOf: headOfState })
  try {
    for (let index = 0; index < metadata.chunkHashes.length; index++) {
      const chunk = readChunk(path, index)
      const file = join(path, chunkFile(index))
      if (chunk === undefined) throw new Failed(`${file} is missing, or too long for a chunk`)
      if (restore.add(chunk) === 'bad') throw new Failed(`${file} is not the chunk that the metadata names`)
    }
    restore.finish()
  } catch (error) {
    restore.drop()
    if (error instanceof NotARecord)
      throw new Failed(`${path} is not the state of height ${metadata.height}: ${error.message}`)
    throw error
  }
}

interface Flags extends CommonFlags {
  readonly height?: string
  readonly appHash?: string
}

function heightFrom({ height }: Flags): number | undefined {
  if (height === undefined || /^[1-9]\d{0,14}$/.test(height)) return height === undefined ? undefined : Number(height)
  throw new UserError(`--height: expected a whole number of 1 or more, got ${JSON.stringify(height)}`)
}

async function create(flags: Flags): Promise<void> {
  const home = homeFrom(flags)
  const path = needState(home)
  const folder = snapshotsOf(home)
  const made = readState(path, (state) => {
    if (state.height() === 0) throw new UserError(`${path}: no block has been committed yet`)
    return writeSnapshot(state, tables, folder)
  })
  keepNewest(folder, chooseRetention(home, {}).keep)
  printAnswer(flags.json, printSnapshot(made), () => formatFields(printSnapshot(made)))
}

async function list(flags: Flags): Promise<void> {
  const found = listSnapshots(snapshotsOf(homeFrom(flags))).map(printSnapshot)
  printAnswer(flags.json, found, () =>
    found.length === 0
      ? 'none'
      : formatTable(
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
  printAnswer(
    flags.json,
    { ...printed, verified: true },
    () => `${formatFields(printed)}\nevery chunk is complete, and the rows have this app hash`,
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
      `--app-hash: expected ${printed.app_hash}, the app hash of the snapshot, got ${flags.appHash.toUpperCase()}`,
    )
  }
  const chainId = chainIdOf(home)
  if (chainId !== undefined && chainId !== printed.chain_id) {
    throw new UserError(`${found.path} is of the chain ${printed.chain_id}, but this home is of ${chainId}`)
  }
  ensureFolder(dirname(statePathOf(home)))
  // Takes the lock, and throws a StoreError while the application runs.
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
      `no --app-hash was given, so that of the snapshot was trusted. Compare it with app_hash in the header of block ${printed.height + 1}`,
    )
  }
  printAnswer(flags.json, { ...printed, home }, () => `${formatFields(printed)}\nthis is now the state of ${home}`)
}

const sub = (command: Command, name: string, doc: string, ...examples: readonly string[]): Command =>
  withCommon(example(command.command(name).description(doc), ...examples))

const fromHelp = 'a folder of snapshots, such as <home>/data/snapshots, or one snapshot in it'

/** Configures `svcd snapshot`. */
export const configure: Configure = (command) => {
  example(command, 'svcd snapshot list')
  sub(
    command,
    'create',
    'Creates a snapshot of the newest state, also while the node runs.',
    'svcd snapshot create',
  ).action(create)
  sub(command, 'list', 'Lists the snapshots of a home.', 'svcd snapshot list').action(list)
  sub(command, 'verify', 'Checks every chunk, and recomputes the app hash from the rows.', 'svcd snapshot verify')
    .argument('[from]', `${fromHelp} (default: the snapshots of --home)`)
    .option('--height <height>', 'height of the snapshot (default: the newest)')
    .action((from: string | undefined, flags: Flags) => verify(from, flags))
  sub(
    command,
    'restore',
    'Replaces the state of a stopped node by a snapshot.',
    'svcd snapshot restore home/data/snapshots --home restored',
  )
    .argument('<from>', fromHelp)
    .option('--height <height>', 'height of the snapshot (default: the newest)')
    .option('--app-hash <hex>', 'app hash to trust: app_hash in the header of the next block')
    .action((from: string, flags: Flags) => restore(from, flags))
}
