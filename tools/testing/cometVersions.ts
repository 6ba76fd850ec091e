import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildCometBft, type Report } from '../../src/comet/build.ts'
import { defaultCometCache } from '../../src/comet/find.ts'

/** The newest release of each line that svcd supports. Nodes of all of them run one chain together. */
export const COMET_VERSIONS: readonly string[] = ['0.37.18', '0.38.25', '0.39.4', '0.40.0']

/** A program of a version, in .cache/cometbft/<version>. It is built when it is not there. */
export async function cometProgram(
  version: string,
  onProgress: Report,
  program: 'cometbft' | 'abci-cli' = 'cometbft',
): Promise<string> {
  const cacheDir = join(dirname(defaultCometCache()), version)
  const path = join(cacheDir, program)
  if (!existsSync(path)) await buildCometBft({ go: 'go', program, version, cacheDir, env: process.env, onProgress })
  return path
}

/** CometBFT's abci-cli of a version. */
export const abciCli = (version: string): Promise<string> =>
  cometProgram(version, (line) => void process.stdout.write(`${line}\n`), 'abci-cli')
