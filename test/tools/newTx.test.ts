import { cpSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { newQuery } from '../../tools/new-query.ts'
import { newTx } from '../../tools/new-tx.ts'
import { SkeletonError } from '../../tools/skeleton/edits.ts'
import { tempFolder } from '../support/tempFolder.ts'

const project = join(import.meta.dirname, '../..')
let root = ''
let remove: () => void
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

beforeEach(() => {
  ;({ path: root, remove } = tempFolder('new-tx'))
  for (const part of [
    ...['base', 'store', 'tx', 'values', 'modules', 'dashboard', 'gateway'].map((folder) => `src/${folder}`),
    ...['test/modules', 'test/support', 'test/dashboard', 'proto/svc', 'tools/record-examples.ts'],
  ])
    cpSync(join(project, part), join(root, part), { recursive: true })
})
afterEach(() => remove())

test('a new transaction type is ten files, three of them new: the operation, its page file and its test', () => {
  expect(newTx(root, 'accounts', 'burnCoins')).toEqual([
    'proto/svc/accounts.proto',
    'proto/svc/tx.proto',
    'src/modules/registry.ts',
    'src/dashboard/operations/index.ts',
    'src/dashboard/events.ts',
    'test/dashboard/operations.test.ts',
    'tools/record-examples.ts',
    'src/modules/accounts/tx/burnCoins.ts',
    'src/dashboard/operations/burnCoins.ts',
    'test/modules/accounts/burnCoins.test.ts',
  ])
  expect(read('proto/svc/accounts.proto')).toContain('\nmessage BurnCoins {\n')
  const [last, added] = [...read('proto/svc/tx.proto').matchAll(/svc\.accounts\.(\w+) \w+ = (\d+);/g)].slice(-2)
  expect([added?.[1], Number(added?.[2])]).toEqual(['BurnCoins', Number(last?.[2]) + 1])
  expect(read('src/modules/registry.ts')).toMatch(/import \{ burnCoins \} from '.\/accounts\/tx\/burnCoins.ts'\n/)
  expect(read('src/modules/registry.ts')).toMatch(/: readonly TxEntry\[\] = \[\n(?: {2}\w+,\n)+ {2}burnCoins,\n\]/)
})

test('a kind of proposal is a file in proposals/, its line in each list of kinds, and its test', () => {
  expect(newTx(root, 'governance', 'proposeRaiseLimit').filter((path) => path.startsWith('src/modules/'))).toEqual([
    'src/modules/registry.ts',
    'src/modules/governance/block.ts',
    'src/modules/governance/tables.ts',
    'src/modules/governance/proposals/raiseLimit.ts',
  ])
  expect(read('src/modules/governance/block.ts')).toMatch(
    / {2}transfer_fund: transferFund,\n {2}raise_limit: raiseLimit,\n\}/,
  )
  expect(read('src/modules/governance/tables.ts')).toContain("'retire_program', 'raise_limit'] as const")
  expect(read('tools/record-examples.ts')).toContain("await record('svc_proposeRaiseLimit', { from: owner,")
})

test('a query is a file, its test, and a line in the registry', () => {
  expect(newQuery(root, 'accounts', 'topHolders')).toEqual([
    'src/modules/registry.ts',
    'src/modules/accounts/queries/topHolders.ts',
    'test/modules/accounts/topHolders.test.ts',
  ])
  expect(read('src/modules/registry.ts')).toMatch(
    /import \{ queryTopHolders \} from '.\/accounts\/queries\/topHolders.ts'\n/,
  )
  expect(read('src/modules/registry.ts')).toMatch(
    /: readonly QueryEntry\[\] = \[\n(?: {2}(?:\.{3})?\w+,\n)+ {2}queryTopHolders,\n\]/,
  )
  const query = read('src/modules/accounts/queries/topHolders.ts')
  expect(query).toContain("  method: 'svc_queryTopHolders',\n  path: '/accounts/top-holders',\n")
  newQuery(root, 'stake', 'jailed')
  expect(read('src/modules/stake/queries/jailed.ts')).toContain(
    "  call: 'stake.queryJailed',\n  path: '/stake/jailed',\n",
  )
})

test.each([
  [newTx, 'stake', 'slashAll', 'slashAll'],
  [newTx, 'governance', 'proposeRaiseLimit', 'raiseLimit'],
  [newQuery, 'accounts', 'richest', 'richest'],
  [newQuery, 'params', 'changed', 'changed'],
])('what the skeleton of %p %s %s imports is there', (generate, module, name, file) => {
  for (const path of generate(root, module, name).filter(
    (one) => one.endsWith(`/${file}.ts`) || one.endsWith(`/${file}.test.ts`),
  )) {
    const imported = [...read(path).matchAll(/from '(\..*)'/g)].map(([, target]) =>
      join(root, dirname(path), target as string),
    )
    expect(imported).not.toEqual([])
    expect(imported.filter((target) => !existsSync(target))).toEqual([])
  }
})

test.each([
  [newTx, 'nowhere', 'burn', /^nowhere: expected a module/],
  [newTx, '../accounts', 'burn', /^\.\.\/accounts: expected a module/],
  [newTx, 'accounts', 'Burn', /^Burn: expected a name/],
  [newTx, 'accounts', 'transfer', /transfer\.ts exists$/],
  [newTx, 'governance', 'proposeTransferFund', /transferFund\.ts exists$/],
  [newQuery, 'nowhere', 'richest', /^nowhere: expected a module/],
  [newQuery, '../modules/accounts', 'richest', /^\.\.\/modules\/accounts: expected a module/],
  [newQuery, 'registry.ts', 'richest', /^registry\.ts: expected a module/],
  [newQuery, 'accounts', 'top-holders', /^top-holders: expected a name/],
  // The command, the path, and the name in the registry of another query.
  [newQuery, 'accounts', 'balance', /methods\/queries\.ts has svc_getBalance; choose another name$/],
  [newQuery, 'stake', 'set', /stake\/queries\.ts has \/stake\/set; choose another name$/],
  [newQuery, 'accounts', 'account', /has queryAccount; choose another name$/],
])('%p %s %s is refused and writes nothing', (generate, module, name, why) => {
  const before = read('src/modules/registry.ts')
  let thrown: unknown
  try {
    generate(root, module, name)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(SkeletonError)
  expect((thrown as Error).message).toMatch(why)
  expect(read('src/modules/registry.ts')).toBe(before)
})
