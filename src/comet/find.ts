import { execFile } from 'node:child_process'
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CometError, reasonOf } from './errors.ts'

/** The CometBFT release that is built when none is found, and with which the tests run. */
export const COMETBFT_VERSION = '0.38.25'

/** The release lines of CometBFT that svcd supports. */
export const COMETBFT_LINES: readonly string[] = ['0.37', '0.38', '0.39', '0.40']

/** The folder in which a built CometBFT is kept: `.cache/cometbft/<version>` in svcd's own folder. */
export const defaultCometCache = (): string =>
  fileURLToPath(new URL(`../../.cache/cometbft/${COMETBFT_VERSION}`, import.meta.url))

const PROGRESS_EVERY_MS = 3_000
const OUTPUT_CHARS_MAX = 16 * 1024 * 1024
const LEFTOVER_AGE_MS = 3_600_000
const VERSION_TIMEOUT_MS = 20_000

const execute = promisify(execFile)

/** `go`: the path of the Go program. `version`: without the v. The program is written to `<cacheDir>/cometbft`. */
export type BuildOptions = {
  go: string
  version: string
  cacheDir: string
  env: NodeJS.ProcessEnv
  onProgress: (line: string) => void
}

/** Removes the folders of builds that were killed more than an hour ago. */
const sweep = async (cacheDir: string): Promise<void> => {
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name)
    const made = name.startsWith('.build-') ? await stat(path).catch(() => undefined) : undefined
    if (made !== undefined && Date.now() - made.mtimeMs > LEFTOVER_AGE_MS)
      await rm(path, { recursive: true, force: true })
  }
}

/**
 * Builds CometBFT with Go into `<cacheDir>/cometbft`. Reports its progress at least every 3 s. Each build works in a
 * folder of its own and ends with one rename, so any number of them may run at once. Throws a CometError with the last
 * line that Go printed.
 */
export const buildCometBft = async ({ go, version, cacheDir, env, onProgress }: BuildOptions): Promise<void> => {
  await mkdir(cacheDir, { recursive: true })
  await sweep(cacheDir)
  const folder = await mkdtemp(join(cacheDir, '.build-'))
  const startedMs = Date.now()
  const seconds = () => `${Math.round((Date.now() - startedMs) / 1000)} s`
  const { stdout } = await execute(go, ['env', 'GOVERSION'], { env }).catch(() => ({ stdout: '' }))
  const what = `CometBFT ${version} with Go ${stdout.trim().replace(/^go/, '') || '?'}`
  const say = () => onProgress(`building ${what}, ${seconds()}`)
  say()
  const timer = setInterval(say, PROGRESS_EVERY_MS)
  // Without cgo the program needs no C compiler and runs on any libc.
  const building = execute(go, ['install', `github.com/cometbft/cometbft/cmd/cometbft@v${version}`], {
    env: { ...env, GOBIN: folder, CGO_ENABLED: '0' },
    maxBuffer: OUTPUT_CHARS_MAX,
  })
  const stop = () => building.child.kill()
  process.once('exit', stop)
  try {
    await building
    await rename(join(folder, 'cometbft'), join(cacheDir, 'cometbft'))
    onProgress(`built CometBFT ${version} in ${seconds()}`)
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string }
    throw new CometError(`building ${what} failed: ${stderr.trim().split('\n').at(-1) || reasonOf(error)}`)
  } finally {
    process.off('exit', stop)
    clearInterval(timer)
    await rm(folder, { recursive: true, force: true })
  }
}

const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** Finds an executable file `name` in the folders of `env.PATH`. */
const findOnPath = async (name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> => {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    if (folder !== '' && (await isProgram(join(folder, name)))) return resolve(folder, name)
  }
  return undefined
}

/**
 * Resolves with what `<program> version` prints, such as `0.38.25`. Rejects when it does not run or prints something
 * else.
 */
const versionOf = async (program: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const { stdout } = await execute(program, ['version'], { env, timeout: VERSION_TIMEOUT_MS, killSignal: 'SIGKILL' })
  const version = /^v?(\d+\.\d+\.\d+\S*)\s*$/.exec(stdout)?.[1]
  if (version !== undefined) return version
  throw new Error(`its version: expected one such as ${COMETBFT_VERSION}, got ${JSON.stringify(stdout.slice(0, 60))}`)
}

const isSupported = (version: string): boolean => COMETBFT_LINES.includes(version.split('.').slice(0, 2).join('.'))

const supported = `${COMETBFT_LINES[0]} to ${COMETBFT_LINES.at(-1)}`

/** A CometBFT program. `version` is what it prints; a few releases print that of an older one. */
export type CometBft = { path: string; version: string; source: 'env' | 'path' | 'cache' | 'built' }

const fromEnv = async (path: string, env: NodeJS.ProcessEnv): Promise<CometBft> => {
  if (!(await isProgram(path))) throw new CometError(`SVCD_COMETBFT: ${path} is not an executable file`)
  const version = await versionOf(resolve(path), env).catch((error: unknown) => {
    throw new CometError(`SVCD_COMETBFT: ${path} does not run: ${reasonOf(error)}`)
  })
  if (!isSupported(version))
    throw new CometError(`SVCD_COMETBFT: expected CometBFT ${supported}, but ${path} is ${version}`)
  return { path: resolve(path), version, source: 'env' }
}

/** `env`: SVCD_COMETBFT, PATH and what Go needs. `onProgress` receives one line at a time. */
export type FindOptions = { env?: NodeJS.ProcessEnv; cacheDir?: string; onProgress?: (line: string) => void }

/**
 * Finds a CometBFT program: the one that SVCD_COMETBFT names, else the first `cometbft` on PATH if its release line is
 * supported, else the cached one, else version COMETBFT_VERSION, built by `go install` into the cache (about a minute,
 * verified by Go's checksum database). Throws a CometError of one line when SVCD_COMETBFT cannot be used, when there is
 * neither CometBFT nor Go, or when the build fails. A program is judged by the release line of the version it prints:
 * 0.37.18 prints 0.37.16, and 0.40.0 prints 0.39.0.
 */
export const findCometBft = async (options: FindOptions = {}): Promise<CometBft> => {
  const { env = process.env, cacheDir = defaultCometCache(), onProgress = () => {} } = options
  const named = env['SVCD_COMETBFT']
  if (named !== undefined && named !== '') return await fromEnv(named, env)
  const cached = join(cacheDir, 'cometbft')
  for (const [source, path] of [
    ['path', await findOnPath('cometbft', env)],
    ['cache', (await isProgram(cached)) ? cached : undefined],
  ] as const) {
    if (path === undefined) continue
    try {
      const version = await versionOf(path, env)
      if (isSupported(version)) return { path, version, source }
      onProgress(`${path} is passed over: it is CometBFT ${version}, and svcd supports ${supported}`)
    } catch (error) {
      onProgress(`${path} is passed over: ${reasonOf(error)}`)
    }
  }
  const go = await findOnPath('go', env)
  if (go === undefined) {
    throw new CometError(
      `There is neither CometBFT (${supported}) nor Go to build it. Install Go 1.22 or later (https://go.dev/dl), ` +
        'put cometbft on PATH, or set SVCD_COMETBFT to its path',
    )
  }
  await buildCometBft({ go, version: COMETBFT_VERSION, cacheDir, env, onProgress })
  const version = await versionOf(cached, env).catch((error: unknown) => {
    throw new CometError(`the CometBFT just built at ${cached} does not run: ${reasonOf(error)}`)
  })
  return { path: cached, version, source: 'built' }
}
