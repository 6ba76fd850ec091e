import type { Facts } from '../wallet/facts.ts'
import { expiringFields, type OperationPage, pieceOf } from './operation.ts'

/** The value of a parameter today. */
export const valueToday = (params: Facts['params'], name: string): string =>
  String((params as Readonly<Record<string, unknown>>)[name] ?? '?')

/** Proposes a new value of a parameter. */
export const proposeChangeParam: OperationPage<'proposeChangeParam'> = {
  title: 'Propose a parameter',
  words: (message) => [
    'propose to set ',
    pieceOf('parameter', message, 'name'),
    ' to ',
    pieceOf('stranger', message, 'value'),
  ],
  sentence: ({ name, value }, { params }) => `Propose to set ${name} from ${valueToday(params, name)} to ${value}.`,
  fields: { name: { label: 'Parameter' }, value: { label: 'New value' }, ...expiringFields },
}
