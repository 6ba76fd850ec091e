import { join } from 'node:path'
import { CometError } from './errors.ts'
import { freePort, runCometBft } from './process.ts'
import { openNodeRpc, waitForNode } from './rpc.ts'
import { lightFailureOf } from './messages.ts'

/** A header that is trusted without proof. `hash`: 64 hex digits. */
export type TrustedHeader = { height: number; hash: string }

/**
 * `program`: the path of CometBFT. `folder`: where the verified headers of one chain are kept. `primary` and
 * `witnesses`: the RPC addresses of nodes, at least one of each. `trust`: needed the first time in a folder, and not
 * allowed later.
 */
export type LightOptions = {
  program: string
  folder: string
  chainId: string
  primary: string
  witnesses: readonly string[]
  trust?: TrustedHeader
}

/** A running light client, whose RPC is on a free port of 127.0.0.1. `stop` resolves when it has ended. */
export type LightProxy = { url: string; stop: () => Promise<void> }

const START_MS_MAX = 60_000

/**
 * Starts `cometbft light` and waits until it answers. Its output goes to `<folder>/light.log`. Throws a CometError that
 * quotes it when it ends, as it does when the trusted header is not the primary's.
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
      ? new CometError(`cometbft light: ${lightFailureOf((await exit).lastLines, folder)}`, { cause: error })
      : error
  } finally {
    rpc.close()
  }
  return { url: rpc.url, stop: () => light.stop() }
}
