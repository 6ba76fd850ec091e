/**
 * Installs the packages of package-lock.json into node_modules, and says how many of them are there: as a bar on a
 * terminal, else in a line every 3 s. The Makefile runs it on the system's Node, 20 or newer, before anything is
 * installed: it is plain JavaScript and imports no package. Why not `npm ci`: it compiles better-sqlite3 from source.
 * Why no scripts but those of `node`: nothing else needs one.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { isTTY, columns } = process.stdout
const EVERY_MS = isTTY ? 200 : 3000
const BAR = 24

// With fewer packages left than this their names are shown: the large ones come last.
const NAMED = 4

// Node's program is by far the largest file. Its size on Linux x64.
const NODE_MB = 121

const startedMs = Date.now()
const seconds = () => `${Math.round((Date.now() - startedMs) / 1000)} s`

/** Writes a progress line with a bar for `done` of `total`; on a terminal in place of the one before. */
function show(done, total, text) {
  const full = Math.min(BAR, Math.floor((BAR * done) / total))
  const line = `[${'#'.repeat(full).padEnd(BAR, '.')}] ${text}, ${seconds()}`
  process.stdout.write(isTTY ? `\r\u001b[K${line.slice(0, (columns || 80) - 1)}` : `${line}\n`)
}

/** Runs npm and calls `report` at once and then regularly. Ends this program with npm's status when it fails. */
async function npm(args, report) {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  const child = spawn('npm', [...args, ...quiet], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  report()
  const timer = setInterval(report, EVERY_MS)
  const status = await new Promise((done, failed) => child.once('error', failed).once('close', done))
  clearInterval(timer)
  report()
  if (isTTY) process.stdout.write('\n')
  if (status !== 0) process.exit(status ?? 1)
}

/** The folders of the packages that belong on this machine. An optional one that names no machine belongs to another. */
function wantedFolders() {
  process.report.excludeNetwork = true
  const { glibcVersionRuntime } = process.report.getReport().header
  const own = { os: process.platform, cpu: process.arch, libc: glibcVersionRuntime === undefined ? 'musl' : 'glibc' }
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([folder, { optional, os }]) => folder !== '' && !(optional === true && os === undefined))
    .filter(([, entry]) => Object.entries(own).every(([name, value]) => entry[name]?.includes(value) ?? true))
    .map(([folder]) => folder)
}

const folders = wantedFolders()

function reportPackages() {
  const missing = folders.filter((folder) => !existsSync(join(root, folder, 'package.json')))
  const names = missing.map((folder) => folder.replace(/.*node_modules\//, ''))
  const done = folders.length - missing.length
  const rest = missing.length > 0 && missing.length < NAMED ? `, waiting for ${names.join(', ')}` : ''
  show(done, folders.length, `${done} of ${folders.length} packages${rest}`)
}

/** Megabytes of the Node program that are there. */
function nodeSize() {
  const within = join(root, 'node_modules/node/node_modules')
  const names = existsSync(within) ? readdirSync(within).filter((name) => name.startsWith('node-')) : []
  const sizes = names.map((name) => statSync(join(within, name, 'bin/node'), { throwIfNoEntry: false })?.size ?? 0)
  return Math.round(Math.max(0, ...sizes) / 1024 / 1024)
}

process.stdout.write('Installing packages …\n')
await npm(['install', '--no-save', '--ignore-scripts', '--include=dev'], reportPackages)
await npm(['rebuild', 'node', '--ignore-scripts=false'], () =>
  show(nodeSize(), NODE_MB, `Node: ${nodeSize()} of about ${NODE_MB} MB`),
)
process.stdout.write(`installed in ${seconds()}\n`)
