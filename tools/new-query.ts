/**
 * Writes the skeleton of a query: `npm run new:query <module> <name>`, as in `npm run new:query accounts richest`. It adds
 * the query's file and its test, and says at the end what is left to do. Source: CONTRIBUTING.md, A query.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { upper } from './names.ts'
import { namesOf, querySkeleton } from './skeleton/query.ts'
import { assertFree, assertName, runGenerator, SkeletonError, writeSkeleton } from './skeleton/write.ts'

/**
 * Throws a SkeletonError when the project has a query of this path, or a method whose command, `svcd query <word>`, would
 * be the same: `svc_getBalance` and `svc_queryBalance` are both `balance`.
 */
function assertNew(root: string, module: string, name: string): void {
  const { path, query } = namesOf(module, name)
  const method = `svc_(?:query${upper(name)}|get${upper(name)}|${name})`
  const taken = new RegExp(`'(${path}|${method})'|\\b(${query})\\b`)
  assertFree(root, name, taken)
}

/** Writes the skeleton into the project at `root`; returns the files that it wrote. Throws a SkeletonError. */
export function newQuery(root: string, module: string, name: string): readonly string[] {
  assertName(name, 'richest')
  const folder = statSync(join(root, 'src/modules', module), { throwIfNoEntry: false })
  if (!/^[a-z]+$/.test(module) || folder?.isDirectory() !== true)
    throw new SkeletonError(`${module}: expected a module, which is a folder of src/modules`)
  assertNew(root, module, name)
  return writeSkeleton(root, querySkeleton(module, name))
}

if (import.meta.main) {
  const [module = '', name = ''] = process.argv.slice(2)
  runGenerator(
    () => newQuery(join(import.meta.dirname, '..'), module, name),
    'Next: give the query its fields and its answer, then run\n' +
      '  npm run gen && node_modules/.bin/biome check --write src test && npm run reference && npm run examples\n' +
      'Describe the path in docs/protocol.md and in the README of its module. CONTRIBUTING.md lists every place.\n',
    'npm run new:query <module> <name>',
  )
}
