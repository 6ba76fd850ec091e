import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Compiles the program into the folder `dist`, which is replaced: modules, types and the generated code. */
export function compile(dist: string): void {
  rmSync(dist, { recursive: true, force: true })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', dist], { cwd: root, stdio: 'inherit' })
  // tsc compiles what is TypeScript; generated JavaScript and its types are copied, with the endings that tsc writes.
  const gen = join(root, 'src/codec/gen')
  mkdirSync(join(dist, 'codec/gen'), { recursive: true })
  for (const file of readdirSync(gen).filter((name) => name.endsWith('.js') || name.endsWith('.d.ts'))) {
    const text = readFileSync(join(gen, file), 'utf8')
    writeFileSync(join(dist, 'codec/gen', file), text.replace(/(from '\.\.\/[a-z]+)\.ts'/g, "$1.js'"))
  }
  const program = readFileSync(join(root, 'src/cli/svcd.js'), 'utf8').replace("'./main.ts'", "'./main.js'")
  writeFileSync(join(dist, 'cli/svcd.js'), program, { mode: 0o755 })
}
