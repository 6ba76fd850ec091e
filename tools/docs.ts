/**
 * The documentation site: `node tools/docs.ts` builds it into .cache/docs/site and says where it is. `--serve` shows it
 * at a port of this machine instead and follows changes of its pages; `--base /prefix/` is for a site below a path.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import { brokenLinks } from './docs/checkLinks.ts'
import { makeFresh } from './fresh.ts'
import { programArgs } from './testing/programArgs.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'tools/docs')
const VITEPRESS = join(folder, 'node_modules/vitepress/bin/vitepress.js')

const PORT = '5173'
/** An editor writes a file in several steps. */
const SETTLE_MS = 100

const { values } = programArgs({
  options: {
    serve: { type: 'boolean', default: false },
    port: { type: 'string', default: PORT },
    base: { type: 'string', default: '/' },
    out: { type: 'string', default: join(root, '.cache/docs/site') },
  },
})

const out = resolve(values.out)

const packageOf = (path: string): { version: string; dependencies: Readonly<Record<string, string>> } =>
  JSON.parse(readFileSync(path, 'utf8'))

/** Installs the packages of tools/docs unless they are there. */
function install(): void {
  const { dependencies } = packageOf(join(folder, 'package.json'))
  const isThere = ([name, version]: [string, string]): boolean => {
    const path = join(folder, 'node_modules', name, 'package.json')
    return existsSync(path) && packageOf(path).version === version
  }
  if (Object.entries(dependencies).every(isThere)) return
  process.stdout.write('Installing the packages of tools/docs …\n')
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  const { status } = spawnSync('npm', ['install', '--no-save', '--ignore-scripts', '--prefer-offline', ...quiet], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    // As for the project's own packages, npm runs on the system's Node (Makefile).
    env: { ...process.env, PATH: process.env['SYSTEM_PATH'] ?? process.env['PATH'], NODE_OPTIONS: '' },
  })
  if (status !== 0) process.exit(status ?? 1)
}

/** Runs VitePress on the staged pages. Resolves with its exit status; what it printed is shown only when it fails. */
function vitepress(args: readonly string[], stdio: 'inherit' | 'pipe'): Promise<number> {
  const child = spawn(process.execPath, [VITEPRESS, ...args], {
    cwd: folder,
    stdio: ['ignore', stdio, stdio],
    env: { ...process.env, NODE_OPTIONS: '', DOCS_BASE: values.base },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((done, failed) => {
    child.once('error', failed)
    child.once('close', (code, signal) => {
      // Ctrl-C is how a reader ends it.
      const status = code ?? (signal === 'SIGINT' || signal === 'SIGTERM' ? 0 : 1)
      if (status !== 0) process.stderr.write(said)
      done(status)
    })
  })
}

/** Stages the pages again after each change of a Markdown file. */
function follow(): void {
  let timer: NodeJS.Timeout | undefined
  const changed = (_event: string, file: string | null): void => {
    if (file?.endsWith('.md') !== true) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      try {
        stagePages(values.base)
      } catch (error) {
        process.stderr.write(`docs: ${(error as Error).message}\n`)
      }
    }, SETTLE_MS)
  }
  watch(root, changed)
  for (const name of ['docs', 'src', 'examples']) watch(join(root, name), { recursive: true }, changed)
}

install()
makeFresh()
// These load the generated code.
const { prepareStaged, stagePages } = await import('./docs/stage.ts')
const { stageApi } = await import('./docs/api.ts')
prepareStaged()
stagePages(values.base)
stageApi()
if (values.serve) {
  follow()
  const status = await vitepress(['dev', folder, '--host', '127.0.0.1', '--port', values.port], 'inherit')
  // What follows the files would go on.
  process.exit(status)
} else {
  process.exitCode = await vitepress(['build', folder, '--outDir', out], 'pipe')
  const broken = process.exitCode === 0 ? brokenLinks(out, values.base) : []
  for (const line of broken) process.stderr.write(`docs: ${line}\n`)
  if (broken.length > 0) process.exitCode = 1
  if (process.exitCode === 0) process.stdout.write(`The site is in ${out}. See it with: make docs ARGS=--serve\n`)
}
