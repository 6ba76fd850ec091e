import { dirname, join } from 'node:path'
import { type AbciServer, isLocalAddress, startAbciServer } from '../../abci/index.ts'
import { createApp } from '../../app/app.ts'
import type { AppLogger } from '../../app/context.ts'
import { ensureFolder } from '../../base/folder.ts'
import { VERSION } from '../../base/version.ts'
import { programVersion } from '../../modules/chain/keeper.ts'
import { tables, views } from '../../modules/registry.ts'
import { tidySnapshots } from '../../store/snapshot/folder.ts'
import { removeRestore } from '../../store/sqlite/restore.ts'
import { sqliteCode } from '../../store/sqlite/connection.ts'
import { openSqliteStore } from '../../store/sqlite/sqliteStore.ts'
import type { Store } from '../../store/store.ts'
import { createAppMetrics } from '../appMetrics.ts'
import { gateBlocks } from '../devnet/blockGate.ts'
import { UserError } from '../errors.ts'
import { chainIdOf, closeHome, restorePathOf, snapshotsOf, statePathOf } from '../homes.ts'
import { abciAddressOf } from '../paths.ts'
import { allowedAddresses, serveLibraries } from '../libraries.ts'
import {
  type Configure,
  type FlagsOf,
  homeOption,
  metricsOption,
  option,
  osOption,
  programVersionOption,
  withOptions,
} from '../options.ts'
import { logOptions, openLog } from '../log.ts'
import { note, say } from '../output.ts'
import { startQueryThread } from '../queries/thread.ts'
import { boundHeap, stopSignal } from '../runtime.ts'
import {
  AUTO_THREADS,
  CORES_MIN,
  parseVerifyThreads,
  startSignaturePool,
  VERIFY_THREADS_MAX,
} from '../signatures/pool.ts'
import { chooseOs } from '../settings.ts'
import { startSnapshotMaker } from '../snapshots/maker.ts'
import { serveMetrics } from '../telemetry.ts'
import { chooseRetention, type Retention, retentionOptions } from './snapshot.ts'

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
function openSnapshots(home: string, chainId: string, { interval, keep }: Retention, logger: AppLogger) {
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

// The codes of SQLite for a disk that fails and for one that may not be written.
const DISK_FAILS = /^SQLITE_(?:IOERR|READONLY|CANTOPEN)/

/**
 * Opens the state of a home. Throws errors of openSqliteStore, and a UserError when the disk is full or fails, or the file
 * is damaged.
 */
function openStore(home: string, expectChainId: string): ReturnType<typeof openSqliteStore> {
  const path = statePathOf(home)
  try {
    return openSqliteStore({ path, tables, views, expectChainId })
  } catch (error) {
    if (isDiskFull(error))
      throw new UserError(`${path} cannot be opened because the disk is full. Free some space, then start again`)
    const code = sqliteCode(error) ?? ''
    const why = (error as Error).message
    if (code.startsWith('SQLITE_CORRUPT'))
      throw new UserError(
        `${path} is damaged (${why}): it was changed by hand or by the disk. Run svcd reset and sync again`,
      )
    if (!DISK_FAILS.test(code)) throw error
    throw new UserError(
      `${path} cannot be opened (${why}). Check that the disk works and that its folder may be written`,
    )
  }
}

const options = [
  homeOption,
  option(
    '--abci <address>',
    'where CometBFT connects, unix:///path or tcp://host:port (default: unix://<home>/abci.sock)',
    { env: 'SVCD_ABCI' },
  ),
  osOption,
  option('--log-file <file>', 'write the log to this file (default: stderr)'),
  ...logOptions,
  ...retentionOptions,
  option(
    '--eni-allow <list>',
    'addresses and CIDR blocks from which libraries may be downloaded although they are not public, separated by ' +
      'commas (default: eni.allowAddresses of config/svcd.json)',
    { env: 'SVCD_ENI_ALLOW' },
  ),
  metricsOption('SVCD_APP_METRICS'),
  option(
    '--verify-threads <number>',
    `threads that verify signatures ahead of the application, 0 to ${VERIFY_THREADS_MAX}; auto is ` +
      `${AUTO_THREADS} on ${CORES_MIN} cores or more, and none on fewer`,
    { env: 'SVCD_VERIFY_THREADS', parse: parseVerifyThreads, fallback: 'auto' },
  ),
  programVersionOption,
] as const

/**
 * Runs the ABCI application of a home until it is asked to stop, its program is retired, or the program that started it
 * ends. Resolves with the exit status: 1 when it could not continue, else 0.
 */
async function start(flags: FlagsOf<typeof options>): Promise<number> {
  const { home, abci = abciAddressOf(home), logFile, acceptProgramVersion } = flags
  closeHome(home, note)
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
  const allowAddresses = allowedAddresses(home, flags.eniAllow)
  const logger = openLog(flags, logFile)
  const os = chooseOs(home, flags.os, (line) => logger.warn(line))
  const store = openStore(home, chainId)
  try {
    assertProgram(store, acceptProgramVersion)
  } catch (error) {
    store.close()
    throw error
  }
  const { maker, options: snapshots } = openSnapshots(home, chainId, retention, logger)
  const queries = startQueryThread({ path: statePathOf(home), logger, height: store.height })
  const signatures = startSignaturePool({ threads: flags.verifyThreads, logger })
  const libraries = serveLibraries({ store, home, os, allowAddresses, logger })
  const metrics =
    flags.metrics === undefined
      ? undefined
      : createAppMetrics({ store, home, libraries, signatures, build: { program_version: PROGRAM_VERSION, os } })
  const ended = Promise.withResolvers<number>()
  let server: AbciServer | undefined
  let openGate = (): void => undefined
  try {
    const application = createApp({
      store,
      version: VERSION,
      node: { os },
      logger,
      queries,
      signatures,
      keepBlocks: retention.keepBlocks,
      snapshots: {
        ...snapshots,
        replaceBy: (path) => {
          store.replaceBy(path)
          assertProgram(store, acceptProgramVersion) // The restored state may have retired this program.
        },
      },
      onCommitted: (height, changes, outcomes) => {
        libraries.onCommitted(height, changes)
        metrics?.onTransactions(outcomes)
      },
      afterAnswer: (work) => setImmediate(metrics === undefined ? work : () => metrics.runProposal(work)),
      onRetired: (version, height) => {
        say(`program ${version} retired at height ${height}`)
        setImmediate(ended.resolve, 0) // After the reply to Commit.
      },
    })
    if (metrics !== undefined && flags.metrics !== undefined) await serveMetrics(flags.metrics, metrics.registry)
    const measured = metrics === undefined ? application : metrics.measure(application)
    const gate = process.send === undefined ? undefined : gateBlocks(measured) // Only svcd devnet can close it.
    process.on('message', ({ openTo }: { readonly openTo: number }) => gate?.openTo(openTo))
    openGate = () => gate?.openTo(Infinity)
    server = await startAbciServer({
      application: gate?.application ?? measured,
      address: abci,
      ...(signatures !== undefined && { onReadAhead: signatures.handOver }),
      logger,
      onFatal: (error, kind) => {
        logger.fatal({ err: error, kind }, 'cannot continue; nothing of the open block was written')
        note(`svcd: ${fatalLine(kind, error)}`)
        ended.resolve(1)
      },
    })
    void stopSignal().then(() => ended.resolve(0))
    process.on('disconnect', () => ended.resolve(0)) // The program that started this one has ended.
    logger.info({ address: server.address, height: store.height(), version: VERSION }, 'the application listens')
    if (!isLocalAddress(abci)) {
      note(
        `svcd: warning: --abci ${abci}: whoever can reach this address can control the application. Use a unix socket`,
      )
    }
    process.send?.({ listening: server.address })
    return await ended.promise
  } finally {
    openGate() // A request that waits would hold up the end.
    await Promise.allSettled([server?.close(), maker?.close(), queries.close(), signatures?.close(), libraries.close()])
    store.close()
  }
}

/** Configures `svcd start`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd start --home ~/.svcd --abci tcp://127.0.0.1:26658', options).action(
    async (flags: FlagsOf<typeof options>) => {
      process.exitCode = await start(flags)
    },
  )
}
