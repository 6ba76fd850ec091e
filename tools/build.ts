/** Builds dist, the package as it is published: compiled modules and types, the generated code and the web page. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPage } from './page.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

await buildPage()
rmSync(dist, { recursive: true, force: true })
const tsc = join(root, 'node_modules/typescript/bin/tsc')
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
// tsc compiles what is TypeScript; generated JavaScript and its types are copied, with the endings that tsc writes.
const gen = join(root, 'src/codec/gen')
mkdirSync(join(dist, 'codec/gen'), { recursive: true })
for (const file of readdirSync(gen).filter((name) => name.endsWith('.js') || name.endsWith('.d.ts'))) {
  const text = readFileSync(join(gen, file), 'utf8')
  writeFileSync(join(dist, 'codec/gen', file), text.replace(/(from '\.\.\/[a-z]+)\.ts'/g, "$1.js'"))
}
const program = readFileSync(join(root, 'src/cli/svcd.js'), 'utf8').replace("'./main.ts'", "'./main.js'")
writeFileSync(join(dist, 'cli/svcd.js'), program, { mode: 0o755 })
// Without the hash of what the page was made from.
cpSync(join(root, 'src/dashboard/gen'), join(dist, 'dashboard/gen'), {
  recursive: true,
  filter: (from) => !from.endsWith('.sha256'),
})
