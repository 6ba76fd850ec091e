import { addressField, type OperationPage, pieceOf, tokens } from './operation.ts'
import { piece } from '../pieces.ts'

export const transfer: OperationPage<'transfer'> = {
  title: 'Transfer',
  words: (message) => ['send ', pieceOf('tokens', message, 'value'), ' to ', pieceOf('account', message, 'to')],
  happened: ({ value, to }) => ['sent ', piece('tokens', value), ' to ', piece('account', to)],
  sentence: ({ value, to }) => `Send ${tokens(value)} to ${to}.`,
  outflow: ({ value }) => ({ name: 'Payment', units: BigInt(value) }),
  fields: { to: addressField('To'), value: { label: 'Amount' } },
}
