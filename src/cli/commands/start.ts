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

/** What `svcd start` is told. */
export interface StartOptions extends RetentionFlags {
  readonly home: string
  /** `unix:///path` or `tcp://host:port`. */
  readonly abci: string
  readonly os?: string | undefined
  /** Where the log goes; stderr by default. */
  readonly logFile?: string | undefined
  /** The program version that this program executes, instead of its own. */
  readonly acceptProgramVersion?: number | undefined
  /** Addresses that the fetcher of libraries may call although they are not public, with commas. */
  readonly eniAllow?: string | undefined
  /** Where the application's own metrics are served; nowhere by default. */
  readonly metrics?: Endpoint | undefined
}

/** The counter of retired programs that this program executes. Source: protocol.md §7, retire_program. */
const PROGRAM_VERSION = 1

/** Throws a UserError when the chain has retired this program, unless the operator says that it is the successor. */
function assertProgram(store: Store, accepted = PROGRAM_VERSION): void {
  const wanted = programVersion(store)
  // Nothing is committed yet: a node that joins by state sync gets its version with the state.
  if (wanted === accepted || store.height() === 0) return
  throw new UserError(
    `the chain runs program version ${wanted}, this is ${accepted}: ${
      accepted < wanted
        ? `it was retired. Install the successor; if this is it, say so to svcd start with --accept-program-version ${wanted}`
        : `its turn has not come. Start the program that executes version ${wanted}, until the chain retires it`
    }`,
  )
}

/** What the home's snapshots are to the application, and the thread that makes them, when any are to be made. */
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

/** Codes of a write that found no room: SQLite's and the system's. */
const DISK_FULL = new Set<unknown>(['SQLITE_FULL', 'ENOSPC', 'EDQUOT'])

const isDiskFull = (error: unknown): boolean => DISK_FULL.has((error as { code?: unknown } | null | undefined)?.code)

/** Why the application cannot go on, in one line for people. */
function fatalLine(kind: string, error: unknown): string {
  const why = `${kind} failed: ${error instanceof Error ? error.message : String(error)}`
  return isDiskFull(error) ? `the disk is full: ${why}` : why
}

/** The state of a home. Throws a UserError when its disk is full, and what openSqliteStore throws. */
function openStore(path: string, chainId: string | undefined): ReturnType<typeof openSqliteStore> {
  try {
    return openSqliteStore({ path, tables, views, ...(chainId === undefined ? {} : { expectChainId: chainId }) })
  } catch (error) {
    if (isDiskFull(error))
      throw new UserError(`the disk is full: ${path} cannot be opened: free some space, then start again`)
    throw error
  }
}

/**
 * Runs the ABCI application on a home until it is told to stop: SIGTERM, SIGINT, or the end of the program that started
 * it. Resolves with the exit status: 0 when asked to stop or when the program was retired, 1 when it could not go on.
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
      `${home}: there is no config/genesis.json: make the home with svcd init, or name another with --home DIR`,
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
  // A state that was restored may have retired this program.
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
        setImmediate(stop, 0) // the reply to Commit first
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
            logger.fatal({ err: error, kind }, 'cannot go on: nothing of the open block was written')
            process.stderr.write(`svcd: ${fatalLine(kind, error)}\n`)
            stop(1)
          },
        }),
      )
      .then(
        (listening) => {
          server = listening
          for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(0))
          process.on('disconnect', () => stop(0)) // whoever started us is gone
          logger.info(
            { address: listening.address, height: store.height(), version: VERSION },
            'the application listens',
          )
          if (!isLocalAddress(abci)) {
            process.stderr.write(
              `svcd: warning: --abci ${abci}: whoever reaches it over the network can drive the chain; use a unix socket\n`,
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

/** `svcd start`. */
export const configure: Configure = (command, finish) => {
  const { env } = process
  example(command, 'svcd start --home ~/.svcd --abci tcp://127.0.0.1:26658')
    .option('--home <dir>', 'where the state is kept (SVCD_HOME; default ~/.svcd)', env['SVCD_HOME'])
    .option(
      '--abci <address>',
      'unix:///path or tcp://host:port for CometBFT (SVCD_ABCI; default <home>/abci.sock)',
      env['SVCD_ABCI'],
    )
    .option(
      '--os <name>',
      'take libraries for ubuntu or centos (SVCD_OS; default: that of this machine)',
      env['SVCD_OS'],
    )
    .option('--log-file <file>', 'write the log there (default: stderr)')
    .option(
      '--snapshot-interval <blocks>',
      'make a snapshot every so many blocks, 0: none (SVCD_SNAPSHOT_INTERVAL; default 1000)',
      env['SVCD_SNAPSHOT_INTERVAL'],
    )
    .option(
      '--snapshot-keep <count>',
      'how many snapshots are kept (SVCD_SNAPSHOT_KEEP; default 2)',
      env['SVCD_SNAPSHOT_KEEP'],
    )
    .option(
      '--keep-blocks <count>',
      'let CometBFT remove older blocks, 0: keep all (SVCD_KEEP_BLOCKS; default 0)',
      env['SVCD_KEEP_BLOCKS'],
    )
    .option(
      '--eni-allow <list>',
      'addresses and CIDR blocks that libraries may come from although they are not public, with commas ' +
        '(SVCD_ENI_ALLOW; default eni.allowAddresses of config/svcd.json)',
      env['SVCD_ENI_ALLOW'],
    )
    .option(
      '--metrics <host:port>',
      'serve Prometheus metrics there, best on loopback (SVCD_APP_METRICS; default: nowhere)',
      env['SVCD_APP_METRICS'],
    )
    .option('--accept-program-version <number>', 'this build is the successor that executes that program version')
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
