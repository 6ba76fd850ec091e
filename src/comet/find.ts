import { execFile } from 'node:child_process'
import { access, constants, readdir, stat } from 'node:fs/promises'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildCometBft, goEnv, type Report } from './build.ts'
import { CometError, reasonOf } from './errors.ts'
import { packagedFolders, programFile } from '../base/cometbftPackage.ts'

/** The CometBFT release that is built when none is found, and with which the tests run. */
export const COMETBFT_VERSION = '0.38.25'

/**
 * The lowest release of each line of CometBFT that svcd supports. Older ones of 0.37 and 0.38 end themselves when a reply
 * of the application has more than 100 MiB, which the results of a large block may have (CometBFT's #1730).
 */
const LOWEST_PATCH: Readonly<Record<string, number>> = { '0.37': 5, '0.38': 3, '0.39': 0, '0.40': 0 }

const lines = Object.keys(LOWEST_PATCH)
const raised = Object.entries(LOWEST_PATCH).flatMap(([line, patch]) => (patch > 0 ? [`${line}.${patch}`] : []))

/** The releases of CometBFT that svcd supports, in words. */
export const SUPPORTED_COMETBFT = `${lines[0]} to ${lines.at(-1)}, from ${raised.join(' and ')}`

/** The folder in which a built CometBFT is kept: `.cache/cometbft/<version>` in svcd's own folder. */
export const defaultCometCache = (): string =>
  fileURLToPath(new URL(`../../.cache/cometbft/${COMETBFT_VERSION}`, import.meta.url))

const VERSION_TIMEOUT_MS = 20_000
const PROGRAM = programFile()

const execute = promisify(execFile)

const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** The executable files `name` in these folders, in their order and each once. */
const programsIn = async (folders: readonly string[], name: string): Promise<readonly string[]> => {
  const found = new Set<string>()
  for (const folder of folders) {
    const path = resolve(folder, name)
    if (folder !== '' && (await isProgram(path))) found.add(path)
  }
  return [...found]
}

const pathFolders = (env: NodeJS.ProcessEnv): readonly string[] => (env['PATH'] ?? '').split(delimiter)

/** The programs that are tried first: those on PATH, in npm's package for this machine and in the cache, each once. */
export const nearPrograms = (env: NodeJS.ProcessEnv, cacheDir = defaultCometCache()): Promise<readonly string[]> =>
  programsIn([...pathFolders(env), ...packagedFolders(), cacheDir], PROGRAM)

const goFolders = async (go: string | undefined, env: NodeJS.ProcessEnv): Promise<readonly string[]> => {
  const [goBin = '', goPath = ''] = go === undefined ? [] : await goEnv(go, ['GOBIN', 'GOPATH'], env)
  const roots = [...goPath.split(delimiter), env['HOME'] === undefined ? '' : join(env['HOME'], 'go')]
  return [goBin, ...roots.filter((root) => root !== '').map((root) => join(root, 'bin'))]
}

/** The folders of the versions that were built before, the newest first. */
const builtFolders = async (cacheDir: string): Promise<readonly string[]> => {
  const cache = dirname(cacheDir)
  const names = await readdir(cache).catch(() => [])
  return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).map((name) => join(cache, name))
}

/**
 * Resolves with what `<program> version` prints, such as `0.38.25`. Rejects when it does not run or prints something
 * else.
 */
export const versionOf = async (program: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const { stdout } = await execute(program, ['version'], { env, timeout: VERSION_TIMEOUT_MS, killSignal: 'SIGKILL' })
  const version = /^v?(\d+\.\d+\.\d+\S*)\s*$/.exec(stdout)?.[1]
  if (version !== undefined) return version
  throw new Error(`its version: expected one such as ${COMETBFT_VERSION}, got ${JSON.stringify(stdout.slice(0, 60))}`)
}

/** Whether svcd supports a version as `versionOf` returns it. */
export function isSupported(version: string): boolean {
  const [major, minor, patch = ''] = version.split('.')
  return Number.parseInt(patch, 10) >= (LOWEST_PATCH[`${major}.${minor}`] ?? Infinity)
}

/** A CometBFT program. `version` is what it prints; a few releases print that of an older one. */
export type CometBft = { path: string; version: string }

/** The program that SVCD_COMETBFT names. Throws a CometError that says why it cannot be used. */
export const fromEnv = async (path: string, env: NodeJS.ProcessEnv): Promise<CometBft> => {
  if (!(await isProgram(path))) throw new CometError(`SVCD_COMETBFT: ${path} is not an executable file`)
  const version = await versionOf(resolve(path), env).catch((error: unknown) => {
    throw new CometError(`SVCD_COMETBFT: ${path} does not run: ${reasonOf(error)}`)
  })
  if (!isSupported(version))
    throw new CometError(`SVCD_COMETBFT: expected CometBFT ${SUPPORTED_COMETBFT}, but ${path} is ${version}`)
  return { path: resolve(path), version }
}

/** The first of these programs that is supported. Those before it are reported with the reason. */
const firstSupported = async (
  paths: readonly string[],
  env: NodeJS.ProcessEnv,
  onProgress: Report,
): Promise<CometBft | undefined> => {
  for (const path of paths) {
    try {
      const version = await versionOf(path, env)
      if (isSupported(version)) return { path, version }
      onProgress(`${path} is passed over: it is CometBFT ${version}, and svcd supports ${SUPPORTED_COMETBFT}`)
    } catch (error) {
      onProgress(`${path} is passed over: ${reasonOf(error)}`)
    }
  }
  return undefined
}

// Where Homebrew and installers by hand put programs. Not every service or desktop session has these on its PATH.
const INSTALL_FOLDERS: readonly string[] = ['/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin']

/**
 * `env`: SVCD_COMETBFT, PATH and what Go needs. `folders`: searched after PATH, the cache and Go's own. `cacheDir`: where a built
 * program is kept; the folders beside it hold other versions.
 */
export type FindOptions = {
  env?: NodeJS.ProcessEnv
  folders?: readonly string[]
  cacheDir?: string
  onProgress?: Report
}

/**
 * Finds a CometBFT program: the one that SVCD_COMETBFT names, else the first `cometbft` of a supported release on
 * PATH, in npm's package for this machine, in the cache, in Go's folders or in those of Homebrew, else version
 * COMETBFT_VERSION, built by `go install` into the cache (about a minute, verified by Go's checksum database). Each program
 * that is passed over is reported with the reason. Throws a CometError of one line when SVCD_COMETBFT cannot be used, when
 * there is neither CometBFT nor Go, or when the build fails. A program is judged by the version it prints:
 * 0.37.18 prints 0.37.16, and 0.40.0 prints 0.39.0.
 */
export const findCometBft = async (options: FindOptions = {}): Promise<CometBft> => {
  const {
    env = process.env,
    folders = INSTALL_FOLDERS,
    cacheDir = defaultCometCache(),
    onProgress = () => {},
  } = options
  const named = env['SVCD_COMETBFT']
  if (named !== undefined && named !== '') return await fromEnv(named, env)
  const [go] = await programsIn(pathFolders(env), programFile('go'))
  const near = await nearPrograms(env, cacheDir)
  const found = await firstSupported(near, env, onProgress)
  if (found !== undefined) return found
  // Not before, because Go writes into the user's home when it is asked for its settings.
  const others = [...(await goFolders(go, env)), ...folders, ...(await builtFolders(cacheDir))]
  const far = (await programsIn(others, PROGRAM)).filter((path) => !near.includes(path))
  const other = await firstSupported(far, env, onProgress)
  if (other !== undefined) return other
  if (go === undefined) {
    throw new CometError(
      `There is neither CometBFT (${SUPPORTED_COMETBFT}) nor Go to build it. Install Go 1.22 or later (https://go.dev/dl), ` +
        'install svcd from npm, which brings CometBFT, put cometbft on PATH, or set SVCD_COMETBFT to its path',
    )
  }
  await buildCometBft({ go, version: COMETBFT_VERSION, cacheDir, env, onProgress })
  const path = join(cacheDir, PROGRAM)
  const version = await versionOf(path, env).catch((error: unknown) => {
    throw new CometError(`the CometBFT just built at ${path} does not run: ${reasonOf(error)}`)
  })
  return { path, version }
}
