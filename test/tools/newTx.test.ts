import { cpSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { newTx } from '../../tools/new-tx.ts'
import { tempFolder } from '../support/tempFolder.ts'

const project = join(import.meta.dirname, '../..')
let root = ''
let remove: () => void
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

beforeEach(() => {
  ;({ path: root, remove } = tempFolder('new-tx'))
  cpSync(join(project, 'proto/svc'), join(root, 'proto/svc'), { recursive: true })
  for (const folder of ['src/base', 'src/tx', 'src/values', 'src/modules', 'test/modules', 'test/support'])
    cpSync(join(project, folder), join(root, folder), { recursive: true })
})
afterEach(() => remove())

test('a new transaction type is five files: two of proto, the operation, the registry and its test', () => {
  expect(newTx(root, 'accounts', 'burnCoins')).toEqual([
    'proto/svc/accounts.proto',
    'proto/svc/tx.proto',
    'src/modules/accounts/tx/burnCoins.ts',
    'src/modules/registry.ts',
    'test/modules/accounts/burnCoins.test.ts',
  ])
  expect(read('proto/svc/accounts.proto')).toContain('\nmessage BurnCoins {\n')
  const [last, added] = [...read('proto/svc/tx.proto').matchAll(/svc\.accounts\.(\w+) \w+ = (\d+);/g)].slice(-2)
  expect([added?.[1], Number(added?.[2])]).toEqual(['BurnCoins', Number(last?.[2]) + 1])
  expect(read('src/modules/registry.ts')).toMatch(/import \{ burnCoins \} from '.\/accounts\/tx\/burnCoins.ts'\n/)
  expect(read('src/modules/registry.ts')).toMatch(/: readonly TxEntry\[\] = \[\n(?: {2}\w+,\n)+ {2}burnCoins,\n\]/)
})

test('what the skeleton imports is there', () => {
  for (const path of newTx(root, 'stake', 'slashAll').filter(
    (one) => one.endsWith('slashAll.ts') || /test/.test(one),
  )) {
    const imported = [...read(path).matchAll(/from '(\..*)'/g)].map(([, target]) =>
      join(root, dirname(path), target as string),
    )
    expect(imported.length).toBeGreaterThan(1)
    expect(imported.filter((target) => !existsSync(target))).toEqual([])
  }
})

test.each([
  ['nowhere', 'burn'],
  ['../accounts', 'burn'],
  ['accounts', 'Burn'],
  ['accounts', 'transfer'],
])('%s %s is refused and writes nothing', (module, name) => {
  const before = read('src/modules/registry.ts')
  expect(() => newTx(root, module, name)).toThrow()
  expect(read('src/modules/registry.ts')).toBe(before)
})
