import { beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { COMETBFT_VERSION } from '../../src/comet/find.ts'
import { serveRegistry } from '../../tools/packages/registry.ts'
import { abciCli } from '../../tools/testing/cometVersions.ts'
import { examplesRunBy } from '../docs/examples.ts'
import { gatewayClient } from './support/client.ts'
import { devnetArgs, makePlace, startDevnet } from './support/devnet.ts'
import { replay, startExample, transcriptOf, writeExamples } from './support/examples.ts'
import { bundle, FORGE, markPacked, outcomeOf, runNode, showExports, write } from './support/installed.ts'
import { startLight } from './support/light.ts'
import { testFolder } from './support/testFolder.ts'
import { installUserTools, npm, TYPESCRIPT_5, userNodes, withoutCompiler } from './support/userTools.ts'

const checkout = join(import.meta.dirname, '../..')
const packed = join(checkout, '.cache/packages')
const folder = testFolder()
/** Projects of people who installed `svcd`, the two packages without native code, and the store. */
const operator = join(folder, 'operator')
const developer = join(folder, 'developer')
const ledger = join(folder, 'ledger')
const program = join(operator, 'node_modules/svcd/dist/cli/svcd.js')
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string }
const NAMES = ['svcd', 'svcd-client', 'svcd-abci', 'svcd-create', 'svcd-store']
const COMETBFT = `cometbft-${process.platform}-${process.arch}`
const tarball = (name: string): string => join(packed, `${name}-${version}.tgz`)

/** Packs, and does everything of publishing but the upload, as CI does for a tag. */
const publish = (tag: string): { readonly status: number | null; readonly stdout: string; readonly stderr: string } =>
  spawnSync(join(checkout, '.ci/publish'), [tag, '--dry-run', '--offline'], {
    encoding: 'utf8',
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      // CometBFT for this machine alone: six take minutes.
      PACK_FLAGS: '',
      // An archive of the source has no repository, and git refuses to read the one of another user, as in CI's container.
      GIT_DIR: join(folder, 'no repository'),
      PATH: `${join(checkout, 'node_modules/.bin')}:${process.env['PATH']}`,
      ...FORGE,
    },
    maxBuffer: 2 ** 26,
  })
let published: ReturnType<typeof publish>

beforeAll(() => {
  installUserTools()
  published = publish(`v${version}`)
  if (published.status !== 0) throw new Error(published.stderr)
  markPacked()
  for (const project of [operator, developer, ledger]) write(project, { 'package.json': '{}' })
  npm(operator, ['install', '--offline', tarball('svcd'), tarball(`svcd-${COMETBFT}`)], withoutCompiler(folder))
  npm(developer, ['install', '--prefer-offline', tarball('svcd-client'), tarball('svcd-abci')])
  npm(ledger, ['install', '--prefer-offline', tarball('svcd-store')], withoutCompiler(folder))
})

/** The paths of all files of a project's node_modules. */
const installedIn = (project: string): readonly string[] => globSync('node_modules/**/*.*', { cwd: project })

describe('each tarball', () => {
  const manifestOf = (name: string): Readonly<Record<string, unknown>> =>
    JSON.parse(execFileSync('tar', ['-xzOf', tarball(name), 'package/package.json'], { encoding: 'utf8' }))

  test.each(NAMES)('of %s has a readme, changelog and licence, and says where it comes from', (name) => {
    const files = execFileSync('tar', ['-tzf', tarball(name)], { encoding: 'utf8' })
      .trim()
      .split('\n')
    for (const file of ['README.md', 'CHANGELOG.md', 'LICENSE']) expect(files).toContain(`package/${file}`)
    expect(manifestOf(name)).toMatchObject({
      version,
      license: 'Apache-2.0',
      publishConfig: { access: 'public', provenance: true },
      repository: { type: 'git', url: 'git+https://forge.example/me/svcd.git' },
    })
    for (const member of ['private', 'scripts', 'devDependencies']) expect(manifestOf(name)).not.toHaveProperty(member)
  })

  test('is published for a tag of its version, and for no other', () => {
    const packages = [COMETBFT, '', 'abci', 'client', 'create', 'store'].map((name) =>
      name === '' ? 'svcd' : `@svcd/${name}`,
    )
    expect(published.stdout.trim().split('\n').slice(-6)).toEqual(packages.map((name) => `+ ${name}@${version}`))
    expect(publish('v0.1.0')).toMatchObject({
      status: 1,
      stderr: `publish: package.json has version ${version}, so the tag must be v${version}, got: v0.1.0\n`,
    })
    const workflow = readFileSync(join(checkout, '.github/workflows/ci.yml'), 'utf8')
    for (const command of ['.ci/run', '.ci/publish "$GITHUB_REF_NAME"']) expect(workflow).toContain(`run: ${command}\n`)
    expect(workflow).toMatch(/publish:\n {4}if: startsWith\(github.ref, 'refs\/tags\/v'\)\n {4}needs: test\n/)
  })

  test('is not published again where a publish stopped halfway', async () => {
    const halfway = join(folder, 'registry')
    for (const name of [`svcd-${COMETBFT}`, 'svcd']) cpSync(tarball(name), join(halfway, basename(tarball(name))))
    const registry = await serveRegistry(0, halfway)
    // What is packed stays as it is.
    const npmProgram = execFileSync('/bin/sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
    write(folder, { 'publisher/npm': `#!/bin/sh\n[ "$1" = run ] || exec ${npmProgram} "$@"\n` })
    execFileSync('chmod', ['+x', join(folder, 'publisher/npm')])
    const child = spawn(join(checkout, '.ci/publish'), [`v${version}`, '--dry-run', '--registry', registry.url], {
      env: { ...process.env, NODE_OPTIONS: '', ...FORGE, PATH: `${join(folder, 'publisher')}:${process.env['PATH']}` },
    })
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    registry.close()
    if (child.exitCode !== 0) throw new Error(stderr)
    expect(stdout.trim().split('\n')).toEqual([
      ...[`@svcd/${COMETBFT}`, 'svcd'].map((name) => `${name}@${version} is on npm already`),
      ...['abci', 'client', 'create', 'store'].map((name) => `+ @svcd/${name}@${version}`),
    ])
  })

  test('of svcd holds nothing but what runs on the six kinds of machine', () => {
    expect(readdirSync(join(operator, 'node_modules/svcd')).sort().join(' ')).toBe(
      'CHANGELOG.md LICENSE README.md cometbft-config dist docs node_modules package.json',
    )
    const kinds = ['linux', 'darwin', 'win32'].flatMap((os) => [`${os}-arm64`, `${os}-x64`]).sort()
    const native = installedIn(operator).filter((path) => path.endsWith('.node'))
    for (const library of ['better-sqlite3', 'sodium-native'])
      expect(
        native
          .flatMap((path) => new RegExp(`/${library}/prebuilds/([a-z0-9]+-[a-z0-9]+)`).exec(path)?.[1] ?? [])
          .sort(),
      ).toEqual(kinds)
  })
})

test('the web page is part of svcd, with the licences of what it is made of, and of no other package', () => {
  const page = (name: string): readonly string[] =>
    execFileSync('tar', ['-tzf', tarball(name)], { encoding: 'utf8' }).match(/^package\/.*dashboard.*$/gm) ?? []
  expect(page('svcd').map((path) => path.replace(/-[\w-]{8}\./, '-HASH.'))).toEqual(
    expect.arrayContaining(
      ['index.html', 'licenses.md', 'assets/index-HASH.js', 'assets/index-HASH.css'].map(
        (path) => `package/dist/dashboard/gen/${path}`,
      ),
    ),
  )
  for (const path of page('svcd')) expect(path).toMatch(/\/gen\/(?:assets\/[\w.-]+|index\.html|licenses\.md)$/)
  expect([...page('svcd-client'), ...page('svcd-abci'), ...page('svcd-store')]).toEqual([])
  expect(readFileSync(join(operator, 'node_modules/svcd/dist/dashboard/gen/licenses.md'), 'utf8')).toMatch(
    /^## preact /m,
  )
})

describe('svcd, installed without a registry and without a compiler', () => {
  test('is one package of less than 32 MB, which a lock file installs again', () => {
    const bytes = (): number =>
      execFileSync('du', ['-sb', 'node_modules/svcd'], { cwd: operator, encoding: 'utf8' })
        .split('\t')
        .map(Number)[0] as number
    expect(bytes()).toBeLessThan(32e6)
    // npm forgets in its lock file that better-sqlite3 is not to be compiled, and would run node-gyp now.
    rmSync(join(operator, 'node_modules'), { recursive: true })
    npm(operator, ['ci', '--offline'], { ...process.env, PATH: join(folder, 'bin') })
    expect(installedIn(operator).filter((path) => /binding\.gyp$|\/build\/Release/.test(path))).toEqual([])
    expect(bytes()).toBeLessThan(32e6)
  })

  test('makes blocks on a machine with Node alone: npm brings CometBFT', async () => {
    const env = { PATH: join(folder, 'bin'), HOME: join(folder, 'empty home'), NODE_OPTIONS: '' }
    const place = await makePlace(join(operator, 'home'))
    const args = ['svcd', ...devnetArgs(place)]
    const child = spawn(join(folder, 'bin/npx'), args, {
      cwd: operator,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()))
    try {
      await Promise.race([
        once(child.stdout, 'data').then(async () => {
          while (!said.includes('devnet ready')) await once(child.stdout, 'data')
        }),
        ended.then(() => {
          throw new Error(said)
        }),
      ])
      await gatewayClient(`http://127.0.0.1:${place.ports[0]}`).waitForHeight(2)
    } finally {
      process.kill(-(child.pid as number), 'SIGTERM')
      await ended
    }
    expect(said).not.toContain('Go')
  })

  test('runs on Node 24 and 22, and its parts are imported and required', () => {
    for (const node of userNodes()) {
      expect(runNode(operator, [program, '--version'], node).trim()).toBe(version)
      expect(runNode(operator, [program, 'devnet', '--help'], node)).toContain('--block-time')
    }
    showExports(
      operator,
      ['client', 'abci', 'abci/testing', 'abci/node', 'store', 'devnet'].map((part) => `svcd/${part}`),
    )
  })
})

/** Compiler options that all type checks share. */
const STRICT = {
  typeRoots: [join(checkout, 'node_modules/@types')],
  strict: true,
  skipDefaultLibCheck: true,
  noEmit: true,
}

/** A TypeScript sample of a page. */
const sampleOf = (page: string, index = 0): string => examplesRunBy('test/e2e/package.test.ts', page)[index]?.code ?? ''

describe('@svcd/client and @svcd/abci', () => {
  test('need no native code, and nothing of the chain', () => {
    const names = (path: string): object =>
      (
        JSON.parse(readFileSync(join(developer, 'node_modules', path, 'package.json'), 'utf8')) as {
          dependencies: object
        }
      ).dependencies
    expect(Object.keys(names('@svcd/abci'))).toEqual(['protobufjs'])
    expect(Object.keys(names('@svcd/client')).join(' ')).toBe(
      '@noble/ciphers @noble/ed25519 @noble/hashes @scure/bip39 protobufjs',
    )
    const installed = installedIn(developer)
    expect(installed.filter((path) => /\.node$|binding\.gyp$/.test(path))).toEqual([])
    const manifests = installed.filter((path) => path.endsWith('/package.json'))
    expect(manifests.length).toBeGreaterThan(7)
    expect(
      manifests.filter((path) => /"(?:pre|post)?install":/.test(readFileSync(join(developer, path), 'utf8'))),
    ).toEqual([])
    const own = installed.filter((path) => path.includes('/@svcd/') && path.endsWith('.js'))
    expect(own.filter((path) => readFileSync(join(developer, path), 'utf8').includes('sodium-native'))).toEqual([])
    expect(own.filter((path) => /abci\/dist\/(?:modules|store|app|tx|gateway|client)\//.test(path))).toEqual([])
  })

  test('are imported and required on Node 24 and 22', () => {
    symlinkSync(join(checkout, 'node_modules/web3'), join(developer, 'node_modules/web3'))
    showExports(
      developer,
      ['client', 'client/web3-plugin', 'abci', 'abci/testing', 'abci/node'].map((part) => `@svcd/${part}`),
    )
  })

  test("the quick start of abci's README runs as written on Node 24 and 22, driven by abci-cli", async () => {
    writeExamples(developer)
    const cli = await abciCli(COMETBFT_VERSION)
    for (const [index, node] of userNodes().entries()) {
      const address = `unix://${developer}/${index}.sock`
      const started = await startExample(developer, 'quickStart', address, node)
      try {
        expect(await replay(cli, address, transcriptOf('quickStart'))).toBe(transcriptOf('quickStart'))
      } finally {
        await started.stop()
      }
    }
  })

  test("the test in abci's README runs as written on Node 24 and 22, and fails with a broken requirement", () => {
    const sample = sampleOf('src/abci/README.md', 1)
    const broken = sample.replace('disks[node] = next', 'disks[node] = { ...next, height: 1 }')
    write(developer, { 'app.test.mts': sample, 'broken.test.mts': broken })
    for (const node of userNodes()) {
      expect(runNode(developer, ['--test', '--test-reporter=tap', 'app.test.mts'], node)).toMatch(/^# pass 1$/m)
      const outcome = outcomeOf(developer, ['--test', '--test-reporter=tap', 'broken.test.mts'], node)
      expect(outcome).toEqual([1, expect.stringContaining('Crash Recovery: Info of node 3 reports block 1')])
    }
  })

  const SAMPLE = `
    const svc = new Svc('http://127.0.0.1:8545')
    svc.stake.validator.list((error, list) => {
      if (error !== null) throw error
      const height: number = list.height
      // @ts-expect-error it is not of any type
      const text: string = list.height
    })
    svc.transfer({ to: '', value: 1n }, (error, result) => {
      // @ts-expect-error there is no result yet
      const hash: string = result.hash
      if (error === null) return result.hash
      return error instanceof Error ? error.message : error.check_tx.log
    })
    svc.accounts.add({ address: '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27', signTx: () => new Uint8Array() })
    const numbers = [1n, '0x1', 1] as const
    for (const number of numbers) {
      void svc.async.governance.getParams(number)
      void svc.async.getBlock(number)
      void svc.async.getBlock({ block: number, limit: number, offset: number })
      svc.stake.validator.queryAccountUpdate(number, (error) => error)
      void svc.subscribe('newBlock', { from: number }, ({ height }) => height)
    }
    // @ts-expect-error it is none of the states
    void svc.async.governance.listProposals({ state: 'open?' })
    export const once = svc.async.transfer({ to: '', value: 1n }).then(({ hash }) => hash)`
  const SERVER = `
    export const start = (application: Application) =>
      startAbciServer({ application, address: '', onFatal: console.error })`
  const BOTH =
    "import { Svc } from '@svcd/client'\nimport { startAbciServer, type Application } from '@svcd/abci'\n" +
    `${SAMPLE}\n${SERVER}`
  const PAGE = `import { Svc } from '@svcd/client'\n${SAMPLE}`
  /** By the module resolution that they use; a page, and a program that TypeScript makes CommonJS, without Node's types. */
  const PROGRAMS = {
    bundler: { module: 'esnext', types: [], files: { 'page.ts': PAGE } },
    node10: { module: 'commonjs', types: [], files: { 'classic.ts': PAGE } },
    nodenext: {
      module: 'nodenext',
      types: ['node'],
      files: {
        'module.mts': BOTH,
        'commonJs.cts': BOTH,
        'client.mts': sampleOf('src/client/README.md'),
        'abci.mts': sampleOf('src/abci/README.md'),
        'abci.test.mts': sampleOf('src/abci/README.md', 1),
        'required.cts':
          "import client = require('@svcd/client')\nexport const svc = new client.Svc('http://127.0.0.1')",
      },
    },
  }
  type Kind = keyof typeof PROGRAMS
  const COMPILERS: readonly (readonly [string, string, readonly Kind[]])[] = [
    ['5.9', TYPESCRIPT_5, ['bundler', 'node10', 'nodenext']],
    // TypeScript 7 has no node10.
    ['7', join(checkout, 'node_modules/typescript/bin/tsc'), ['bundler', 'nodenext']],
  ]

  test.each(COMPILERS)(
    'have types for TypeScript %s, in strict pages, modules and CommonJS programs',
    (release, compiler, kinds) => {
      expect(runNode(developer, [compiler, '--version'])).toContain(`Version ${release}.`)
      for (const kind of kinds) {
        const { files, module, types } = PROGRAMS[kind]
        const options = {
          module,
          moduleResolution: kind,
          target: 'es2022',
          lib: ['es2022', ...(types.length === 0 ? ['dom'] : [])],
          types,
          ...STRICT,
        }
        write(join(developer, kind), { ...files, 'tsconfig.json': JSON.stringify({ compilerOptions: options }) })
        expect(outcomeOf(developer, [compiler, '-p', kind])).toEqual([0, ''])
      }
    },
  )
})

test('the plugin has types in a CommonJS program of TypeScript 5.9, where those of web3.js have', () => {
  write(developer, { 'plugin.ts': "export { SvcPlugin } from '@svcd/client/web3-plugin'" })
  const options = '--module commonjs --target es2022 --lib es2022,dom --strict --esModuleInterop --noEmit'.split(' ')
  expect(outcomeOf(developer, [TYPESCRIPT_5, 'plugin.ts', ...options])).toEqual([0, ''])
})

describe('@svcd/store', () => {
  const [sample, printed, snapshots] = examplesRunBy('test/e2e/package.test.ts', 'src/store/README.md').map(
    ({ code }) => code,
  ) as [string, string, string]

  test('has one library with native code, and nothing of the chain', () => {
    const own = join(ledger, 'node_modules/@svcd/store')
    const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { dependencies: object }
    expect(Object.keys(dependencies)).toEqual(['better-sqlite3', 'protobufjs', 'quick-lru', 'sorted-btree'])
    const native = installedIn(ledger).filter((path) => path.endsWith('.node'))
    expect(native.filter((path) => !path.startsWith('node_modules/better-sqlite3/'))).toEqual([])
    const files = globSync('dist/**/*.*', { cwd: own })
    expect(files.filter((path) => !/^dist\/(?:base|codec|store|values\/column)/.test(path))).toEqual([])
    const chain = /\bsvc\.|stak(?:e|ing)|candidac|validator|proposal|delegat|governance/i
    expect(files.filter((path) => chain.test(readFileSync(join(own, path), 'utf8')))).toEqual([])
  })

  test('is imported and required on Node 24 and 22', () => showExports(ledger, ['@svcd/store']))

  test("the samples of its README run as written on Node 24 and 22: a restart finds the state, and a second node's copy of it", () => {
    write(ledger, { 'ledger.mts': sample, 'snapshots.mts': snapshots })
    for (const node of userNodes()) {
      expect(runNode(ledger, ['ledger.mts'], node) + runNode(ledger, ['ledger.mts'], node)).toBe(printed)
      expect(runNode(ledger, ['snapshots.mts'], node)).toBe('restored block 2\n')
      for (const path of globSync('{state,joining,restore}.db*', { cwd: ledger })) rmSync(join(ledger, path))
      rmSync(join(ledger, 'snapshots'), { recursive: true })
    }
  })

  test.each([
    ['5.9', TYPESCRIPT_5],
    ['7', join(checkout, 'node_modules/typescript/bin/tsc')],
  ])('has types for TypeScript %s without those of its libraries, and its samples agree with them', (_, compiler) => {
    const options = { module: 'nodenext', target: 'es2022', lib: ['es2022'], types: ['node'], ...STRICT }
    write(ledger, {
      'types/ledger.mts': sample,
      'types/snapshots.mts': snapshots,
      'types/tsconfig.json': JSON.stringify({ compilerOptions: options }),
    })
    expect(outcomeOf(ledger, [compiler, '-p', 'types'])).toEqual([0, ''])
  })
})

describe('the examples', () => {
  test.each(['kvstore', 'counter', 'mempool'])(
    '%s installs from a checkout by the commands of its README, and starts',
    async (name) => {
      const root = join(folder, 'checkout')
      mkdirSync(join(root, 'examples'), { recursive: true })
      if (!existsSync(join(root, '.cache'))) symlinkSync(join(checkout, '.cache'), join(root, '.cache'))
      const example = join(root, 'examples', name)
      cpSync(join(checkout, 'examples', name), example, { recursive: true })
      const [{ code }] = examplesRunBy('test/e2e/package.test.ts', `examples/${name}/README.md`)
      const [pack, install = '', start] = code.trim().split('\n')
      // `published` has packed already, as the first command does.
      expect([pack, start]).toEqual(['npm run pack --prefix ../..', 'npm start'])
      execFileSync('sh', ['-c', `${install} --prefer-offline --no-audit --no-fund`], {
        cwd: example,
        env: { ...process.env, NODE_OPTIONS: '' },
      })
      const { scripts } = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8')) as {
        scripts: { start: string }
      }
      expect(scripts.start).toBe(`node ${name}.ts`)
      await (await startExample(example, name, `unix://${example}/abci.sock`, process.execPath, '.ts')).stop()
    },
  )
})

describe('the client for a page, minified and gzipped', () => {
  test.each([
    ['@svcd/client', developer],
    ['svcd/client', operator],
  ])(
    'of %s is under 64 kB with everything in one file, and under 48 kB where the bundler splits',
    async (name, project) => {
      const { first, later } = await bundle(project, name, false)
      expect(later).toBe('')
      expect(first).not.toContain('sodium')
      expect(gzipSync(first).length).toBeLessThan(64_000)

      const split = await bundle(project, name, true)
      expect(gzipSync(split.first).length).toBeLessThan(48_000)
      // Keystores and the verifier of proofs are loaded when they are called.
      expect(split.first).not.toContain('ics23')
      expect(split.later).toContain('ics23')
      expect(gzipSync(split.later).length).toBeLessThan(20_000)
    },
  )

  test('is built by Vite', () => {
    write(developer, {
      'vite/index.html': '<script type="module" src="./main.ts"></script>',
      'vite/main.ts': "import { Svc } from '@svcd/client'\nObject.assign(globalThis, { Svc })",
    })
    runNode(join(developer, 'vite'), [join(import.meta.dirname, '../../node_modules/vite/bin/vite.js'), 'build'])
    const assets = join(developer, 'vite/dist/assets')
    const first = readdirSync(assets).filter((name) => name.startsWith('index-'))
    expect(first).toHaveLength(1)
    expect(gzipSync(readFileSync(join(assets, first[0] as string))).length).toBeLessThan(48_000)
  })
})

test("the installed program makes a chain, on which README's sample and the client's run in an empty folder", async () => {
  const place = await makePlace(join(folder, '.svcd'))
  const net = await startDevnet(place, [], { ...process.env, NODE_OPTIONS: '' }, program)
  expect(await (await fetch(`${net.url}/`)).text()).toContain('<title>svcd</title>')
  const said = (page: string, node: string): string => {
    write(developer, { 'first.mts': sampleOf(page).replace('http://127.0.0.1:8545', net.url) })
    return runNode(developer, ['first.mts'], node)
  }
  for (const node of userNodes()) {
    expect(said('README.md', node)).toMatch(/^\d+ \[\n {2}\{/)
    expect(said('src/client/README.md', node)).toMatch(
      /^1 validators in block \d+\ntransaction [0-9A-F]{64} is in block [1-9]\d*$/im,
    )
  }

  // In Node too, the client reads proofs and rows with code that can do nothing else (`browser` in package.json).
  const light = await startLight(net.node.url, join(folder, 'light'))
  const targets = JSON.stringify({ url: net.url, light: light.url })
  const owner = (await net.call<readonly string[]>('svc_accounts'))[0]
  write(developer, {
    'verified.mjs': `
      import { Svc } from '@svcd/client'
      const svc = new Svc(${targets})
      const { data } = await svc.verified.stake.validator.query('${owner}')
      const { data: account } = await svc.verified.getBalance('${owner}')
      console.log(data.owner_address, BigInt(account.balance) > 0n)`,
  })
  expect(runNode(developer, ['verified.mjs'])).toBe(`${owner} true\n`)
  await light.stop()
  expect((await net.stop('SIGINT', true)).status).toBe(0)
})
