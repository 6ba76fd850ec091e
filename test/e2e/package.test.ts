import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const checkout = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'svcd-package-'))
const project = join(folder, 'project')
const installed = join(project, 'node_modules/svcd')

const run = (args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' })

beforeAll(() => {
  execFileSync(process.execPath, [join(checkout, 'tools/build.ts')], { cwd: checkout })
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: checkout })
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, 'svcd-0.1.0.tgz'), '-C', installed, '--strip-components=1'])
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules')) // its dependencies, as npm would hoist them
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the packed package in an empty project', () => {
  test('runs its program', () => {
    expect(run([join(installed, 'dist/cli/svcd.js'), '--version']).trim()).toBe('0.1.0')
    expect(run([join(installed, 'dist/cli/svcd.js'), '--help'])).toContain('devnet')
    expect(run([join(installed, 'dist/cli/svcd.js'), 'devnet', '--help'])).toContain('--block-time')
  })

  test.each(['svcd/client', 'svcd/abci', 'svcd/web3-plugin'])('is imported and required: %s', (name) => {
    const show = `console.log(Object.keys(it).sort().join())`
    writeFileSync(join(project, 'esm.mjs'), `import * as it from '${name}'\n${show}`)
    writeFileSync(join(project, 'cjs.cjs'), `const it = require('${name}')\n${show}`)
    const imported = run(['esm.mjs'])
    expect(imported.length).toBeGreaterThan(3)
    expect(
      run(['--disable-warning=ExperimentalWarning', 'cjs.cjs']).replace(/,?(?:__esModule|module\.exports)/g, ''),
    ).toBe(imported)
  })

  test('holds nothing but what runs', () => {
    const files = execFileSync('tar', ['-tzf', join(folder, 'svcd-0.1.0.tgz')], { encoding: 'utf8' })
      .trim()
      .split('\n')
    const tops = new Set(files.map((file) => file.split('/')[1]))
    expect([...tops].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'cometbft-config',
      'dist',
      'package.json',
    ])
  })
})

/**
 * The client for a browser, minified: the code that a page loads at first, and with `splitting` what it loads when it
 * is called for.
 */
async function bundle(
  splitting: boolean,
  external: readonly string[] = [],
): Promise<{ readonly first: string; readonly later: string }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: "import { Svc } from './dist/client/index.js'\nglobalThis.Svc = Svc", resolveDir: installed },
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    splitting,
    outdir: join(folder, 'out'),
    metafile: true,
    external: [...external],
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

describe('the client for a browser, minified and gzipped', () => {
  test('is under 60 kB in one file, the verifier of proofs left out', async () => {
    const { first, later } = await bundle(false, ['./light/proveRow.js'])
    expect(later).toBe('')
    expect(gzipSync(first).length).toBeLessThan(60_000)
    expect(first).not.toContain('sodium')
    expect(first).not.toContain('ics23')
    expect(readFileSync(join(installed, 'package.json'), 'utf8')).toContain('"browser"')
  }, 30_000)

  test('is under 60 kB before the first call where the bundler splits, with keystores and the verifier in files of their own', async () => {
    const { first, later } = await bundle(true)
    expect(gzipSync(first).length).toBeLessThan(60_000)
    expect(first).not.toContain('ics23')
    expect(later).toContain('ics23')
    expect(gzipSync(later).length).toBeLessThan(20_000)
  }, 30_000)
})
