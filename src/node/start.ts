/** The application of a home as a running program: what `svcd start` runs, and what others may start too. */
import { join } from 'node:path'
import type { Logger } from 'pino'
import { parseAddress } from '../abci/address.ts'
import { type AbciServer, startAbciServer } from '../abci/index.ts'
import { createApp } from '../app/app.ts'
import { OtherProgramVersion } from '../app/programVersion.ts'
import { isDiskFull } from '../base/diskFull.ts'
import { ensureFolder } from '../base/folder.ts'
import { VERSION } from '../base/version.ts'
import { programVersion as programVersionIn } from '../modules/chain/keeper.ts'
import { removeRestore, tidySnapshots } from '../store/index.ts'
import { type BlockGate, gateBlocks } from './blockGate.ts'
import { assertRuns, chainVersionOf, whyRefused } from './chainVersion.ts'
import { UserError } from './errors.ts'
import { startHistoryIndex } from './history/thread.ts'
import { historyPathOf, needChainId, restorePathOf, snapshotsOf, statePathOf } from './homes.ts'
import { serveLibraries } from './libraries.ts'
import { listenError } from './listenError.ts'
import { createAppMetrics } from './metrics.ts'
import { abciAddressOf } from './paths.ts'
import { programVersionOf } from './programVersion.ts'
import { startQueryThread } from './queries/thread.ts'
import { startSignaturePool } from './signatures/pool.ts'
import { startSnapshotMaker } from './snapshots/maker.ts'
import { chooseOs } from './settings.ts'
import { locked, openState, readState } from './stateFile.ts'

/** What a node keeps beside its state. */
export interface Retention {
  /** A snapshot is made at each multiple of this height; 0 for none. */
  readonly interval: number
  /** How many snapshots are kept. */
  readonly keep: number
  /** The least number of the newest blocks that CometBFT keeps; 0 for all. */
  readonly keepBlocks: number
}

/** How a node is started. */
export interface NodeOptions {
  /** Its home, with config/genesis.json. */
  readonly home: string
  /** Where CometBFT connects: unix:///path or tcp://host:port. By default a socket of the home. */
  readonly abci?: string | undefined
  /** The operating system for which it takes native libraries; that of the home or the machine unless given. */
  readonly os?: string | undefined
  /** Addresses and networks that are not public from which libraries may be downloaded. */
  readonly allowAddresses?: readonly string[]
  readonly retention: Retention
  /** Threads that verify signatures ahead of the application. */
  readonly verifyThreads: number
  /** False for a node without the index of histories. */
  readonly history?: boolean
  /** The program version that it runs, where that is not the release's own or the home's. */
  readonly acceptProgramVersion?: number | undefined
  /** True for a node that counts what Prometheus may ask. */
  readonly isMeasured?: boolean
  /** True for a node that proposes blocks only as far as `openTo` allows. */
  readonly isGated?: boolean
  readonly logger: Logger
}

/** Why a node ended. */
export interface End {
  /** 0 when it was asked to stop, or its program is retired; 2 for a mistake that a person can correct; else 1. */
  readonly status: 0 | 1 | 2
  readonly reason: string
  /** The program that the chain retired in this block. */
  readonly retired?: { readonly version: number; readonly height: number }
}

/** A node that runs. */
export type RunningNode = Awaited<ReturnType<typeof startNode>>

/** Starts what works beside the thread that executes blocks. */
function startThreads(
  { home, retention: { interval, keep }, verifyThreads, history = true, logger }: NodeOptions,
  chainId: string,
  height: () => number,
) {
  const statePath = statePathOf(home)
  const folder = snapshotsOf(home)
  const maker =
    interval === 0
      ? undefined
      : startSnapshotMaker({ path: statePath, folder, interval, keep, height: height(), logger })
  const snapshots = { folder, restorePath: restorePathOf(home), chainId, ...(maker && { beginAt: maker.beginAt }) }
  const historyPath = history ? historyPathOf(home) : undefined
  const histories =
    historyPath === undefined ? undefined : startHistoryIndex({ statePath, path: historyPath, chainId, logger })
  const queries = startQueryThread({ path: statePath, historyPath, logger, height })
  const signatures = startSignaturePool({ threads: verifyThreads, logger })
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

/** What ends the application of a home: `ended` resolves with the first of it. */
function createEnd(home: string, logger: Logger) {
  const { promise: ended, resolve } = Promise.withResolvers<End>()
  let isRetired = false
  return {
    ended,
    stop: (reason: string): void => resolve({ status: 0, reason }),
    onRetired: (version: number, height: number): void => {
      isRetired = true
      const reason = `the chain retired program ${version}`
      // After the reply to Commit.
      setImmediate(resolve, { status: 0, reason, retired: { version, height } } satisfies End)
    },
    onFatal: (error: unknown, kind: string): void => {
      if (isRetired) return // CometBFT may send the successor's first block before this program has ended.
      logger.fatal({ err: error, kind }, 'cannot continue; nothing of the open block was written')
      const refusal = refusalOf(home, error)
      resolve({ status: refusal === undefined ? 1 : 2, reason: refusal ?? fatalLine(kind, error) })
    },
  }
}

/** Opens the state of a home for a program that can execute its next block. */
function openHome(home: string, chainId: string, programVersion: number): ReturnType<typeof openState> {
  // What a killed process left goes before anything is written: it may be what fills the disk.
  locked(statePathOf(home), () => {
    tidySnapshots(snapshotsOf(home))
    removeRestore(restorePathOf(home))
  })
  const store = openState(statePathOf(home), chainId)
  try {
    assertRuns(home, programVersion, chainVersionOf(home, store))
    return store
  } catch (error) {
    store.close()
    throw error
  }
}

/**
 * Starts the ABCI application of a home, with its threads. Resolves when CometBFT can connect. Throws a UserError for
 * what a person can correct: no genesis file, a home of another program version, a disk that is full, an address that is
 * taken.
 */
export async function startNode(options: NodeOptions) {
  const { home, abci = abciAddressOf(home), allowAddresses = [], retention, logger } = options
  const chainId = needChainId(home)
  ensureFolder(join(home, 'data'))
  const programVersion = programVersionOf(home, options.acceptProgramVersion)
  const os = chooseOs(home, options.os, (line) => logger.warn(line))
  const store = openHome(home, chainId, programVersion)
  const threads = startThreads(options, chainId, store.height)
  const { signatures } = threads.beside
  const libraries = serveLibraries({ store, home, os, allowAddresses, logger })
  const build = { program_version: programVersion, os }
  const metrics =
    options.isMeasured === true ? createAppMetrics({ store, home, libraries, signatures, build }) : undefined
  const end = createEnd(home, logger)
  let gate: BlockGate | undefined
  let server: AbciServer | undefined
  const close = async (): Promise<void> => {
    gate?.openTo(Infinity) // A request that waits would hold up the end.
    await Promise.allSettled([server?.close(), threads.close(), libraries.close()])
    store.close()
  }
  try {
    const unmeasured = createApp({
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
    const application = metrics?.measure(unmeasured) ?? unmeasured
    gate = options.isGated === true ? gateBlocks(application) : undefined
    server = await startAbciServer({
      application: gate?.application ?? application,
      address: abci,
      ...(signatures !== undefined && { onReadAhead: signatures.handOver }),
      logger,
      onFatal: end.onFatal,
    }).catch(async (error: unknown) => {
      throw await listenError(error, `--abci: cannot listen on ${abci}`, parseAddress(abci) ?? {})
    })
  } catch (error) {
    await close()
    throw error
  }
  const { address } = server
  logger.info({ address, height: store.height(), version: VERSION, programVersion }, 'the application listens')
  void end.ended.then(({ reason }) => logger.info({ reason, height: store.height() }, 'the application stops'))
  return {
    /** Where it listens for CometBFT. */
    address,
    /** What Prometheus may ask of it, if it is measured. */
    registry: metrics?.registry,
    /** Resolves when the node cannot go on, its program is retired, or `stop` is called. Then call `close`. */
    ended: end.ended,
    stop: end.stop,
    /** Lets blocks up to this height be proposed. */
    openTo: (height: number): void => gate?.openTo(height),
    /** Ends everything that it started. */
    close,
  }
}
