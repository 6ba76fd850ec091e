import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { parse } from 'smol-toml'
import { type ListedCommand, listCommands } from '../../tools/reference/commands.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { type CodeBlock, codeBlocks, pages, proseOf, root } from './pages.ts'

const blocksOf = (...infos: readonly string[]) => codeBlocks.filter(({ info }) => infos.includes(info))

let commands: readonly ListedCommand[] = []
beforeAll(async () => {
  commands = await listCommands()
})

/** What stands for something to be filled in: `<name>`, `NAME`, `…`, `·`, `$A`, `"$A"`. */
const isPlaceholder = (word: string): boolean => /^["'[]?(?:<|…|·|\$|[A-Z])/.test(word)

/** Why the program would not take a line that begins with `svcd`, or undefined. */
function refusedLine(line: string): string | undefined {
  const words = line.split(/\s+/).slice(1)
  let path = 'svcd'
  let isBelowAny = true
  for (const word of words) {
    const below = commands.filter((one) => one.path.startsWith(`${path} `))
    if (below.length === 0 || word.startsWith('-') || isPlaceholder(word)) break
    const found = commands.find((one) => one.path === `${path} ${word}`)
    if (found === undefined) return `${path} has no command ${word}: ${line}`
    path = found.path
    isBelowAny = false
  }
  if (isBelowAny) return undefined
  const known = commands.filter((one) => one.path === path || one.path.startsWith(`${path} `))
  const flags = new Set(['--help', ...known.flatMap(({ command }) => command.options.map(({ long }) => long ?? ''))])
  const wrong = words.flatMap((word) => /^--[a-z][a-z0-9-]*/.exec(word)?.[0] ?? []).find((flag) => !flags.has(flag))
  return wrong === undefined ? undefined : `${path} has no flag ${wrong}: ${line}`
}

/** The command lines of `svcd` in a shell script, each up to the next program, comment or redirection. */
const svcdLines = (script: string): readonly string[] =>
  [...script.replaceAll('\\\n', ' ').matchAll(/(?<=^ *|[|(&;] *|-u svcd |exec app )svcd [^|&;#)>\n]*/gm)].map(
    ([line]) => line.trim(),
  )

test('every svcd command line of a shell sample, and every one within a sentence, is one that the program takes', () => {
  const scripts = blocksOf('sh').map(({ code }) => code)
  const spans = pages.flatMap(({ text }) => [...proseOf(text).matchAll(/`(svcd [^`]+)`/g)].map(([, span = '']) => span))
  const lines = [...scripts, ...spans].flatMap(svcdLines)
  expect(lines.length).toBeGreaterThan(150)
  expect(lines.flatMap((line) => refusedLine(line) ?? [])).toEqual([])
})

test('a command or flag that the program does not have is found', () => {
  expect(svcdLines('A=$(svcd keys show alice --json | json .address) # svcd none\nsvcd start &')).toEqual([
    'svcd keys show alice --json',
    'svcd start',
  ])
  expect(refusedLine('svcd keys create alice')).toContain('svcd keys has no command create')
  expect(refusedLine('svcd keys new alice --colour')).toContain('svcd keys new has no flag --colour')
  expect(refusedLine('svcd tx <module> <operation> --dry-run')).toBeUndefined()
})

test('every make target and npm script that a page names exists', () => {
  const targets = new Set(
    [...readFileSync(join(root, 'Makefile'), 'utf8').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name),
  )
  // The pages about the template name its scripts.
  const scripts = ['package.json', 'examples/names/package.json'].flatMap((path) =>
    Object.keys((JSON.parse(readFileSync(join(root, path), 'utf8')) as { scripts: object }).scripts),
  )
  const code = pages.flatMap(({ text }) =>
    [...text.matchAll(/`([^`\n]+)`|^([^\n|]+)$/gm)].map(([, span, line]) => span ?? line ?? ''),
  )
  const named = (pattern: RegExp): readonly string[] =>
    code.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))
  const made = named(/^make ([a-z-]+)/g)
  const run = named(/^npm run ([a-z0-9:]+)/g)
  expect(made.length).toBeGreaterThan(10)
  expect(run.length).toBeGreaterThan(5)
  expect(made.filter((name) => !targets.has(name))).toEqual([])
  expect(run.filter((name) => !scripts.includes(name))).toEqual([])
})

test('every SVCD_ variable is in the reference, and the pages name no other', () => {
  const names = (text: string): readonly string[] => text.match(/\bSVCD_[A-Z0-9_]*[A-Z0-9]\b/g) ?? []
  const used = new Set(
    globSync(['src/**/*.{ts,js}', 'docker-compose*.yml', 'test/e2e/support/browser.ts'], { cwd: root }).flatMap(
      (path) => names(readFileSync(join(root, path), 'utf8')),
    ),
  )
  const reference = new Set(names(pages.find(({ path }) => path === 'docs/reference/configuration.md')?.text ?? ''))
  // SVCD_WORDS is a constant of the code; SVCD_CHROMIUM is for tests.
  expect([...used].filter((name) => !reference.has(name)).sort()).toEqual(['SVCD_CHROMIUM', 'SVCD_WORDS'])
  expect(pages.flatMap(({ text }) => names(text)).filter((name) => !used.has(name))).toEqual([])
})

test('JSON and TOML samples parse', () => {
  for (const info of ['json', 'toml']) expect(blocksOf(info).length).toBeGreaterThan(0)
  for (const { code } of blocksOf('json')) expect(JSON.parse(code)).toBeInstanceOf(Object)
  for (const { code } of blocksOf('toml')) expect(Object.keys(parse(code))).not.toEqual([])
})

/**
 * A sample as a module of its own, beside those of the page's folder. A comment of the page `<!-- ts: … -->` right above
 * the sample declares what the sample takes for granted.
 */
const moduleOf = ({ path, line, code, above }: CodeBlock): string => {
  const [, given = ''] = /<!-- ts: ((?:(?!-->)[\s\S])*)-->\s*$/.exec(above) ?? []
  return `// ${path}:${line}\n${given}\n${code}`.replace(/ from '(?=\.\.?\/)/g, ` from '../${dirname(path)}/`)
}

/** What the compiler says about these samples, each a module of its own. */
function compile(samples: readonly string[]): string {
  const folder = tempFolder('docs')
  try {
    mkdirSync(join(folder.path, 'samples'))
    for (const name of ['src', 'node_modules']) symlinkSync(join(root, name), join(folder.path, name))
    writeFileSync(join(folder.path, 'package.json'), readFileSync(join(root, 'package.json')))
    for (const [index, sample] of samples.entries())
      writeFileSync(join(folder.path, `samples/${index}.ts`), `${sample}\nexport {}\n`)
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: object
    }
    const paths = {
      '@svcd/client': ['./src/client/index.ts'],
      '@svcd/client/web3-plugin': ['./src/client/web3Plugin.ts'],
      '@svcd/abci': ['./src/abci/index.ts'],
      '@svcd/abci/testing': ['./src/abci/testing/index.ts'],
      '@svcd/abci/node': ['./src/abci/node/index.ts'],
      '@svcd/store': ['./src/store/index.ts'],
      'svcd/client': ['./src/client/index.ts'],
      'svcd/abci': ['./src/abci/index.ts'],
      'svcd/abci/testing': ['./src/abci/testing/index.ts'],
      'svcd/store': ['./src/store/index.ts'],
      'svcd/devnet': ['./src/cli/devnet/startDevnet.ts'],
    }
    const options = {
      ...compilerOptions,
      paths,
      noUnusedLocals: false,
      noUnusedParameters: false,
      noPropertyAccessFromIndexSignature: false,
      lib: ['es2024', 'dom'],
    }
    writeFileSync(
      join(folder.path, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['samples'] }),
    )
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    return spawnSync(process.execPath, [compiler, '-p', folder.path, '--pretty', 'false'], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    }).stdout
  } finally {
    folder.remove()
  }
}

test('TypeScript samples compile, and a wrong one does not', () => {
  // Those of own-chain.md are parts of files: create.test.ts finds them there.
  const blocks = blocksOf('ts').filter(({ path }) => path !== 'docs/own-chain.md')
  expect(blocks.length).toBeGreaterThan(2)
  expect(compile(blocks.map(moduleOf))).toBe('')
  expect(compile(["import { Svc } from '@svcd/client'\nnew Svc(1)\n"])).toMatch(/samples\/0\.ts\(2,9\): error TS2/)
})

test('the JavaScript samples of docs/client.md are strict TypeScript, in which a callback narrows its result', () => {
  const source = codeBlocks
    .filter(({ path, info }) => path === 'docs/client.md' && /^js\b/.test(info))
    .map(({ info, code }) => (info === 'js shared' ? code : `{\n${code}\n}`))
    .join('\n')
  expect(compile([source])).toBe('')
  expect(compile([source.replaceAll('if (error !== null) throw error', '')])).toMatch(/error TS18048: 'byCallback' is/)
})
