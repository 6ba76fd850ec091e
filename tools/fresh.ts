/**
 * Builds the generated code when what it is made from has changed since it was built, and else does nothing: `node
 * tools/fresh.ts`. The hash of the inputs stands beside what was made of them, so a checkout, a copy and a branch
 * switch are all seen.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const INPUTS = [
  'proto/**/*.proto',
  'tools/gen.ts',
  'tools/gen-{client,lists}.ts',
  'tools/{abciTypes,names}.ts',
  'tools/client/*.ts',
  'package-lock.json',
  // What the client's functions and their types are made of.
  'src/modules/**/*.ts',
  'src/dashboard/{operations,proposals}/*.{ts,tsx}',
  'src/gateway/rpc/methods/*.ts',
  'src/gateway/rpc/{fields,openrpc}.ts',
  'src/values/*.ts',
  'src/tx/fields.ts',
]

/** The hash of all files that `patterns` match, but those that `exclude` does, and of their paths. One line of text. */
export function hashOfFiles(patterns: readonly string[], exclude: string): string {
  const hash = createHash('sha256')
  for (const path of globSync(patterns, { cwd: root, exclude: [exclude] }).sort())
    hash.update(`${path}\n`).update(readFileSync(join(root, path)))
  return `${hash.digest('hex')}\n`
}

/** Runs tools/gen.ts unless its output is of today's inputs. Returns whether it ran. Throws when it fails. */
export function makeFresh(): boolean {
  const inputs = hashOfFiles(INPUTS, '**/gen/**')
  const stamp = join(root, 'src/codec/gen/inputs.sha256')
  if (existsSync(stamp) && existsSync(join(root, 'src/client/gen/rows.ts')) && readFileSync(stamp, 'utf8') === inputs)
    return false
  execFileSync(process.execPath, [join(root, 'tools/gen.ts')], { cwd: root, stdio: 'inherit' })
  writeFileSync(stamp, inputs)
  return true
}

if (import.meta.main) makeFresh()
