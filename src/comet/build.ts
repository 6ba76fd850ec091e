import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { programFile } from '../base/cometbftPackage.ts'
import { CometError, reasonOf } from './errors.ts'

const PROGRESS_EVERY_MS = 3_000
const OUTPUT_CHARS_MAX = 16 * 1024 * 1024

const execute = promisify(execFile)

/** Receives one line at a time. `isReplaced`: the next line says the same with newer numbers. */
export type Report = (line: string, isReplaced?: boolean) => void

/** Go's settings of these names, in their order. None when Go does not run. */
export const goEnv = async (
  go: string,
  names: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<readonly string[]> => {
  const { stdout } = await execute(go, ['env', ...names], { env }).catch(() => ({ stdout: '' }))
  return stdout.trimEnd().split('\n')
}

/** How many modules and packages a build downloads and compiles when Go's caches are empty. */
type BuildSize = { modules: number; packages: number }

/** Counts what `go install -v` prints, and returns a function that says how far it is. */
const countProgress = (stderr: Readable, size: BuildSize): (() => string) => {
  let modules = 0
  let packages = 0
  createInterface({ input: stderr }).on('line', (line) => {
    if (line.startsWith('go: downloading ')) modules += 1
    else packages += 1
  })
  return () =>
    packages === 0
      ? `downloading module ${modules} of about ${Math.max(modules, size.modules)}`
      : `compiled ${packages} of about ${Math.max(packages, size.packages)} packages`
}

/** Another kind of machine, in Go's words. */
export type Target = { goos: string; goarch: string }

/** `go`: the path of the Go program. `cacheDir`: where the program is put. `target`: this machine by default. */
type GoOptions = { go: string; cacheDir: string; env: NodeJS.ProcessEnv; onProgress: Report; target?: Target }

/** Where `go install` puts a program for some machine, and with which settings. */
const installInto = async (
  folder: string,
  { go, env, target }: GoOptions,
): Promise<{ place: string; settings: NodeJS.ProcessEnv }> => {
  if (target === undefined) return { place: folder, settings: { GOBIN: folder } }
  // With GOBIN set, Go refuses to install for another machine.
  const { goos, goarch } = target
  const [modules = '', hostOs, hostArch] = await goEnv(go, ['GOMODCACHE', 'GOHOSTOS', 'GOHOSTARCH'], env)
  const isHost = goos === hostOs && goarch === hostArch
  const place = join(folder, 'bin', isHost ? '' : `${goos}_${goarch}`)
  return { place, settings: { GOBIN: '', GOPATH: folder, GOMODCACHE: modules, GOOS: goos, GOARCH: goarch } }
}

/**
 * `name`: of the program, as people call it. `program`: of its file. `command`: what Go is told, to make that file in
 * the given folder; `-v` is among it. `cwd`: where Go runs.
 */
export type GoBuild = GoOptions & {
  name: string
  version: string
  program: string
  command: (folder: string) => readonly string[]
  cwd?: string
  size: BuildSize
}

/**
 * Builds a program with Go into `<cacheDir>/<program>`. Reports every 3 s how much is downloaded or compiled. Each build
 * works in a folder of its own and ends with one rename, so any number of them may run at once. Throws a CometError with
 * the last line that Go printed.
 */
export const buildWithGo = async (build: GoBuild): Promise<void> => {
  const { go, name, version, program, command, cwd, size, cacheDir, env, onProgress } = build
  const [goVersion = ''] = await goEnv(go, ['GOVERSION'], env)
  if (goVersion === '')
    throw new CometError(`building ${name} ${version} takes Go, and ${go} does not run (https://go.dev/dl)`)
  await mkdir(cacheDir, { recursive: true })
  const folder = await mkdtemp(join(cacheDir, '.build-'))
  const { place, settings } = await installInto(folder, build)
  const startedMs = performance.now()
  const seconds = () => `${Math.round((performance.now() - startedMs) / 1000)} s`
  const what = `${name} ${version} with Go ${goVersion.replace(/^go/, '')}`
  onProgress(`building ${what}`)
  // Without cgo the program needs no C compiler and runs on any libc.
  const building = execute(go, command(folder), {
    ...(cwd !== undefined && { cwd }),
    env: { ...env, ...settings, CGO_ENABLED: '0' },
    maxBuffer: OUTPUT_CHARS_MAX,
  })
  const progress = countProgress(building.child.stderr as Readable, size)
  const say = (isReplaced = true) => onProgress(`  ${progress()}, ${seconds()}`, isReplaced)
  const timer = setInterval(say, PROGRESS_EVERY_MS)
  const stop = () => {
    building.child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', stop)
  try {
    await building
    await rename(join(place, program), join(cacheDir, program))
    onProgress(`built ${name} ${version} in ${seconds()}`)
  } catch (error) {
    say(false)
    const { stderr = '' } = error as { readonly stderr?: string }
    throw new CometError(`building ${what} failed: ${stderr.trim().split('\n').at(-1) || reasonOf(error)}`)
  } finally {
    process.off('exit', stop)
    clearInterval(timer)
    await rm(folder, { recursive: true, force: true })
  }
}

/** The programs of CometBFT's module, and their packages. */
const PROGRAMS = { cometbft: 'cmd/cometbft', 'abci-cli': 'abci/cmd/abci-cli' } as const

// With Go 1.26. Other releases differ by a few.
const COMETBFT_SIZE: BuildSize = { modules: 54, packages: 591 }

/** `program`: by default cometbft. `version`: without the v. */
export type BuildOptions = GoOptions & { program?: keyof typeof PROGRAMS; version: string }

/** Builds CometBFT, or a tool of its module, with Go into `<cacheDir>/<program>`, as `buildWithGo` does. */
export const buildCometBft = async ({ program = 'cometbft', version, ...options }: BuildOptions): Promise<void> => {
  const name = program === 'cometbft' ? 'CometBFT' : `CometBFT's ${program}`
  // Without paths of the machine, so that the same Go makes the same bytes anywhere.
  const flags = ['-v', '-trimpath', '-ldflags=-s -w']
  const command = ['install', ...flags, `github.com/cometbft/cometbft/${PROGRAMS[program]}@v${version}`]
  const file = programFile(program, options.target?.goos.replace('windows', 'win32'))
  await buildWithGo({ ...options, name, version, program: file, command: () => command, size: COMETBFT_SIZE })
}
