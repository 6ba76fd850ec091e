import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { completed, LOCKFILES, type Lockfile, missingOptionals, platformOf, resolvedOf } from '../../tools/lockfile.ts'

const lockOf = (name: string): Lockfile =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', name), 'utf8')) as Lockfile
const lock = lockOf('package-lock.json')

describe.each(LOCKFILES)('%s', (name) => {
  const { packages } = lockOf(name)
  test('every optional dependency has an entry, or npm ci stops on other platforms (run: node tools/lockfile.ts)', () => {
    expect(missingOptionals({ packages })).toEqual([])
  })

  test('every entry names its file in the public registry, or npm asks for it (run: node tools/lockfile.ts)', () => {
    const others = Object.entries(packages).filter(
      ([folder, entry]) => folder !== '' && entry.resolved !== resolvedOf(folder, entry),
    )
    expect(others.map(([folder]) => folder)).toEqual([])
  })
})

describe('what npm left out', () => {
  test('an entry taken away is missed, and comes back for the same machines', () => {
    const name = '@swc/core-linux-arm64-musl'
    const { [`node_modules/${name}`]: gone, ...rest } = lock.packages
    expect(missingOptionals({ packages: rest })).toEqual([
      { from: 'node_modules/@swc/core', name, version: gone?.version },
    ])
    const back = completed({ packages: rest })
    const { version, os, cpu, libc } = gone ?? {}
    expect(back.packages[`node_modules/${name}`]).toMatchObject({ version, os, cpu, libc, dev: true, optional: true })
    expect(Object.keys(back.packages)).toEqual(Object.keys(lock.packages))
  })

  test('the name tells the machines as the registry does', () => {
    const wrong = Object.entries(lock.packages).filter(([path, { os, cpu, integrity }]) => {
      // Nothing in its name says that it is for macOS.
      if (path === 'node_modules/fsevents') return false
      const told = platformOf(path.replace(/^.*node_modules\//, ''))
      return (
        integrity !== undefined &&
        (os ?? cpu) !== undefined &&
        JSON.stringify([told.os, told.cpu]) !== JSON.stringify([os, cpu])
      )
    })
    expect(wrong.map(([path]) => path)).toEqual([])
  })

  test('a version range and a name without a platform are refused', () => {
    const asking = (optionalDependencies: Record<string, string>): Lockfile => ({
      packages: { '': { optionalDependencies } },
    })
    expect(() => completed(asking({ 'x-linux-x64': '^1.0.0' }))).toThrow('an exact version is needed')
    expect(() => completed(asking({ fsevents: '2.3.3' }))).toThrow('its name tells no platform')
  })
})
