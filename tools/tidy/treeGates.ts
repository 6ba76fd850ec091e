import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type Finding, type Node, type Source, walk } from './source.ts'

/**
 * Files under src that package.json names, as they are or as they are built: programs, exports, and what a browser gets
 * instead.
 */
function packageEntries(root: string): string[] {
  const path = join(root, 'package.json')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const named = [...text.matchAll(/"(?:\.\/)?(src\/[^"]+)"/g)].map(([, file]) => file as string)
  const built = [...text.matchAll(/"(?:\.\/)?dist\/([^"]+)\.js"/g)].flatMap(([, file]) => [
    `src/${file}.ts`,
    `src/${file}.js`,
  ])
  // The web page begins with its HTML, and the program of @svcd/create is in no other package.
  return [...named, ...built, 'src/dashboard/main.tsx', 'src/create/create.ts']
}

/** Paths that `source` imports, re-exports, loads with import() or names in new URL(…, import.meta.url). */
function importsOf(source: Source): string[] {
  const targets: unknown[] = []
  const literal = (node: unknown): unknown => (node as { expression?: Node } | undefined)?.expression?.['value']
  walk(source.body, (node) => {
    if (node.type === 'ImportDeclaration' || node.type.startsWith('Export'))
      targets.push((node['source'] as Node | undefined)?.['value'])
    const callee = node['callee'] as Node | undefined
    const isUrl = node.type === 'NewExpression' && callee?.['value'] === 'URL'
    if (isUrl || (node.type === 'CallExpression' && callee?.type === 'Import'))
      targets.push(literal((node['arguments'] as unknown[])[0]))
  })
  return (
    targets
      .filter((target) => typeof target === 'string' && target.startsWith('.'))
      // Vite takes what to make of a file behind a `?`.
      .map((target) => posix.join(posix.dirname(source.path), (target as string).replace(/\?.*$/, '')))
  )
}

function unusedFiles(sources: readonly Source[], entries: ReadonlySet<string>): Finding[] {
  // A file that only its test imports is dead too.
  const used = new Set(sources.filter(({ path }) => !path.startsWith('test/')).flatMap(importsOf))
  return sources
    .filter(
      ({ path }) =>
        /^src\/.*\.(?:tsx?|js)$/.test(path) && !path.endsWith('.d.ts') && !used.has(path) && !entries.has(path),
    )
    .map(({ path }) => ({ gate: 'unusedFile', path, line: 0, message: 'no file imports it' }))
}

function tagsTwice(sources: readonly Source[]): Finding[] {
  const owners = new Map<unknown, string>()
  const findings: Finding[] = []
  for (const source of sources.filter(({ path }) => path.startsWith('src/'))) {
    walk(source.body, (node) => {
      if (node.type !== 'CallExpression' || (node['callee'] as Node)['value'] !== 'table') return
      const spec = (node['arguments'] as { expression: Node }[])[1]?.expression
      const members = (spec?.['properties'] as Node[] | undefined) ?? []
      const member = members.find(({ key }) => (key as Node | undefined)?.['value'] === 'tag')
      const tag = (member?.['value'] as Node | undefined)?.['value']
      if (tag === undefined) return
      const owner = owners.get(tag)
      const where = `${source.path}:${source.lineOf(node)}`
      if (owner === undefined) owners.set(tag, where)
      else
        findings.push({
          gate: 'tagTwice',
          path: source.path,
          line: source.lineOf(node),
          message: `the tag of ${owner}`,
        })
    })
  }
  return findings
}

function modulesWithoutReadme(root: string, sources: readonly Source[]): Finding[] {
  const modules = new Set(sources.flatMap(({ path }) => /^src\/modules\/[^/]+(?=\/)/.exec(path) ?? []))
  return [...modules]
    .filter((path) => !existsSync(join(root, path, 'README.md')))
    .map((path) => ({ gate: 'moduleReadme', path, line: 0, message: 'a module has a README.md' }))
}

/** What the gates over the whole tree find. `entries`: files that need no import. */
export function treeFindings(root: string, sources: readonly Source[], entries: readonly string[] = []): Finding[] {
  const entered = new Set([...entries, ...packageEntries(root)])
  return [...unusedFiles(sources, entered), ...tagsTwice(sources), ...modulesWithoutReadme(root, sources)]
}

/** The names of the gates of `treeFindings`. */
export const treeGateNames: readonly string[] = ['unusedFile', 'tagTwice', 'moduleReadme']
