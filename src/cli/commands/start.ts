import { dirname, join } from 'node:path'
import { type AbciServer, isLocalAddress, startAbciServer } from '../../abci/index.ts'
import { createApp } from '../../app/app.ts'
import type { AppLogger, SnapshotOptions } from '../../app/context.ts'
import { ensureFolder } from '../../base/folder.ts'
import { VERSION } from '../../base/version.ts'
import { programVersion } from '../../modules/chain/keeper.ts'
import { tables, views } from '../../modules/registry.ts'
import { tidySnapshots } from '../../store/snapshot/folder.ts'
import { removeRestore } from '../../store/sqlite/restore.ts'
import { openSqliteStore } from '../../store/sqlite/sqliteStore.ts'
import type { Store } from '../../store/store.ts'
import { UserError } from '../errors.ts'
import { boundHeap } from '../heap.ts'
import { abciAddressOf, chainIdOf, closeHome, restorePathOf, snapshotsOf, statePathOf } from '../homes.ts'
import { allowedAddresses, serveLibraries } from '../libraries.ts'
import { type Configure, example } from '../options.ts'
import { note } from '../output.ts'
import { startQueryThread } from '../queries/thread.ts'
import {
  chooseRetention,
  chooseOs,
  type Endpoint,
  homeOf,
  type RetentionFlags,
  parseEndpoint,
  parseProgramVersion,
} from '../settings.ts'
import { type SnapshotMaker, startSnapshotMaker } from '../snapshots/maker.ts'
import { gaugesOf, openLog, serveMetrics } from '../telemetry.ts'

/** Options of `start`. */
export interface StartOptions extends RetentionFlags {
  readonly home: string
  /** `unix:///path` or `tcp://host:port`. */
  readonly abci: string
  readonly os?: string | undefined
  /** The log file; by default the log goes to stderr. */
  readonly logFile?: string | undefined
  /** The program version that this program executes instead of its own. */
  readonly acceptProgramVersion?: number | undefined
  /** Addresses that the fetcher of libraries may call although they are not public, separated by commas. */
  readonly eniAllow?: string | undefined
  /** Where the application's metrics are served; by default nowhere. */
  readonly metrics?: Endpoint | undefined
}

/** The program version that this program executes. Source: protocol.md §7, retire_program. */
const PROGRAM_VERSION = 1

/** Throws a UserError unless the chain runs this program's version, or the one that the operator has accepted. */
function assertProgram(store: Store, accepted = PROGRAM_VERSION): void {
  const wanted = programVersion(store)
  // Before the first commit there is no version: a node that joins by state sync receives it with the state.
  if (wanted === accepted || store.height() === 0) return
  throw new UserError(
    `the chain runs program version ${wanted}, but this program executes version ${accepted}, ${
      accepted < wanted
        ? `which was retired. Install the successor; if this is the successor, start it with --accept-program-version ${wanted}`
        : `whose turn has not come. Run the program that executes version ${wanted} until the chain retires it`
    }`,
  )
}

/** The application's options for snapshots, and the thread that makes them unless the interval is 0. */
function openSnapshots(
  home: string,
  chainId: string,
  { interval, keep }: { readonly interval: number; readonly keep: number },
  logger: AppLogger,
): { readonly maker: SnapshotMaker | undefined; readonly options: Omit<SnapshotOptions, 'replaceBy'> } {
  const folder = snapshotsOf(home)
  const restorePath = restorePathOf(home)
  tidySnapshots(folder)
  removeRestore(restorePath)
  const maker =
    interval === 0 ? undefined : startSnapshotMaker({ path: statePathOf(home), folder, interval, keep, logger })
  return {
    maker,
    options: { folder, restorePath, chainId, ...(maker === undefined ? {} : { beginAt: maker.beginAt }) },
  }
}

/** The error codes of SQLite and of the system for a full disk. */
const DISK_FULL = new Set<unknown>(['SQLITE_FULL', 'ENOSPC', 'EDQUOT'])

const isDiskFull = (error: unknown): boolean => DISK_FULL.has((error as { code?: unknown } | null | undefined)?.code)

/** Why the application cannot continue, in one line. */
function fatalLine(kind: string, error: unknown): string {
  const why = `${kind} failed: ${error instanceof Error ? error.message : String(error)}`
  return isDiskFull(error) ? `the disk is full: ${why}` : why
}

/** Opens the state of a home. Throws a UserError when the disk is full, and errors of openSqliteStore. */
function openStore(path: string, chainId: string | undefined): ReturnType<typeof openSqliteStore> {
  try {
    return openSqliteStore({ path, tables, views, ...(chainId === undefined ? {} : { expectChainId: chainId }) })
  } catch (error) {
    if (isDiskFull(error))
      throw new UserError(`${path} cannot be opened because the disk is full. Free some space, then start again`)
    throw error
  }
}

/**
 * Runs the ABCI application of a home until SIGTERM, SIGINT or the end of the program that started it. Resolves with
 * the exit status: 0 when it was stopped or when the program was retired, 1 when it could not continue.
 */
export function start({
  home,
  abci,
  os,
  logFile,
  acceptProgramVersion,
  eniAllow,
  metrics,
  ...flags
}: StartOptions): Promise<number> {
  const chainId = chainIdOf(home)
  if (chainId === undefined) {
    throw new UserError(
      `${home} has no config/genesis.json. Create the home with svcd init, or name another one with --home DIR`,
    )
  }
  boundHeap()
  ensureFolder(join(home, 'data'))
  if (logFile !== undefined) ensureFolder(dirname(logFile))
  const retention = chooseRetention(home, flags)
  const allowAddresses = allowedAddresses(home, eniAllow)
  const logger = openLog(logFile ?? 2)
  const node = { os: chooseOs(home, os, (line) => logger.warn(line)) }
  const store = openStore(statePathOf(home), chainId)
  try {
    assertProgram(store, acceptProgramVersion)
  } catch (error) {
    store.close()
    throw error
  }
  const { maker, options } = openSnapshots(home, chainId, retention, logger)
  // The restored state may have retired this program.
  const replaceBy = (path: string): void => {
    store.replaceBy(path)
    assertProgram(store, acceptProgramVersion)
  }
  const queries = startQueryThread({ path: statePathOf(home), logger, height: store.height })
  const libraries = serveLibraries({ store, home, os: node.os, allowAddresses, logger })
  return new Promise((done, failed) => {
    let server: AbciServer | undefined
    let stopping = false
    const stop = (status: number): void => {
      if (stopping) return
      stopping = true
      void Promise.allSettled([server?.close(), maker?.close(), queries.close(), libraries.close()]).finally(() => {
        store.close()
        done(status)
      })
    }
    const application = createApp({
      store,
      version: VERSION,
      node,
      logger,
      queries,
      keepBlocks: retention.keepBlocks,
      snapshots: { ...options, replaceBy },
      onCommitted: libraries.onCommitted,
      afterAnswer: setImmediate,
      onRetired: (version, height) => {
        process.stdout.write(`program ${version} retired at height ${height}\n`)
        setImmediate(stop, 0) // after the reply to Commit
      },
    })
    const measured =
      metrics === undefined ? Promise.resolve() : serveMetrics(metrics, gaugesOf(store, options.folder, libraries))
    measured
      .then(() =>
        startAbciServer({
          application,
          address: abci,
          logger,
          onFatal: (error, kind) => {
            logger.fatal({ err: error, kind }, 'cannot continue; nothing of the open block was written')
            process.stderr.write(`svcd: ${fatalLine(kind, error)}\n`)
            stop(1)
          },
        }),
      )
      .then(
        (listening) => {
          server = listening
          for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(0))
          process.on('disconnect', () => stop(0)) // the program that started this one has ended
          logger.info(
            { address: listening.address, height: store.height(), version: VERSION },
            'the application listens',
          )
          if (!isLocalAddress(abci)) {
            process.stderr.write(
              `svcd: warning: --abci ${abci}: whoever can reach this address can control the application. Use a unix socket\n`,
            )
          }
          process.send?.({ listening: listening.address })
        },
        (error: unknown) =>
          void Promise.allSettled([queries.close(), libraries.close()]).finally(() => {
            store.close()
            failed(error as Error)
          }),
      )
  })
}

interface Flags {
  readonly home?: string
  readonly abci?: string
  readonly os?: string
  readonly logFile?: string
  readonly acceptProgramVersion?: string
  readonly snapshotInterval?: string
  readonly snapshotKeep?: string
  readonly keepBlocks?: string
  readonly eniAllow?: string
  readonly metrics?: string
}

/** Configures `svcd start`. */
export const configure: Configure = (command, finish) => {
  const { env } = process
  example(command, 'svcd start --home ~/.svcd --abci tcp://127.0.0.1:26658')
    .option('--home <dir>', 'home folder of the node (SVCD_HOME; default ~/.svcd)', env['SVCD_HOME'])
    .option(
      '--abci <address>',
      'where CometBFT connects, unix:///path or tcp://host:port (SVCD_ABCI; default unix://<home>/abci.sock)',
      env['SVCD_ABCI'],
    )
    .option(
      '--os <name>',
      'use libraries for ubuntu or centos (SVCD_OS; default: that of this machine)',
      env['SVCD_OS'],
    )
    .option('--log-file <file>', 'write the log to this file (default: stderr)')
    .option(
      '--snapshot-interval <blocks>',
      'number of blocks from snapshot to snapshot, 0 for none (SVCD_SNAPSHOT_INTERVAL; default 1000)',
      env['SVCD_SNAPSHOT_INTERVAL'],
    )
    .option(
      '--snapshot-keep <count>',
      'number of snapshots to keep (SVCD_SNAPSHOT_KEEP; default 2)',
      env['SVCD_SNAPSHOT_KEEP'],
    )
    .option(
      '--keep-blocks <count>',
      'number of blocks that CometBFT keeps at least, 0 for all (SVCD_KEEP_BLOCKS; default 0)',
      env['SVCD_KEEP_BLOCKS'],
    )
    .option(
      '--eni-allow <list>',
      'addresses and CIDR blocks from which libraries may be downloaded although they are not public, separated by ' +
        'commas (SVCD_ENI_ALLOW; default eni.allowAddresses of config/svcd.json)',
      env['SVCD_ENI_ALLOW'],
    )
    .option(
      '--metrics <host:port>',
      'serve Prometheus metrics at this address, preferably on loopback (SVCD_APP_METRICS; default: nowhere)',
      env['SVCD_APP_METRICS'],
    )
    .option('--accept-program-version <number>', 'declare this build the successor that executes this program version')
    .action(async (flags: Flags) => {
      const home = homeOf(flags.home)
      closeHome(home, note)
      const { acceptProgramVersion: accepted, snapshotInterval, snapshotKeep, keepBlocks, metrics } = flags
      finish(
        await start({
          home,
          abci: flags.abci ?? abciAddressOf(home),
          os: flags.os,
          logFile: flags.logFile,
          snapshotInterval,
          snapshotKeep,
          keepBlocks,
          eniAllow: flags.eniAllow,
          metrics: metrics === undefined ? undefined : parseEndpoint(metrics, '--metrics'),
          acceptProgramVersion: accepted === undefined ? undefined : parseProgramVersion(accepted),
        }),
      )
    })
}
