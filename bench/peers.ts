import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { COMETBFT_VERSION, defaultCometCache, findCometBft } from '../src/comet/find.ts'

/** The programs of a benchmark. */
export interface Programs {
  /** CometBFT, which also holds the kvstore that runs inside it. */
  readonly cometbft: string
  readonly version: string
  /** `abci-cli`, which serves the same kvstore over a socket. */
  readonly abciCli: string
}

const run = promisify(execFile)

/**
 * CometBFT as `src/comet/find.ts` finds it, and `abci-cli` of COMETBFT_VERSION, built by `go install` into the same
 * cache when it is not there: Go is needed once. Throws what Go says.
 */
export async function findPrograms(onProgress: (line: string) => void): Promise<Programs> {
  const { path, version } = await findCometBft({ onProgress })
  const folder = defaultCometCache()
  const abciCli = join(folder, 'abci-cli')
  if (!existsSync(abciCli)) {
    onProgress(`building abci-cli ${COMETBFT_VERSION} with Go`)
    await mkdir(folder, { recursive: true })
    const env = { ...process.env, GOBIN: folder, CGO_ENABLED: '0' }
    await run('go', ['install', `github.com/cometbft/cometbft/abci/cmd/abci-cli@v${COMETBFT_VERSION}`], { env })
  }
  return { cometbft: path, version, abciCli }
}
