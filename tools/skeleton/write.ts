/** Writes a skeleton into a project: all of its files and edits, or nothing. */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** A module or name that no skeleton can be written for, or a project in which its edits do not fit. */
export class SkeletonError extends Error {}

/** A change of a file's text. Throws a SkeletonError where the text has no place for it. */
export type Edit = (text: string) => string

/** New files with their texts, and edits of files that the project has. Paths begin at its root. */
export interface Skeleton {
  readonly files: Readonly<Record<string, string>>
  readonly edits: readonly (readonly [path: string, edit: Edit])[]
}

/** Throws a SkeletonError unless a name is one of TypeScript that begins with a small letter. */
export function assertName(name: string, example: string): void {
  if (!/^[a-z][a-zA-Z]{1,40}$/.test(name)) throw new SkeletonError(`${name}: expected a name like ${example}`)
}

/** Throws a SkeletonError when a query or a method of the project at `root` has a name that `taken` matches. */
export function assertFree(root: string, name: string, taken: RegExp): void {
  for (const file of globSync('{modules,gateway/rpc/methods}/**/*.ts', {
    cwd: join(root, 'src'),
    exclude: ['**/gen/**'],
  })) {
    const [, first, second] = taken.exec(readFileSync(join(root, 'src', file), 'utf8')) ?? []
    const known = first ?? second
    if (known !== undefined) throw new SkeletonError(`${name}: src/${file} has ${known}; choose another name`)
  }
}

/** Throws a SkeletonError for a file that imports or declares a name twice, or one that JavaScript reserves. */
function assertDeclares(path: string, text: string): void {
  const found = text.matchAll(/^import (?:type )?\{ (.*) \}|^(?:export )?(?:const|function|type) (\w+)/gm)
  const names = [...found].map(([, imported, declared]) => imported?.replaceAll('type ', '') ?? declared)
  try {
    new Script(`'use strict'; async () => { let ${names.join()} }`)
  } catch (error) {
    throw new SkeletonError(`${path}: ${(error as Error).message}; choose another name`)
  }
}

/** Writes a skeleton into the project at `root`; returns the paths that it wrote. Throws a SkeletonError. */
export function writeSkeleton(root: string, { files, edits }: Skeleton): readonly string[] {
  for (const path of Object.keys(files)) if (existsSync(join(root, path))) throw new SkeletonError(`${path} exists`)
  for (const [path, text] of Object.entries(files)) assertDeclares(path, text)
  const texts = new Map<string, string>()
  for (const [path, edit] of edits) texts.set(path, edit(texts.get(path) ?? readFileSync(join(root, path), 'utf8')))
  for (const [path, text] of Object.entries(files)) texts.set(path, text)
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return [...texts.keys()]
}

/** Runs a generator for the command line: prints what `write` wrote and what comes `next`, or why it refused, and `usage`. */
export function runGenerator(write: () => readonly string[], next: string, usage: string): void {
  try {
    process.stdout.write(`Wrote ${write().join(', ')}.\n${next}`)
  } catch (error) {
    if (!(error instanceof SkeletonError)) throw error
    process.stderr.write(`${error.message}\nUsage: ${usage}\n`)
    process.exitCode = 2
  }
}
