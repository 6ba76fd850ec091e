import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildCometBft } from '../../src/comet/build.ts'
import { defaultCometCache } from '../../src/comet/find.ts'

/** The path of CometBFT's abci-cli of a version, built when it is not in the cache. */
export async function abciCli(version: string): Promise<string> {
  const cacheDir = join(dirname(defaultCometCache()), version)
  const path = join(cacheDir, 'abci-cli')
  const onProgress = (line: string): void => void process.stdout.write(`${line}\n`)
  if (!existsSync(path))
    await buildCometBft({ go: 'go', program: 'abci-cli', version, cacheDir, env: process.env, onProgress })
  return path
}
