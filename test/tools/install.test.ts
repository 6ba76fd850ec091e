import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../support/tempFolder.ts'

const INSTALL = join(import.meta.dirname, '../../tools/install.js')
const folder = tempFolder('install')

const write = (path: string, value: unknown): void => writeFileSync(join(folder.path, path), JSON.stringify(value))

/** A project that needs one package for this machine and one for another, both from files beside it. */
const lock = (integrity?: string) => {
  const dependencies = { here: 'file:here-1.0.0.tgz' }
  const optionalDependencies = { there: 'file:there-1.0.0.tgz' }
  write('package.json', { name: 'project', type: 'module', dependencies, optionalDependencies })
  write('package-lock.json', {
    name: 'project',
    lockfileVersion: 3,
    packages: {
      '': { name: 'project', dependencies, optionalDependencies },
      'node_modules/here': { version: '1.0.0', resolved: 'file:here-1.0.0.tgz', integrity },
      'node_modules/there': { version: '1.0.0', resolved: 'file:there-1.0.0.tgz', optional: true, os: ['aix'] },
    },
  })
}

const install = () =>
  spawnSync(process.execPath, [join(folder.path, 'tools/install.js')], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', npm_config_cache: join(folder.path, 'cache'), npm_config_offline: 'true' },
  })

beforeAll(() => {
  mkdirSync(join(folder.path, 'tools'))
  copyFileSync(INSTALL, join(folder.path, 'tools/install.js'))
  for (const [name, os] of [
    ['here', undefined],
    ['there', ['aix']],
  ] as const) {
    mkdirSync(join(folder.path, name))
    write(join(name, 'package.json'), { name, version: '1.0.0', os })
    execFileSync('npm', ['pack', '--silent', `./${name}`], {
      cwd: folder.path,
      env: { ...process.env, NODE_OPTIONS: '' },
    })
  }
})

afterAll(() => folder.remove())

test('a package that cannot be installed ends it with the status and the words of npm', () => {
  lock('sha512-AAAA')
  const { status, stderr } = install()
  expect(status).toBeGreaterThan(0)
  expect(stderr).toContain('EINTEGRITY')
})

test('it counts the packages of this machine alone, installs them and ends with the time', () => {
  lock()
  const { status, stdout, stderr } = install()
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^Installing packages …\n\[\.{24}\] 0 of 1 packages, waiting for here, \d+ s\n/)
  expect(stdout).toMatch(/\[#{24}\] 1 of 1 packages, \d+ s\n/)
  expect(stdout).toMatch(/installed in \d+ s\n$/)
  expect(existsSync(join(folder.path, 'node_modules/here/package.json'))).toBe(true)
})
