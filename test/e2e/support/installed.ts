/** What the tests of the packages do: pack them, and run projects that have them installed. */
import { expect } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { userNodes } from './userTools.ts'

const checkout = join(import.meta.dirname, '../../..')

/** Packages are packed as on this host of the repository, to which their pages link. */
export const FORGE = { GITHUB_SERVER_URL: 'https://forge.example', GITHUB_REPOSITORY: 'me/svcd' }

// Which run of tools/test.ts packed what lies beside it. Packing anew removes it.
const MARK = join(checkout, '.cache/packages/packed-by')
const RUN = process.env['TEST_RUN']

/** Says that what was packed is of this run of the tests, so that no other file has to pack it again. */
export function markPacked(): void {
  if (RUN !== undefined) writeFileSync(MARK, RUN)
}

/** Packs what is published into .cache/packages, unless a file of this run of the tests has done so. */
export function packOnce(): void {
  if (RUN !== undefined && existsSync(MARK) && readFileSync(MARK, 'utf8') === RUN) return
  execFileSync(process.execPath, ['tools/pack.ts'], {
    cwd: checkout,
    env: { ...process.env, NODE_OPTIONS: '', ...FORGE },
  })
  markPacked()
}

/** Runs Node in a project, and returns what it printed. Throws when it fails. */
export const runNode = (cwd: string, args: readonly string[], node = process.execPath): string =>
  execFileSync(node, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } })

/** What a program ended with and printed, its standard error last. */
export const outcomeOf = (
  cwd: string,
  args: readonly string[],
  node = process.execPath,
): readonly [number | null, string] => {
  const { status, stdout, stderr } = spawnSync(node, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  return [status, stdout + stderr]
}

export function write(project: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(project, name, '..'), { recursive: true })
    writeFileSync(join(project, name), text)
  }
}

/** Expects that `import` and `require` find the same exports, on every Node. */
export function showExports(project: string, names: readonly string[]): void {
  const show =
    'console.log(all.map((one) => Object.keys(one).filter((n) => !/^(__esModule|module.exports)$/.test(n)).sort().join()).join("\\n"))'
  write(project, {
    'esm.mjs': `const all = [${names.map((name) => `await import('${name}')`).join()}]\n${show}`,
    'cjs.cjs': `const all = [${names.map((name) => `require('${name}')`).join()}]\n${show}`,
  })
  for (const node of userNodes()) {
    const imported = runNode(project, ['esm.mjs'], node)
    expect(
      imported
        .trim()
        .split('\n')
        .filter((line) => /[A-Za-z]/.test(line)),
    ).toHaveLength(names.length)
    expect(runNode(project, ['--disable-warning=ExperimentalWarning', 'cjs.cjs'], node)).toBe(imported)
  }
}

/** The client for a page, minified: the code that it loads at first, and with `splitting` what it loads on demand. */
export async function bundle(
  project: string,
  name: string,
  splitting: boolean,
): Promise<{ readonly first: string; readonly later: string }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `import { Svc } from '${name}'\nglobalThis.Svc = Svc`, resolveDir: project },
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    splitting,
    outdir: join(project, 'out'),
    metafile: true,
  })
  const outputs = Object.entries(metafile.outputs)
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
  const reached = new Set<string>()
  const reach = (path: string): void => {
    if (reached.has(nameOf(path))) return
    reached.add(nameOf(path))
    for (const one of metafile.outputs[path]?.imports ?? [])
      if (one.kind === 'import-statement' && !one.external) reach(one.path)
  }
  reach(outputs.find(([, { entryPoint }]) => entryPoint?.includes('stdin'))?.[0] as string)
  const textOf = (isFirst: boolean): string =>
    outputFiles
      .filter(({ path }) => reached.has(nameOf(path)) === isFirst)
      .map(({ text }) => text)
      .join('\n')
  return { first: textOf(true), later: textOf(false) }
}
