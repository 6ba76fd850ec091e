import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CometError } from './errors.ts'
import { lightFailureOf, portListenedOn } from './messages.ts'
import { runCometBft } from './process.ts'

/** A header that is trusted without proof. `hash`: 64 hex digits. */
export type TrustedHeader = { readonly height: number; readonly hash: string }

/**
 * `program`: the path of CometBFT. `folder`: where the verified headers of one chain are kept. `primary` and
 * `witnesses`: the RPC addresses of nodes, at least one of each. `trust`: needed the first time in a folder, and not
 * allowed later. `trustPeriodMs`: for how long a verified header is trusted; CometBFT's default is 168 hours.
 */
export type LightOptions = {
  program: string
  folder: string
  chainId: string
  primary: string
  witnesses: readonly string[]
  trust?: TrustedHeader
  trustPeriodMs?: number
}

/**
 * A running light client, whose RPC is on a free port of 127.0.0.1. Once it has ended, anybody on this machine may answer
 * there. `stop` resolves when it has ended.
 */
export type LightProxy = { url: string; isRunning: () => boolean; stop: () => Promise<void> }

const START_MS_MAX = 60_000

/**
 * Starts `cometbft light` and waits until it listens. It chooses the port itself and logs it: one that was chosen for it
 * could be taken before it listens, by somebody who answers in its place. Its output goes to `<folder>/light.log`. Throws
 * a CometError that quotes it when it ends, as it does when the trusted header is not the primary's.
 */
export const startLightProxy = async (options: LightOptions): Promise<LightProxy> => {
  const { program, folder, chainId, primary, witnesses, trust, trustPeriodMs } = options
  const flags = {
    primary,
    witnesses: witnesses.join(','),
    'home-dir': folder,
    // Every command of CometBFT makes a home; without a name it would be ~/.cometbft.
    home: folder,
    laddr: 'tcp://127.0.0.1:0',
    ...(trust === undefined ? {} : { height: trust.height, hash: trust.hash }),
    ...(trustPeriodMs === undefined ? {} : { 'trusting-period': `${trustPeriodMs}ms` }),
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
  const listening = Promise.withResolvers<number>()
  const onLine = (line: string): void => {
    const port = portListenedOn(line)
    if (port !== undefined) listening.resolve(port)
  }
  const logFile = join(folder, 'light.log')
  const light = await runCometBft({ program, args: ['light', chainId, ...args], logFile, onLine })
  let isRunning = true
  const ended = light.exited.then(({ lastLines }) => {
    isRunning = false
    return lightFailureOf(lastLines, folder)
  })
  const late = sleep(START_MS_MAX, `it did not listen within ${START_MS_MAX / 1000} s`, { ref: false })
  const port = await Promise.race([listening.promise, ended, late])
  if (typeof port === 'number') return { url: `http://127.0.0.1:${port}`, isRunning: () => isRunning, stop: light.stop }
  await light.stop()
  throw new CometError(`cometbft light: ${port}`)
}
