import { join } from 'node:path'
import { CometError } from './errors.ts'
import { freePort, runCometBft } from './process.ts'
import { openNodeRpc, waitForNode } from './rpc.ts'

/** A header that is known to be right without any proof. `hash`: 64 hex digits. */
export type TrustedHeader = { height: number; hash: string }

/**
 * `program`: path of CometBFT. `folder`: where verified headers are kept, for one chain. `primary` and `witnesses`: RPC
 * of nodes, at least one of each. `trust`: needed the first time in a folder, not to be given again.
 */
export type LightOptions = {
  program: string
  folder: string
  chainId: string
  primary: string
  witnesses: readonly string[]
  trust?: TrustedHeader
}

/** A running light client: its RPC on a free port of 127.0.0.1. `stop` resolves when it is gone. */
export type LightProxy = { url: string; stop: () => Promise<void> }

const START_MS_MAX = 60_000

const REASON = /^(?:ERROR|Error): *(.*)$/

const whyEnded = (lines: readonly string[], folder: string): string => {
  const reason =
    lines.map((line) => REASON.exec(line)?.[1]).find((found) => found !== undefined) ??
    lines.at(-1) ??
    'it says nothing'
  return /temporarily unavailable/.test(reason) ? `another one is using ${folder}; try again when it has ended` : reason
}

/**
 * Starts `cometbft light` and waits until it answers. What it prints goes to `<folder>/light.log`.
 * Errors: CometError with its own words when it ends, which it does when the trusted header is not the primary's.
 */
export const startLightProxy = async ({
  program,
  folder,
  chainId,
  primary,
  witnesses,
  trust,
}: LightOptions): Promise<LightProxy> => {
  const port = await freePort()
  const trusted = trust === undefined ? [] : ['--height', String(trust.height), '--hash', trust.hash]
  const args = [
    'light',
    chainId,
    '--primary',
    primary,
    '--witnesses',
    witnesses.join(','),
    '--home-dir',
    folder,
    // Every command of CometBFT makes a home; without a name it would be ~/.cometbft.
    '--home',
    folder,
    '--laddr',
    `tcp://127.0.0.1:${port}`,
    ...trusted,
  ]
  const light = await runCometBft({ program, args, logFile: join(folder, 'light.log') })
  const ended = new AbortController()
  const exit = light.exited.then((told) => {
    ended.abort()
    return told
  })
  const rpc = openNodeRpc(`http://127.0.0.1:${port}`)
  try {
    await waitForNode(rpc, START_MS_MAX, ended.signal)
  } catch (error) {
    const isGone = ended.signal.aborted
    await light.stop()
    throw isGone
      ? new CometError(`cometbft light: ${whyEnded((await exit).lastLines, folder)}`, { cause: error })
      : error
  } finally {
    rpc.close()
  }
  return { url: rpc.url, stop: () => light.stop() }
}
