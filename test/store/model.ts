export { random } from '../../src/abci/testing/random.ts'
import { compareBytes, concat } from '../../src/base/bytes.ts'
import type { Scan, State } from '../../src/store/state.ts'
import type { RowOf, Table } from '../../src/store/table.ts'
import {
  absences,
  accounts,
  addressAt,
  letters,
  members,
  notes,
  params,
  proposalIdAt,
  pubKeyAt,
  tables,
  totals,
  votes,
} from './tables.ts'

/** The naive state: one map, everything sorted anew at each question. */
export interface Model {
  readonly rows: Map<string, { readonly table: Table; readonly key: Uint8Array; readonly row: object }>
}

export const makeModel = (rows: Model['rows'] = new Map()): Model => ({ rows: new Map(rows) })

const nameOf = (table: Table, key: Uint8Array): string => `${table.name}/${Buffer.from(key).toString('hex')}`

export function modelPut(model: Model, asked: unknown, row: object): void {
  const table = asked as Table
  const key = table.keyOf(row)
  if (table.isDefault(row)) model.rows.delete(nameOf(table, key))
  else model.rows.set(nameOf(table, key), { table, key, row })
}

export function modelRemove(model: Model, asked: unknown, key: object): void {
  const table = asked as Table
  model.rows.delete(nameOf(table, table.keyOf(key)))
}

export const modelGet = (model: Model, asked: unknown, key: object): object | undefined =>
  model.rows.get(nameOf(asked as Table, (asked as Table).keyOf(key)))?.row

export function modelScan(
  model: Model,
  asked: unknown,
  { index, prefix, before, reverse = false }: Scan<string> = {},
): object[] {
  const table = asked as Table
  const found: { at: Uint8Array; row: object }[] = []
  for (const entry of model.rows.values()) {
    if (entry.table !== table) continue
    const tail = entry.key.subarray(1)
    const key = index === undefined ? new Uint8Array(0) : table.indexes[index]?.(entry.row)
    if (key === undefined) continue
    const at = concat(key, tail)
    if (prefix !== undefined && compareBytes(at.subarray(0, prefix.length), prefix) !== 0) continue
    if (before === undefined || compareBytes(at, before) < 0) found.push({ at, row: entry.row })
  }
  found.sort((a, b) => compareBytes(a.at, b.at))
  return (reverse ? found.reverse() : found).map(({ row }) => row)
}

const answers = ['', 'Y', 'N', 'Ya']

/** A row of a random table, from few enough keys that rows meet again. */
export function randomRow(next: (below: number) => number): { readonly table: Table; readonly row: object } {
  const makers: readonly (() => { table: unknown; row: object })[] = [
    () => ({
      table: accounts,
      row: {
        address: addressAt(next(40)),
        balance: BigInt(next(3)) * 10n ** BigInt(next(36)),
        nonce: next(2) === 0 ? 0 : next(2 ** 31),
      },
    }),
    () => ({
      table: absences,
      row: { candidacyId: next(30) + (next(4) === 0 ? Number.MAX_SAFE_INTEGER - 30 : 0), count: next(60) },
    }),
    () => ({ table: members, row: { pubKey: pubKeyAt(next(20)), candidacyId: next(20), lastHeight: next(3) } }),
    () => ({
      table: votes,
      row: {
        proposalId: proposalIdAt(next(5)),
        candidacyId: next(8),
        voter: next(3) === 0 ? '' : addressAt(next(4)),
        answer: answers[next(4)],
        blockHeight: next(3) * 300,
      },
    }),
    () => ({
      table: params,
      row: { name: ['a', 'ab', 'gas price', 'é'][next(4)], height: next(4), value: next(3) === 0 ? '' : `v${next(9)}` },
    }),
    () => ({ table: letters, row: { id: next(6), value: 'abcdef'[next(6)] as string } }),
    () => ({ table: totals, row: { genesisSupply: BigInt(next(2)), minted: BigInt(next(3)), burned: 0n } }),
    () => ({ table: notes, row: { id: next(10), verified: next(2) === 0, name: next(2) === 0 ? '' : 'note' } }),
  ]
  return (makers[next(makers.length)] as () => { table: Table; row: object })()
}

/** Writes one random thing into both. */
export function step(next: (below: number) => number, state: State, model: Model): void {
  const { table, row } = randomRow(next)
  const remove = (key: object): void => {
    state.remove(table, key)
    modelRemove(model, table, key)
  }
  if (next(4) === 0) remove(row)
  else {
    if ((table as unknown) === letters)
      for (const held of modelScan(model, letters) as RowOf<typeof letters>[])
        if (held.value === (row as typeof held).value) remove(held)
    state.put(table, row)
    modelPut(model, table, row)
  }
}

/** Questions of every kind about every table: what `state` and the model answer. */
export function* questions(next: (below: number) => number): Generator<Scan<string> & { table: Table }> {
  for (const asked of tables) {
    const table = asked as unknown as Table
    for (const index of [undefined, ...Object.keys(table.indexes)]) {
      for (const reverse of [false, true]) {
        yield { table, ...(index === undefined ? {} : { index }), reverse }
        const { table: other, row } = randomRow(next)
        const place =
          other === table
            ? concat(
                index === undefined ? new Uint8Array(0) : (table.indexes[index]?.(row) ?? new Uint8Array(0)),
                table.keyOf(row).subarray(1),
              )
            : Uint8Array.of(next(2))
        const prefix = place.subarray(0, next(place.length + 1))
        yield { table, ...(index === undefined ? {} : { index }), prefix, reverse }
        if (index === undefined) continue
        yield { table, index, before: place, reverse }
        yield { table, index, prefix, before: place.subarray(0, next(place.length + 1)), reverse }
      }
    }
  }
}
