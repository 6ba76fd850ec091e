import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { gateNames, tidy } from '../../tools/tidy.ts'
import type { Source } from '../../tools/tidy/source.ts'
import { tempFolder } from '../support/tempFolder.ts'

interface Rule {
  readonly options?: { readonly deniedGlobals?: object }
}
interface Override {
  readonly includes: readonly string[]
  readonly plugins?: readonly string[]
  readonly linter?: { readonly rules: { readonly style?: Readonly<Record<string, Rule>> } }
}
interface Diagnostic {
  readonly category: string
  readonly message: string
  readonly location: { readonly path: string; readonly start: { readonly line: number } }
}

const root = join(import.meta.dirname, '../..')
const bad = join(import.meta.dirname, 'bad')
const config = JSON.parse(readFileSync(join(root, '.biome.json'), 'utf8')) as {
  linter: { rules: object }
  overrides: readonly Override[]
}

/** Every rule that the configuration turns on by name, wherever it does. */
function rulesOn(node: unknown, into = new Set<string>()): Set<string> {
  for (const [name, value] of Object.entries(node ?? {})) {
    if (value === 'error' || (value as { level?: string } | null)?.level === 'error') into.add(name)
    else if (typeof value === 'object') rulesOn(value, into)
  }
  return into
}

/** The globals that no file of these folders may name: they differ between nodes. */
const GLOBALS =
  'Date process fetch setTimeout setInterval setImmediate queueMicrotask crypto performance Intl navigator WeakRef ' +
  'FinalizationRegistry'
const DENIED = {
  'src/app': new Set(GLOBALS.split(' ')),
  'src/store': new Set(GLOBALS.split(' ')),
  'src/modules': new Set([...GLOBALS.split(' '), 'require', 'Atomics', 'Promise']),
}

const folderOf = ({ includes }: Override): string => includes.join().replace(/^\*\*\/(.*)\/\*\*$/, '$1')

const lintRules = new Set([...rulesOn(config.linter), ...rulesOn(config.overrides), 'plugin'])

/**
 * What the samples' own marks say: `// red: gate, gate` at the end of a line, `// red file: gate`, `// red tree: gate
 * path`.
 */
function marksOf({ path, lines }: Source): string[] {
  return lines.flatMap((line, at) => {
    const [, place, rest] = /\/\/ red( file| tree)?: (.*)$/.exec(line) ?? []
    if (rest === undefined) return []
    if (place === ' tree') return [`${rest.split(' ')[1]}:0 ${rest.split(' ')[0]}`]
    return rest.split(', ').map((gate) => `${path}:${place === undefined ? at + 1 : 0} ${gate}`)
  })
}

describe('each gate is red on its bad sample, and on nothing else of the samples', () => {
  let folder = ''
  let remove: () => void
  let diagnostics: readonly Diagnostic[] = []
  let marks: string[] = []
  let found: string[] = []

  beforeAll(() => {
    // A project of its own, because the rules go by the folder: the same configuration, the bad samples as its sources.
    ;({ path: folder, remove } = tempFolder('tidy'))
    cpSync(bad, folder, { recursive: true })
    writeFileSync(join(folder, 'src/base/longFile.ts'), `// red file: fileLines\n${'//\n'.repeat(500)}`)
    writeFileSync(
      join(folder, 'src/base/long.ts'),
      `/** More than 80 lines. */
export function long(): number { // red: noExcessiveLinesPerFunction
  let sum = 0
${'  sum += 1\n'.repeat(80)}  return sum
}
`,
    )
    for (const [path, names] of Object.entries(DENIED))
      writeFileSync(
        join(folder, path, 'globals.ts'),
        [...names].map((name) => `const use_${name}: unknown = ${name} // red: noRestrictedGlobals\n`).join(''),
      )
    cpSync(join(root, '.biome.json'), join(folder, '.biome.json'))
    cpSync(join(root, 'tools/biome'), join(folder, 'tools/biome'), { recursive: true })
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
    const run = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(run.status).toBe(1)
    diagnostics = (JSON.parse(run.stdout) as { diagnostics: Diagnostic[] }).diagnostics

    // Nothing imports most samples, so they are named as entries; the two halves of the circle import each other.
    const { sources } = tidy(folder)
    const entries = sources
      .map(({ path }) => path)
      .filter((path) => !/^src\/base\/(?:unused|onlyTested|circle.)\.ts$/.test(path))
    const { findings } = tidy(folder, [], entries)
    marks = [...new Set(sources.flatMap(marksOf))].sort()
    const ruleOf = (category: string): string => category.replace(/^.*\//, '')
    const linted = diagnostics.map(({ category, location: { path, start } }) => ({
      rule: ruleOf(category),
      path,
      line: start.line,
    }))
    found = [
      ...new Set([
        ...linted.filter(({ rule }) => lintRules.has(rule)).map(({ rule, path, line }) => `${path}:${line} ${rule}`),
        ...findings.map(({ gate, path, line }) => `${path}:${line} ${gate}`),
      ]),
    ].sort()
  })

  afterAll(() => remove())

  test('every marked line is refused, and no other line', () => {
    expect(found).toEqual(marks)
  })

  test('every gate of tidy and every rule of the linter has a sample', () => {
    const marked = new Set(marks.map((mark) => mark.replace(/^.* /, '')))
    expect([...gateNames, ...lintRules].filter((gate) => !marked.has(gate))).toEqual([])
  })

  test('the import rule of every folder has a sample', () => {
    const importRules = config.overrides.filter(
      ({ linter }) => linter?.rules.style?.['noRestrictedImports'] !== undefined,
    )
    const folders = importRules.map(folderOf)
    expect(folders.filter((one) => !marks.some((mark) => mark.startsWith(`${one}/imports.ts:`)))).toEqual([])
    // Two overrides that match one file replace each other, and the first would be silent.
    expect(new Set(folders).size).toBe(folders.length)
    expect(readdirSync(join(root, 'src')).filter((one) => !folders.includes(`src/${one}`))).toEqual([])
  })

  test('exactly the globals that have a sample are denied', () => {
    const denied = config.overrides.flatMap((one) => {
      const globals = one.linter?.rules.style?.['noRestrictedGlobals']?.options?.deniedGlobals
      return globals === undefined ? [] : [[folderOf(one), new Set(Object.keys(globals))]]
    })
    expect(Object.fromEntries(denied)).toEqual(DENIED)
  })

  test('every message of every plugin is seen', () => {
    const plugins = readdirSync(join(root, 'tools/biome'))
    const said = new Set(diagnostics.map(({ message }) => message))
    const texts = plugins.map((name) => readFileSync(join(root, 'tools/biome', name), 'utf8'))
    const messages = texts.flatMap((text) =>
      [...text.matchAll(/message = "(.*?)"/g)].map(([, message]) => message as string),
    )
    expect(messages.length).toBeGreaterThanOrEqual(plugins.length)
    expect(messages.filter((message) => !said.has(message))).toEqual([])
    const used = new Set(config.overrides.flatMap((one) => one.plugins ?? []))
    expect(plugins.filter((name) => !used.has(`./tools/biome/${name}`))).toEqual([])
  })
})
