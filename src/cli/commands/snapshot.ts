import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ensureFolder } from '../../base/folder.ts'
import { headOfState } from '../../modules/chain/keeper.ts'
import { tables } from '../../modules/registry.ts'
import {
  chunkFile,
  keepNewest,
  listSnapshots,
  METADATA_FILE,
  newestHeights,
  NotARecord,
  openRestore,
  readChunk,
  readSnapshot,
  removeRestore,
  type Snapshot,
  SNAPSHOT_FORMAT,
  snapshotHash,
  snapshotPath,
  SNAPSHOTS_LISTED_MAX,
  writeSnapshot,
} from '../../store/index.ts'
import { Failed, UserError } from '../../node/errors.ts'
import { chainIdOf, needState, restorePathOf, snapshotsOf, statePathOf } from '../../node/homes.ts'
import {
  type CommonFlags,
  commonOptions,
  type Configure,
  type FlagsOf,
  option,
  subcommand,
  withOptions,
} from '../options.ts'
import { printAnswer, formatFields, note, formatTable } from '../output.ts'
import { checkWhole, type Limits, parseHash, parseHeight, parseWhole, readConfig } from '../../node/settings.ts'
import type { Retention } from '../../node/start.ts'
import { openState, printHash, readVerifiedState } from '../../node/stateFile.ts'

/** A snapshot as it is printed, with hashes in upper-case hex like CometBFT's. */
const printSnapshot = ({
  metadata: { chainId, height, appHash, records, bytes, chunkHashes },
  metadataBytes,
}: Snapshot) => ({
  height,
  format: SNAPSHOT_FORMAT,
  chain_id: chainId,
  chunks: chunkHashes.length,
  bytes,
  records,
  hash: printHash(snapshotHash(metadataBytes)),
  app_hash: printHash(appHash),
})

/**
 * Finds a snapshot: `folder` itself, or one of those in it, either that of `height` or the newest. Throws a UserError
 * when there is none.
 */
export function findSnapshot(folder: string, height: number | undefined) {
  const newest = height ?? newestHeights(folder)[0]
  const isOne = existsSync(join(folder, METADATA_FILE))
  const path = isOne ? folder : newest === undefined ? undefined : snapshotPath(folder, newest)
  const snapshot = path === undefined ? undefined : readSnapshot(path)
  if (path !== undefined && snapshot === undefined && existsSync(join(path, METADATA_FILE)))
    throw new Failed(`${join(path, METADATA_FILE)} is damaged. Remove ${path}, and take another snapshot`)
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
 * metadata. `onOpened` is called when the files of the database are there. On failure it throws a Failed and leaves no
 * database.
 */
export function restoreInto(
  to: string,
  { path, snapshot: { metadata } }: ReturnType<typeof findSnapshot>,
  onOpened = (): void => {},
): void {
  const remedy = `Remove ${path}, and take another snapshot`
  const restore = openRestore({ path: to, tables, metadata, headOf: headOfState })
  try {
    onOpened()
    for (let index = 0; index < metadata.chunkHashes.length; index++) {
      const chunk = readChunk(path, index)
      const file = join(path, chunkFile(index))
      if (chunk === undefined) throw new Failed(`${file} is missing, or too long for a chunk. ${remedy}`)
      if (restore.add(chunk) === 'bad') throw new Failed(`${file} is not the chunk that the metadata names. ${remedy}`)
    }
    restore.finish()
  } catch (error) {
    restore.drop()
    if (error instanceof NotARecord)
      throw new Failed(`${path} is not the state of height ${metadata.height}: ${error.message}. ${remedy}`)
    throw error
  }
}

/**
 * At one block a second, 1,000 blocks take a quarter of an hour: a node that joins replays a few minutes of blocks, and
 * a state of a million accounts is written in a small part of that time. Two snapshots are kept, so that one that a
 * peer is loading is not removed.
 */
const DEFAULTS: Retention = { interval: 1000, keep: 2, keepBlocks: 0 }

const keepOption = option('--snapshot-keep <count>', `number of snapshots to keep (default: ${DEFAULTS.keep})`, {
  env: 'SVCD_SNAPSHOT_KEEP',
})

/** The options that choose which snapshots and blocks to keep. */
export const retentionOptions = [
  option(
    '--snapshot-interval <blocks>',
    `number of blocks from snapshot to snapshot, 0 for none (default: ${DEFAULTS.interval})`,
    { env: 'SVCD_SNAPSHOT_INTERVAL' },
  ),
  keepOption,
  option(
    '--keep-blocks <count>',
    `number of blocks that CometBFT keeps at least, 0 for all (default: ${DEFAULTS.keepBlocks})`,
    { env: 'SVCD_KEEP_BLOCKS' },
  ),
] as const

/** Chooses the retention of a node: from the flags, else `<home>/config/svcd.json`, else the defaults. */
export function chooseRetention(home: string, flags: Partial<FlagsOf<typeof retentionOptions>>): Retention {
  const { snapshots, pruning } = readConfig(home)
  const { interval = DEFAULTS.interval, keep = DEFAULTS.keep } = snapshots ?? {}
  const { keepBlocks = DEFAULTS.keepBlocks } = pruning ?? {}
  const choose = (flag: string, text: string | undefined, member: string, held: unknown, limits: Limits): number =>
    text === undefined ? checkWhole(held, limits, `config/svcd.json: ${member}`) : parseWhole(limits)(text, flag)
  return {
    interval: choose('--snapshot-interval', flags.snapshotInterval, 'snapshots.interval', interval, [
      1,
      1_000_000,
      true,
    ]),
    keep: choose('--snapshot-keep', flags.snapshotKeep, 'snapshots.keep', keep, [2, SNAPSHOTS_LISTED_MAX]),
    keepBlocks: choose('--keep-blocks', flags.keepBlocks, 'pruning.keepBlocks', keepBlocks, [2, 1_000_000_000, true]),
  }
}

const createOptions = [...commonOptions, keepOption] as const

async function create({ home, json, ...flags }: FlagsOf<typeof createOptions>): Promise<void> {
  const { keep } = chooseRetention(home, flags)
  const path = needState(home)
  const folder = snapshotsOf(home)
  const made = readVerifiedState(path, (state) => {
    if (state.height() === 0) throw new UserError(`${path}: no block has been committed yet`)
    return writeSnapshot(state, tables, folder)
  })
  keepNewest(folder, keep)
  printAnswer(json, printSnapshot(made))
}

async function list({ home, json }: CommonFlags): Promise<void> {
  const folder = snapshotsOf(home)
  const found = listSnapshots(folder).map(printSnapshot)
  const isFound = (height: number): boolean => found.some((one) => one.height === height)
  for (const path of newestHeights(folder)
    .filter((height) => !isFound(height))
    .map((height) => snapshotPath(folder, height)))
    note(`${join(path, METADATA_FILE)} is damaged. Remove ${path}`)
  const columns = ['height', 'format', 'chunks', 'bytes', 'hash', 'app_hash'] as const
  const rows = found.map((one) => columns.map((column) => String(one[column])))
  printAnswer(json, found, () => (rows.length === 0 ? 'none' : formatTable(columns, rows)))
}

const heightOption = option('--height <height>', 'height of the snapshot (default: the newest)', { parse: parseHeight })
const fromDoc = 'a folder of snapshots, such as <home>/data/snapshots, or one snapshot in it'
const verifyOptions = [...commonOptions, heightOption] as const

async function verify(from: string | undefined, flags: FlagsOf<typeof verifyOptions>): Promise<void> {
  const found = findSnapshot(from === undefined ? snapshotsOf(flags.home) : resolve(from), flags.height)
  const folder = mkdtempSync(join(tmpdir(), 'svcd-verify-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    // Ctrl-C would leave the files behind. Windows cannot remove files that are open.
    restoreInto(join(folder, 'restore.db'), found, process.platform === 'win32' ? undefined : remove)
  } finally {
    remove()
  }
  const printed = printSnapshot(found.snapshot)
  printAnswer(
    flags.json,
    { ...printed, verified: true },
    () => `${formatFields(printed)}\nevery chunk is complete, and the rows have this app hash`,
  )
}

const restoreOptions = [
  ...verifyOptions,
  option('--app-hash <hex>', 'app hash to trust: app_hash in the header of the next block', { parse: parseHash }),
] as const

async function restore(from: string, { home, json, height, appHash }: FlagsOf<typeof restoreOptions>): Promise<void> {
  const found = findSnapshot(resolve(from), height)
  const printed = printSnapshot(found.snapshot)
  if (appHash !== undefined && appHash !== printed.app_hash) {
    throw new UserError(`--app-hash: expected ${printed.app_hash}, the app hash of the snapshot, got ${appHash}`)
  }
  const chainId = chainIdOf(home)
  if (chainId !== undefined && chainId !== printed.chain_id) {
    throw new UserError(`${found.path} is of the chain ${printed.chain_id}, but this home is of ${chainId}`)
  }
  ensureFolder(dirname(statePathOf(home)))
  // Takes the lock, and throws a StoreError while the application runs.
  const store = openState(statePathOf(home), printed.chain_id)
  const to = restorePathOf(home)
  try {
    restoreInto(to, found)
    store.replaceBy(to)
  } finally {
    removeRestore(to) // Where this failed, it may be what fills the disk.
    store.close()
  }
  if (appHash === undefined) {
    note(
      `no --app-hash was given, so that of the snapshot was trusted. Compare it with app_hash in the header of block ${printed.height + 1}`,
    )
  }
  printAnswer(json, { ...printed, home }, () => `${formatFields(printed)}\nthis is now the state of ${home}`)
}

/** Configures `svcd snapshot`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd snapshot list')
  const createDoc = 'Creates a snapshot of the newest state, also while the node runs.'
  subcommand(command, 'create', createDoc, 'svcd snapshot create', createOptions).action(create)
  subcommand(command, 'list', 'Lists the snapshots of a home.', 'svcd snapshot list', commonOptions).action(list)
  const verifyDoc = 'Checks every chunk, and recomputes the app hash from the rows.'
  subcommand(command, 'verify', verifyDoc, 'svcd snapshot verify', verifyOptions)
    .argument('[from]', `${fromDoc} (default: the snapshots of --home)`)
    .action(verify)
  const restoreDoc = 'Replaces the state of a stopped node by a snapshot.'
  const restoreExample = 'svcd snapshot restore home/data/snapshots --home restored'
  subcommand(command, 'restore', restoreDoc, restoreExample, restoreOptions).argument('<from>', fromDoc).action(restore)
}
