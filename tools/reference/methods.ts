import { methods } from '../../src/gateway/rpc/methods/list.ts'
import { queryEntries, txEntries } from '../../src/modules/registry.ts'
import { type Fields, typedFieldsOf } from '../../src/tx/fields.ts'
import { typedDataOf } from '../../src/tx/typedData.ts'
import { table } from './markdown.ts'

const namesOf = (input: Fields): string =>
  Object.entries(input)
    .map(([name, { optional }]) => (optional ? `${name}?` : name))
    .join(', ') || '–'

/** Every JSON-RPC method of the gateway, in the order of `rpc.discover`. */
export function methodsTable(): string {
  const calls = new Map(txEntries.map(({ method, call }) => [method, `\`web3.svc.${call}\``]))
  return table(
    ['Method', 'Parameters', 'What it does'],
    methods.map(({ name, input, doc }) => [
      `\`${name}\``,
      namesOf(input),
      calls.has(name) ? `${doc} ${calls.get(name)}` : doc,
    ]),
  )
}

/** The form of each field of an operation; a field with one form in several operations is listed once. */
export function fieldsTable(): string {
  const users = new Map<string, { name: string; doc: string; methods: string[] }>()
  const add = (method: string, input: Fields, within: string): void => {
    for (const [name, { doc, fields = {} }] of Object.entries(input)) {
      const path = `${within}${name}`
      const key = `${path}\n${doc}`
      const found = users.get(key) ?? { name: path, doc, methods: [] }
      users.set(key, found)
      found.methods.push(`\`${method}\``)
      add(method, fields, `${path}.`)
    }
  }
  for (const { method, input } of txEntries) add(method, input, '')
  return table(
    ['Field', 'Form', 'Methods'],
    [...users.values()].map(({ name, doc, methods: of }) => [`\`${name}\``, doc, of.join(', ')]),
  )
}

/** A message with every field, whose values do not matter. */
const everyField = (input: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(input).map(([name, { fields }]) => [name, fields ? everyField(fields) : '']))

/** The fields that may be left out, of an operation and of the objects in it. */
const optionalNames = (input: Fields): readonly string[] =>
  Object.entries(input).flatMap(([name, { optional, fields = {} }]) => [
    ...(optional ? [name] : []),
    ...optionalNames(fields),
  ])

/** The EIP-712 type of each operation, as `typedDataOf` makes it when every field is given. */
export const typedDataTable = (): string =>
  table(
    ['Operation', 'Type'],
    txEntries.map(({ operation, input }) => {
      const body = { chainId: '', from: new Uint8Array(20), nonce: 0, operation, message: everyField(input) }
      const { types } = typedDataOf(typedFieldsOf(input), body)
      const optional = optionalNames(input)
      const shown = Object.entries(types)
        .filter(([name]) => name !== 'EIP712Domain')
        .map(([name, members]) => {
          const list = members.map((one) => `${one.type} ${one.name}${optional.includes(one.name) ? '?' : ''}`)
          return `\`${name}(${list.join(',')})\``
        })
      return [`\`${operation}\``, shown.join(' ')]
    }),
  )

/** Every path of abci_query that the chain answers, and the method that asks it. */
export const pathsTable = (): string =>
  table(
    ['Path', 'Options', 'Method', 'What it answers'],
    queryEntries.map(({ path, input, method, doc }) => [
      `\`${path}\``,
      Object.entries(input)
        .flatMap(([name, { optional }]) => (optional ? [`\`${name}\``] : []))
        .join(', ') || '–',
      method === undefined ? '–' : `\`${method}\``,
      doc,
    ]),
  )
