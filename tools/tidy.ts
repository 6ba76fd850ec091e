/**
 * The style gates that no linter has: `node tools/tidy.ts`. Prints what is refused, then the sizes of our files; exits
 * 1 when anything is refused. Each gate has a bad sample in test/tidy/bad, so that none can fall silent. Source:
 * CONTRIBUTING.md, Style.
 */
import { join } from 'node:path'
import { listedFiles } from './gen-lists.ts'
import { type Finding, readTree, type Source } from './tidy/source.ts'
import { syntaxGates } from './tidy/syntaxGates.ts'
import { textGates } from './tidy/textGates.ts'
import { treeFindings, treeGateNames } from './tidy/treeGates.ts'

const gates = [...textGates, ...syntaxGates]

/** The name of every gate. */
export const gateNames: readonly string[] = [...gates.map(({ name }) => name), ...treeGateNames]

interface Tidied {
  readonly sources: readonly Source[]
  readonly findings: readonly Finding[]
}

/** Everything refused in the project at `root`, but in the folders `skip`. `entries`: files that need no import. */
export function tidy(root: string, skip: readonly string[] = [], entries?: readonly string[]): Tidied {
  const sources = readTree(root, skip)
  const findings = sources.flatMap((source) =>
    gates
      .filter(({ reads }) => reads(source.path))
      .flatMap(({ name, message, refused }) =>
        refused(source).map((line) => ({ gate: name, path: source.path, line, message })),
      ),
  )
  return { sources, findings: [...findings, ...treeFindings(root, sources, entries)] }
}

/**
 * One line on the sizes of the files under src: the aim is a median under 90 and 9 of 10 under 300 lines
 * (CONTRIBUTING.md, Style).
 */
export function sizes(sources: readonly Source[]): string {
  const lines = sources
    .filter(({ path }) => /^src\/.*\.ts$/.test(path))
    .map((source) => source.lines.length - 1)
    .sort((a, b) => a - b)
  const at = (share: number): number => lines[Math.min(lines.length - 1, Math.floor(lines.length * share))] ?? 0
  return `${lines.length} files in src: median ${at(0.5)} lines (aim: under 90), 9 of 10 under ${at(0.9)} (300), longest ${at(1)} (500)`
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const { sources, findings } = tidy(root, ['test/tidy/bad'], listedFiles(root))
  for (const { path, line, gate, message } of findings)
    process.stdout.write(`${path}${line > 0 ? `:${line}` : ''} ${gate}: ${message}\n`)
  process.stdout.write(`${sizes(sources)}\n`)
  process.exitCode = findings.length > 0 ? 1 : 0
}
