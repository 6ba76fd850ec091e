/**
 * Builds the web page of src/dashboard into src/dashboard/gen when what it is made from has changed since it was built,
 * and else does nothing: `node tools/page.ts`. The gateway serves that folder.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { hashOfFiles, makeFresh } from './fresh.ts'

const root = join(import.meta.dirname, '..')
const page = join(root, 'src/dashboard')
const out = join(page, 'gen')

/** What the page is made from. The page may import nothing but these folders (biome's rules see to it). */
const INPUTS = [
  'src/{base,values,codec,tx,keys,client,comet,dashboard}/**/*.*',
  'src/modules/{shownRules,params/definitions}.ts',
  'tools/page.ts',
  'package-lock.json',
]

/** The modules that `browser` of package.json swaps in, as they are in src. */
function browserModules(): ReadonlyMap<string, string> {
  const { browser } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    browser: Readonly<Record<string, string>>
  }
  const inSource = (path: string): string => {
    const file = join(root, path.replace('./dist/', 'src/'))
    return existsSync(file) ? file : file.replace(/\.js$/, '.ts')
  }
  // The page also reads transactions, which others pass to it to be signed.
  const all = Object.entries(browser).filter(([from]) => from !== './dist/codec/gen/svc.js')
  return new Map(all.map(([from, to]) => [inSource(from), inSource(to)]))
}

/** What stands in for a package that is looked for and not needed. */
const NOTHING = '\0nothing'

/** What stands in for the list of 2,048 words in the page itself: its worker alone reads words. */
const NO_WORDS = '\0no words'

const stubs: Readonly<Record<string, string>> = {
  [NOTHING]: 'export default undefined',
  [NO_WORDS]: "export const seedOfMnemonic = () => { throw new Error('words are read by the worker') }",
}

/** Leaves the words of mnemonics out of the page, whose client could read them too: 7 kB, compressed, of 80. */
const withoutWords: Plugin = {
  name: 'no-words',
  enforce: 'pre',
  resolveId: (target, importer) =>
    target.endsWith('keys/mnemonic.ts') && importer?.endsWith('client/accounts.ts') === true ? NO_WORDS : undefined,
}

/**
 * Swaps in the modules that are made for browsers, and leaves out `long`: our messages hold no 64-bit number that needs
 * it (src/codec/protobuf.ts), and it tries WebAssembly, which the page's content security policy refuses.
 */
function forBrowsers(): Plugin {
  const swapped = browserModules()
  return {
    name: 'browser-modules',
    enforce: 'pre',
    resolveId: (target, importer) => {
      if (target === 'long') return NOTHING
      return target.startsWith('.') && importer !== undefined ? swapped.get(join(dirname(importer), target)) : undefined
    },
    load: (id) => stubs[id],
  }
}

/** Builds the page unless what stands in src/dashboard/gen was made from today's files. Returns whether it built. */
export async function buildPage(): Promise<boolean> {
  makeFresh()
  const stamp = join(out, 'inputs.sha256')
  const inputs = hashOfFiles(INPUTS, 'src/dashboard/gen/**')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs) return false
  const { NODE_ENV } = process.env
  const { build } = await import('vite')
  await build({
    root: page,
    // Relative addresses: the gateway may stand behind any path of a proxy.
    base: './',
    configFile: false,
    logLevel: 'warn',
    plugins: [withoutWords, forBrowsers()],
    worker: { format: 'es', plugins: () => [forBrowsers()] },
    build: {
      outDir: out,
      emptyOutDir: true,
      target: 'es2023',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      // A busy machine is slow, and that is nothing to warn of.
      rolldownOptions: {
        checks: { pluginTimings: false },
        // What every view needs is one file: cut up by who shares what with a view that is loaded later, it is 10 kB more.
        output: { codeSplitting: { groups: [{ name: 'page', tags: ['$initial'] }] } },
      },
      license: { fileName: 'licenses.md' },
    },
  })
  // Vite leaves `production` behind, with which npm takes every tool for left out.
  if (NODE_ENV === undefined) delete process.env['NODE_ENV']
  else process.env['NODE_ENV'] = NODE_ENV
  writeFileSync(stamp, inputs)
  return true
}

if (import.meta.main && (await buildPage())) process.stdout.write(`built ${relative(process.cwd(), out)}\n`)
