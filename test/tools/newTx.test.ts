import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { txEntries } from '../../src/modules/registry.ts'
import { writeLists } from '../../tools/gen-lists.ts'
import { upper } from '../../tools/names.ts'
import { newQuery } from '../../tools/new-query.ts'
import { newTx } from '../../tools/new-tx.ts'
import { SkeletonError } from '../../tools/skeleton/write.ts'
import { tempFolder } from '../support/tempFolder.ts'

const project = join(import.meta.dirname, '../..')
let root = ''
let remove: () => void
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

beforeEach(() => {
  ;({ path: root, remove } = tempFolder('new-tx'))
  for (const part of [
    ...['base', 'store', 'tx', 'values', 'modules', 'dashboard', 'gateway'].map((folder) => `src/${folder}`),
    ...['test/modules', 'test/support', 'proto/svc'],
  ])
    cpSync(join(project, part), join(root, part), { recursive: true })
})
afterEach(() => remove())

test('a new transaction type is five files: the operation, its page file, its test, and two of messages', () => {
  expect(newTx(root, 'accounts', 'burnCoins')).toEqual([
    'proto/svc/accounts.proto',
    'proto/svc/tx.proto',
    'src/modules/accounts/tx/burnCoins.ts',
    'src/dashboard/operations/burnCoins.ts',
    'test/modules/accounts/burnCoins.test.ts',
  ])
  expect(read('proto/svc/accounts.proto')).toContain('\nmessage BurnCoins {\n')
  const [last, added] = [...read('proto/svc/tx.proto').matchAll(/svc\.accounts\.(\w+) \w+ = (\d+);/g)].slice(-2)
  expect([added?.[1], Number(added?.[2])]).toEqual(['BurnCoins', Number(last?.[2]) + 1])
  writeLists(root)
  expect(read('src/modules/gen/operations.ts')).toMatch(/: readonly TxEntry\[\] = \[\n(?: {2}\w+,\n)+ {2}burnCoins,\n/)
})

test('the event of an operation is named as the protocol names those of its folder', () => {
  const prefixes = new Set(txEntries.map(({ event: { type } }) => type.replace(/\w+$/, '')))
  for (const module of ['accounts', 'delegation', 'governance', 'stake']) {
    const name = `burn${upper(module)}`
    newTx(root, module, name)
    const [, prefix = ''] =
      new RegExp(`'(svc\\.\\w+\\.)${name}'`).exec(read(`src/modules/${module}/tx/${name}.ts`)) ?? []
    expect([module, [...prefixes]]).toEqual([module, expect.arrayContaining([prefix])])
    expect(read(`test/modules/${module}/${name}.test.ts`)).toContain(`\`${prefix}${name} sender=`)
  }
})

test('a kind of proposal is five files: the kind, its page file, its test, and two of messages', () => {
  expect(newTx(root, 'governance', 'proposeRaiseLimit')).toEqual([
    'proto/svc/governance.proto',
    'proto/svc/tx.proto',
    'src/modules/governance/proposals/raiseLimit.ts',
    'src/dashboard/proposals/raiseLimit.tsx',
    'test/modules/governance/raiseLimit.test.ts',
  ])
  writeLists(root)
  // Errors name the kinds of the interface first, and then the others by name.
  expect(read('src/modules/gen/proposalTypes.ts')).toContain(
    "['transfer_fund', 'change_param', 'deploy_libeni', 'raise_limit', 'retire_program'] as const",
  )
  expect(read('src/modules/gen/proposalKinds.ts')).toContain('  raise_limit: raiseLimit,\n')
  expect(read('src/dashboard/proposals/gen/pages.ts')).toContain('  raise_limit: raiseLimit,\n')
})

test('a query is a file and its test', () => {
  expect(newQuery(root, 'accounts', 'topHolders')).toEqual([
    'src/modules/accounts/queries/topHolders.ts',
    'test/modules/accounts/topHolders.test.ts',
  ])
  writeLists(root)
  expect(read('src/modules/gen/queries.ts')).toContain('  queryTopHolders,\n')
  const query = read('src/modules/accounts/queries/topHolders.ts')
  expect(query).toContain("  method: 'svc_queryTopHolders',\n  path: '/accounts/top-holders',\n")
  newQuery(root, 'stake', 'jailed')
  expect(read('src/modules/stake/queries/jailed.ts')).toContain(
    "  call: 'stake.queryJailed',\n  path: '/stake/jailed',\n",
  )
})

test('an operation and its member of TxBody go together', () => {
  newTx(root, 'accounts', 'burnCoins')
  const [file, proto] = ['src/modules/accounts/tx/burnCoins.ts', 'proto/svc/tx.proto']
  const [operation, members] = [read(file), read(proto)]
  rmSync(join(root, file))
  expect(() => writeLists(root)).toThrow('proto/svc/tx.proto: no file of src/modules/accounts declares burnCoins')
  writeFileSync(join(root, file), operation)
  writeFileSync(join(root, proto), members.replace(/^.* burn_coins = .*\n/m, ''))
  expect(() => writeLists(root)).toThrow(`${file}: TxBody of proto/svc/tx.proto has no member for burnCoins`)
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
    const imported = [...read(path).matchAll(/^import (?:type )?\{(.*)\} from '(\..*)'/gm)].flatMap(
      ([, names = '', from = '']) =>
        names.split(',').map((name) => [join(dirname(path), from), name.replace('type ', '').trim()] as const),
    )
    expect(imported).not.toEqual([])
    const isThere = ([target, name]: readonly [string, string]): boolean =>
      existsSync(join(root, target)) && new RegExp(`^export [^=(]*\\b${name}\\b`, 'm').test(read(target))
    expect(imported.filter((one) => !isThere(one))).toEqual([])
  }
})

const refusals: readonly (readonly [typeof newTx, string, string, RegExp])[] = [
  [newTx, 'nowhere', 'burn', /^nowhere: expected a module/],
  [newTx, '../accounts', 'burn', /^\.\.\/accounts: expected a module/],
  [newTx, 'accounts', 'Burn', /^Burn: expected a name/],
  [newTx, 'accounts', 'transfer', /transfer\.ts exists$/],
  [newTx, 'governance', 'proposeTransferFund', /transferFund\.ts exists$/],
  [newTx, 'accounts', 'delete', /tx\/delete\.ts: Unexpected token 'delete'; choose another name$/],
  [newTx, 'accounts', 'await', /tx\/await\.ts: /],
  [newTx, 'accounts', 'field', /tx\/field\.ts: Identifier 'field' has already been declared; choose another name$/],
  [newTx, 'accounts', 'amount', /'amount' has already been declared/],
  [newTx, 'accounts', 'effects', /'effects' has already been declared/],
  [newTx, 'accounts', 'getBalance', /methods\/queries\.ts has svc_getBalance; choose another name$/],
  [newTx, 'stake', 'description', /^proto\/svc\/stake\.proto has Description; choose another name$/],
  [newTx, 'governance', 'proposeDelete', /proposals\/delete\.ts: Unexpected token 'delete'/],
  [newTx, 'governance', 'proposeRecord', /'record' has already been declared/],
  [newTx, 'governance', 'proposeText', /'text' has already been declared/],
  [newQuery, 'nowhere', 'richest', /^nowhere: expected a module/],
  [newQuery, '../modules/accounts', 'richest', /^\.\.\/modules\/accounts: expected a module/],
  [newQuery, 'registry.ts', 'richest', /^registry\.ts: expected a module/],
  [newQuery, 'accounts', 'top-holders', /^top-holders: expected a name/],
  // The command, the path, and the name in the registry of another query.
  [newQuery, 'accounts', 'balance', /methods\/queries\.ts has svc_getBalance; choose another name$/],
  [newQuery, 'stake', 'set', /stake\/queries\.ts has \/stake\/set; choose another name$/],
  [newQuery, 'accounts', 'account', /has queryAccount; choose another name$/],
]
test('new:proposal without a name prints how it is used, and writes nothing', () => {
  cpSync(join(project, 'tools'), join(root, 'tools'), { recursive: true })
  const before = read('proto/svc/tx.proto')
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'tools/new-proposal.ts')], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/\nUsage: npm run new:proposal <name>, as in raiseLimit\n$/),
  ])
  expect(read('proto/svc/tx.proto')).toBe(before)
})

test('what no skeleton can be written for is refused, and nothing is written', () => {
  const before = read('proto/svc/tx.proto')
  for (const [generate, module, name, why] of refusals) {
    const refused = expect.objectContaining({ message: expect.stringMatching(why) })
    let thrown: unknown
    try {
      generate(root, module, name)
    } catch (error) {
      thrown = error
    }
    expect([module, name, thrown instanceof SkeletonError, thrown]).toEqual([module, name, true, refused])
    expect([module, name, read('proto/svc/tx.proto')]).toEqual([module, name, before])
  }
})
