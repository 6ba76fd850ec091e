import { join } from 'node:path'
import { CometError } from './errors.ts'
import { lightFailureOf } from './messages.ts'
import { runCometBft, tryPort } from './process.ts'
import { openNodeRpc, waitForNode } from './rpc.ts'

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

/** A running light client, whose RPC is on a free port of 127.0.0.1. `stop` resolves when it has ended. */
export type LightProxy = { url: string; stop: () => Promise<void> }

const START_MS_MAX = 60_000

/**
 * Starts `cometbft light` and waits until it answers. Its output goes to `<folder>/light.log`. Throws a CometError that
 * quotes it when it ends, as it does when the trusted header is not the primary's.
 */
export const startLightProxy = async (options: LightOptions): Promise<LightProxy> => {
  const { program, folder, chainId, primary, witnesses, trust, trustPeriodMs } = options
  const host = '127.0.0.1'
  const port = await tryPort(host, 0)
  const flags = {
    primary,
    witnesses: witnesses.join(','),
    'home-dir': folder,
    // Every command of CometBFT makes a home; without a name it would be ~/.cometbft.
    home: folder,
    laddr: `tcp://${host}:${port}`,
    ...(trust === undefined ? {} : { height: trust.height, hash: trust.hash }),
    ...(trustPeriodMs === undefined ? {} : { 'trusting-period': `${trustPeriodMs}ms` }),
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
  const light = await runCometBft({ program, args: ['light', chainId, ...args], logFile: join(folder, 'light.log') })
  const ended = new AbortController()
  void light.exited.then(() => ended.abort())
  const rpc = openNodeRpc(`http://${host}:${port}`)
  try {
    await waitForNode(rpc, START_MS_MAX, ended.signal)
    return { url: rpc.url, stop: light.stop }
  } catch (error) {
    const isGone = ended.signal.aborted
    await light.stop()
    if (!isGone) throw error
    const { lastLines } = await light.exited
    throw new CometError(`cometbft light: ${lightFailureOf(lastLines, folder)}`, { cause: error })
  } finally {
    rpc.close()
  }
}
