import { expect, test } from '@jest/globals'
import { printRow, stateKey } from '../../src/client/light/rows.ts'
import { type ChainTable, tables } from '../../src/modules/registry.ts'
import { proposalId, pubKey } from '../../src/values/pubKey.ts'
import { ROWS } from '../vectors/cases.ts'

type Values = Readonly<Record<string, unknown>>

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const urlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** A row's key as the path `/store/<table>/<key>` has it. */
const keyText = ({ key }: ChainTable, row: Values): string =>
  Object.entries(key)
    .map(([name, column]) =>
      (column as unknown) === pubKey || (column as unknown) === proposalId
        ? urlSafe(column.print(row[name]))
        : String(row[name]),
    )
    .join('/')

/** A row as the client prints it, said by the columns of the table. */
const printed = ({ key, row: columns }: ChainTable, row: Values): Values =>
  Object.fromEntries(
    Object.entries({ ...key, ...columns }).map(([name, column]) => [snake(name), column.toJson(row[name])]),
  )

test('the client reads every table of the state and no other', () => {
  const hashed = tables.filter(({ hashed: isHashed }) => isHashed).map(({ name }) => name as string)
  expect([...new Set(ROWS.map(([{ name }]) => name))].sort()).toEqual([...hashed].sort())
  for (const [table, row] of ROWS as readonly (readonly [ChainTable, object])[]) {
    const values = row as Values
    expect([table.name, stateKey(table.name, keyText(table, values))]).toEqual([table.name, table.keyOf(row)])
    expect([table.name, printRow(table.name, table.keyOf(row), table.encode(row))]).toEqual([
      table.name,
      printed(table, values),
    ])
  }
  for (const name of ['library_status', 'power_cap', 'nothing', '']) expect(stateKey(name, '1')).toBeUndefined()
})

test('what is no key of a table has no state key', () => {
  for (const [table, key] of [
    ['accounts', '0x12'],
    ['accounts', ''],
    ['candidacies', '01'],
    ['candidacies', '-1'],
    ['candidacies', '1/2'],
    ['candidacies', '9007199254740993'],
    ['proposals', 'AAAA'],
    ['params', 'max_vals'],
    ['params', '/1'],
    ['totals', '1'],
  ] as const)
    expect([table, key, stateKey(table, key)]).toEqual([table, key, undefined])
})
