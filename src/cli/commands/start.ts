import { dirname, join } from 'node:path'
import { type AbciServer, isLocalAddress, startAbciServer } from '../../abci/index.ts'
import { createApp } from '../../app/app.ts'
import type { AppLogger } from '../../app/context.ts'
import { OtherProgramVersion } from '../../app/programVersion.ts'
import { ensureFolder } from '../../base/folder.ts'
import { VERSION } from '../../base/version.ts'
import { programVersion as programVersionIn } from '../../modules/chain/keeper.ts'
import { startHistoryIndex } from '../../node/history/thread.ts'
import { tidySnapshots } from '../../store/snapshot/folder.ts'
import { removeRestore } from '../../store/sqlite/restore.ts'
import { createAppMetrics } from '../appMetrics.ts'
import { gateBlocks } from '../devnet/blockGate.ts'
import { assertRuns, chainVersionOf, whyRefused } from '../chainVersion.ts'
import { UserError } from '../errors.ts'
import { chainIdOf, closeHome, historyPathOf, restorePathOf, snapshotsOf, statePathOf } from '../homes.ts'
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
import { programVersionOf } from '../programVersion.ts'
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
import { isDiskFull, openState, readState } from '../stateFile.ts'
import { serveMetrics } from '../telemetry.ts'
import { chooseRetention, type Retention, retentionOptions } from './snapshot.ts'

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

interface ThreadOptions {
  readonly home: string
  readonly chainId: string
  readonly retention: Retention
  readonly flags: Pick<FlagsOf<typeof options>, 'verifyThreads' | 'history'>
  readonly height: () => number
  readonly logger: AppLogger
}

/** Starts what works beside the thread that executes blocks. */
function startThreads({ home, chainId, retention, flags, height, logger }: ThreadOptions) {
  const { maker, options: snapshots } = openSnapshots(home, chainId, retention, logger)
  const statePath = statePathOf(home)
  const historyPath = flags.history ? historyPathOf(home) : undefined
  const histories =
    historyPath === undefined ? undefined : startHistoryIndex({ statePath, path: historyPath, chainId, logger })
  const queries = startQueryThread({ path: statePath, historyPath, logger, height })
  const signatures = startSignaturePool({ threads: flags.verifyThreads, logger })
  const close = (): Promise<unknown> =>
    Promise.allSettled([maker?.close(), queries.close(), histories?.close(), signatures?.close()])
  return { snapshots, beside: { histories, queries, signatures }, close }
}

/** Why the application cannot continue, in one line. */
function fatalLine(kind: string, error: unknown): string {
  const why = `${kind} failed: ${error instanceof Error ? error.message : String(error)}`
  return isDiskFull(error) ? `the disk is full: ${why}` : why
}

/** Why the program refused a block or a snapshot of another program version, if it did, and what to do. */
function refusalOf(home: string, error: unknown): string | undefined {
  if (error instanceof UserError) return error.message
  if (!(error instanceof OtherProgramVersion)) return undefined
  // At the start the versions agreed: it is InitChain that begins a replay from genesis.
  return whyRefused(home, error.runs, { version: error.chain, from: 'genesis' })
}

/** Why the application stops, and the exit status. */
interface End {
  readonly status: 0 | 1 | 2
  readonly reason: string
}

/** What ends the application of a home: `ended` resolves with the first of it. */
function createEnd(home: string, logger: ReturnType<typeof openLog>) {
  const { promise: ended, resolve } = Promise.withResolvers<End>()
  let isRetired = false
  return {
    ended,
    stop: (reason: string): void => resolve({ status: 0, reason }),
    onRetired: (version: number, height: number): void => {
      isRetired = true
      say(`program ${version} retired at height ${height}`)
      // After the reply to Commit.
      setImmediate(resolve, { status: 0, reason: `the chain retired program ${version}` } satisfies End)
    },
    onFatal: (error: unknown, kind: string): void => {
      if (isRetired) return // CometBFT may send the successor's first block before this program has ended.
      logger.fatal({ err: error, kind }, 'cannot continue; nothing of the open block was written')
      const refusal = refusalOf(home, error)
      const reason = refusal ?? fatalLine(kind, error)
      note(`svcd: ${reason}`)
      resolve({ status: refusal === undefined ? 1 : 2, reason })
    },
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
  option(
    '--no-history',
    'keep no index of histories: a gateway on this node finds no transactions, histories or awards',
    {
      env: 'SVCD_NO_HISTORY',
    },
  ),
  programVersionOption,
] as const

/**
 * Runs the ABCI application of a home until it is asked to stop, its program is retired, or the program that started it
 * ends. Resolves with the exit status: 1 when it could not continue, else 0.
 */
async function start(flags: FlagsOf<typeof options>): Promise<number> {
  const { home, abci = abciAddressOf(home), logFile } = flags
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
  const programVersion = programVersionOf(home, flags.acceptProgramVersion)
  const logger = openLog(flags, logFile)
  const os = chooseOs(home, flags.os, (line) => logger.warn(line))
  const store = openState(statePathOf(home), chainId)
  try {
    assertRuns(home, programVersion, chainVersionOf(home, store))
  } catch (error) {
    store.close()
    throw error
  }
  const threads = startThreads({ home, chainId, retention, flags, height: store.height, logger })
  const { signatures } = threads.beside
  const libraries = serveLibraries({ store, home, os, allowAddresses, logger })
  const metrics =
    flags.metrics === undefined
      ? undefined
      : createAppMetrics({ store, home, libraries, signatures, build: { program_version: programVersion, os } })
  const end = createEnd(home, logger)
  let server: AbciServer | undefined
  let openGate = (): void => undefined
  try {
    const application = createApp({
      store,
      version: VERSION,
      programVersion,
      node: { os },
      logger,
      ...threads.beside,
      keepBlocks: retention.keepBlocks,
      snapshots: {
        ...threads.snapshots,
        replaceBy: (path) => {
          // Before it replaces the state, because the chain may have retired this program.
          assertRuns(home, programVersion, { version: readState(path, programVersionIn), from: 'snapshot' })
          store.replaceBy(path)
        },
      },
      onCommitted: (height, changes, outcomes) => {
        libraries.onCommitted(height, changes)
        metrics?.onTransactions(outcomes)
      },
      afterAnswer: (work) => setImmediate(metrics === undefined ? work : () => metrics.runProposal(work)),
      onRetired: end.onRetired,
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
      onFatal: end.onFatal,
    })
    void stopSignal().then((signal) => end.stop(`it received ${signal}`))
    process.on('disconnect', () => end.stop('the program that started it has ended'))
    logger.info(
      { address: server.address, height: store.height(), version: VERSION, programVersion },
      'the application listens',
    )
    if (!isLocalAddress(abci)) {
      note(
        `svcd: warning: --abci ${abci}: whoever can reach this address can control the application. Use a unix socket`,
      )
    }
    process.send?.({ listening: server.address })
    const { status, reason } = await end.ended
    logger.info({ reason, height: store.height() }, 'the application stops')
    return status
  } finally {
    openGate() // A request that waits would hold up the end.
    await Promise.allSettled([server?.close(), threads.close(), libraries.close()])
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
