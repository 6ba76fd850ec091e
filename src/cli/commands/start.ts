import { isLocalAddress } from '../../abci/index.ts'
import { assertSafeToSign, closeHome, needChainId } from '../../node/homes.ts'
import { allowedAddresses } from '../../node/libraries.ts'
import { openLog } from '../../node/log.ts'
import { boundHeap, parentEnd, stopSignal } from '../../node/runtime.ts'
import { AUTO_THREADS, CORES_MIN, parseVerifyThreads, VERIFY_THREADS_MAX } from '../../node/signatures/pool.ts'
import { parseAbci } from '../../node/settings.ts'
import { type RunningNode, startNode } from '../../node/start.ts'
import { logOptions } from '../logOptions.ts'
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
import { note, say } from '../output.ts'
import { serveMetrics } from '../serveMetrics.ts'
import { chooseRetention, retentionOptions } from './snapshot.ts'

const options = [
  homeOption,
  option(
    '--abci <address>',
    'where CometBFT connects, unix:///path or tcp://host:port (default: unix://<home>/abci.sock)',
    { env: 'SVCD_ABCI', parse: parseAbci },
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
    { env: 'SVCD_NO_HISTORY' },
  ),
  programVersionOption,
] as const

/** Ends a node when it is asked to, and opens its gate when the program that started it says so. */
function obey({ stop, openTo, address }: RunningNode, signalled: ReturnType<typeof stopSignal>): void {
  void signalled.then((signal) => stop(`it received ${signal}`))
  void parentEnd().then(() => stop('the program that started it has ended'))
  process.on('message', ({ openTo: height }: { readonly openTo: number }) => openTo(height))
  if (process.connected) process.send?.({ listening: address })
}

/**
 * Runs the ABCI application of a home until it is asked to stop, its program is retired, or the program that started it
 * ends. Resolves with the exit status: 1 when it could not continue, 2 when a person can correct why, else 0.
 */
async function start(flags: FlagsOf<typeof options>): Promise<number> {
  const { home, abci, logFile, verifyThreads, history, acceptProgramVersion } = flags
  closeHome(home, note)
  // Before anything is written there.
  needChainId(home)
  assertSafeToSign(home)
  boundHeap()
  const retention = chooseRetention(home, flags)
  const allowAddresses = allowedAddresses(home, flags.eniAllow)
  const logger = openLog(flags, logFile)
  const signalled = stopSignal() // As soon as it listens, it may be asked to stop.
  const node = await startNode({
    home,
    abci,
    os: flags.os,
    allowAddresses,
    retention,
    verifyThreads,
    history,
    acceptProgramVersion,
    isMeasured: flags.metrics !== undefined,
    isGated: process.send !== undefined, // Only svcd devnet can close it.
    logger,
  })
  try {
    if (flags.metrics !== undefined && node.registry !== undefined) await serveMetrics(flags.metrics, node.registry)
    if (abci !== undefined && !isLocalAddress(abci)) {
      note(
        `svcd: warning: --abci ${abci}: whoever can reach this address can control the application. Use a unix socket`,
      )
    }
    obey(node, signalled)
    const { status, reason, retired } = await node.ended
    if (retired !== undefined) say(`program ${retired.version} retired at height ${retired.height}`)
    if (status !== 0) note(`svcd: ${reason}`)
    return status
  } finally {
    await node.close()
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
