import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CometError, reasonOf } from './errors.ts'

const PROGRESS_EVERY_MS = 3_000
const OUTPUT_CHARS_MAX = 16_384
const LEFTOVER_AGE_MS = 3_600_000

/** `go`: path of the Go program. `version` without the v. `cacheDir` gets the program as `<cacheDir>/cometbft`. */
export type BuildOptions = {
  go: string
  version: string
  cacheDir: string
  env: NodeJS.ProcessEnv
  onProgress: (line: string) => void
}

/**
 * Runs a program to its end; its exit status (null by signal) and the end of what it printed. Throws when it cannot be
 * started.
 */
const run = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> =>
  new Promise((done, failed) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX)
    }
    const stopIt = () => child.kill()
    process.once('exit', stopIt)
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', failed)
    child.once('close', (code) => {
      process.off('exit', stopIt)
      done({ code, output })
    })
  })

/** Removes folders that builds left behind when they were killed more than an hour ago. */
const sweep = async (cacheDir: string): Promise<void> => {
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name)
    const made = name.startsWith('.build-') ? await stat(path).catch(() => undefined) : undefined
    if (made !== undefined && Date.now() - made.mtimeMs > LEFTOVER_AGE_MS)
      await rm(path, { recursive: true, force: true })
  }
}

/**
 * Builds CometBFT with Go into `<cacheDir>/cometbft`, which afterwards holds a whole program. Says what it does at
 * least every 3 s. Each build works in a folder of its own and ends with one rename, so any number of them may run at
 * once. Errors: CometError with the last line Go printed.
 */
export const buildCometBft = async ({ go, version, cacheDir, env, onProgress }: BuildOptions): Promise<void> => {
  await mkdir(cacheDir, { recursive: true })
  await sweep(cacheDir)
  const folder = await mkdtemp(join(cacheDir, '.build-'))
  const startedMs = Date.now()
  const asked = await run(go, ['env', 'GOVERSION'], env).catch(() => undefined)
  const goVersion = asked?.output.trim().replace(/^go/, '') || '?'
  const say = () =>
    onProgress(`building CometBFT ${version} with Go ${goVersion}, ${Math.round((Date.now() - startedMs) / 1000)} s`)
  say()
  const timer = setInterval(say, PROGRESS_EVERY_MS)
  try {
    // Without cgo the program needs no C compiler and runs on any libc.
    const buildEnv = { ...env, GOBIN: folder, CGO_ENABLED: '0' }
    const { code, output } = await run(
      go,
      ['install', `github.com/cometbft/cometbft/cmd/cometbft@v${version}`],
      buildEnv,
    )
    if (code !== 0) {
      const said = output.trim().split('\n').at(-1) ?? ''
      throw new CometError(
        `building CometBFT ${version} with Go ${goVersion} failed: ${said === '' ? `go ended with ${code}` : said}`,
      )
    }
    await rename(join(folder, 'cometbft'), join(cacheDir, 'cometbft'))
    onProgress(`built CometBFT ${version} in ${Math.round((Date.now() - startedMs) / 1000)} s`)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'COMET') throw error
    throw new CometError(`building CometBFT ${version} failed: ${reasonOf(error)}`)
  } finally {
    clearInterval(timer)
    await rm(folder, { recursive: true, force: true })
  }
}
