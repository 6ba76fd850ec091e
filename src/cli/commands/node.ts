import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCometBft } from '../../comet/find.ts'
import { startCometBft } from '../../comet/process.ts'
import { closeHome, needChainId } from '../../node/homes.ts'
import { abciAddressOf } from '../../node/paths.ts'
import { stopSignal } from '../../node/runtime.ts'
import { allDone, firstEnd, type Parts, startApp, stopParts, type Validator } from '../devnet/processes.ts'
import { logFlags } from '../logOptions.ts'
import { type Configure, type FlagsOf, nodeOfHome, programVersionOption, withOptions } from '../options.ts'
import { note, progressOn, say } from '../output.ts'
import { runGateway, serveOptions } from './gateway.ts'

const options = [...serveOptions, programVersionOption] as const

type Flags = FlagsOf<typeof options>

/** How long the application and CometBFT stay down after one of them has ended, as under systemd (services.ts). */
const RESTART_MS = 2000

/** Starts the application, and CometBFT when that listens. Both write their logs into the home. */
async function startChain(program: string, flags: Flags, own: Validator): Promise<void> {
  const { home, acceptProgramVersion: version } = flags
  const abci = abciAddressOf(home)
  const args = ['--home', home, '--abci', abci, '--log-file', join(own.logs, 'app.log'), ...logFlags(flags)]
  own.app = startApp(version === undefined ? args : [...args, '--accept-program-version', String(version)])
  await own.app.listens()
  own.node = await startCometBft({ ...flags, program, home, env: { ...process.env, CMT_PROXY_APP: abci } })
}

/**
 * Runs the application and CometBFT of a home until `stopped` or the program is retired. When one of them ends, both are
 * started again. Throws when they cannot be started the first time.
 */
async function runChain(program: string, flags: Flags, stopped: Promise<unknown>): Promise<void> {
  const isStopped = stopped.then(() => undefined)
  for (let isFirst = true; ; isFirst = false) {
    const own: Validator = { name: undefined, logs: join(flags.home, 'logs') }
    const parts: Parts = { validators: [own] }
    try {
      const started = startChain(program, flags, own)
      if ((await Promise.race([isStopped, started.then(() => true)])) === undefined) {
        await started.catch(() => undefined) // What is being started has to be known, to be stopped.
        return
      }
      const end = await Promise.race([isStopped, firstEnd(parts)])
      if (end === undefined) return
      const { part, how = 'stopped', reason, log } = end
      if (end.isRetired === true) return say(reason)
      note(`svcd: ${part} ${how}: ${reason}; both start again (log: ${log})`)
    } catch (error) {
      if (isFirst) throw error
      note(`svcd: ${(error as Error).message}`)
    } finally {
      await stopParts(parts)
    }
    if ((await Promise.race([isStopped, sleep(RESTART_MS, true)])) === undefined) return
  }
}

async function runNode(flags: Flags): Promise<void> {
  const { home } = flags
  closeHome(home, note)
  needChainId(home)
  const over = Promise.withResolvers<unknown>()
  void stopSignal().then(over.resolve)
  const isStopped = over.promise.then(() => undefined)
  // It may be built first, for minutes.
  const found = await Promise.race([isStopped, findCometBft({ onProgress: progressOn(process.stdout) })])
  if (found === undefined) return
  const { path, version } = found
  say(`CometBFT ${version} at ${path}`)
  const parts = [runChain(path, flags, over.promise), runGateway({ ...flags, node: nodeOfHome(home) }, over.promise)]
  // When one ends, so does the other.
  for (const part of parts) part.then(over.resolve, over.resolve)
  await allDone(parts)
}

/** Configures `svcd node`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd node --home ~/.svcd', options).action(runNode)
}
