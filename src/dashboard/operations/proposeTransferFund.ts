import { escrowOf } from '../../modules/outflow.ts'
import { addressField, expiringFields, type OperationPage, pieceOf, tokens } from './operation.ts'

/** Proposes a payment. */
export const proposeTransferFund: OperationPage<'proposeTransferFund'> = {
  title: 'Propose a payment',
  words: (message) => [
    'propose to pay ',
    pieceOf('tokens', message, 'amount'),
    ' from ',
    pieceOf('account', message, 'transferFrom'),
    ' to ',
    pieceOf('account', message, 'transferTo'),
  ],
  sentence: ({ amount, transferFrom, transferTo }) =>
    `Propose to pay ${tokens(amount)} from ${transferFrom} to ${transferTo}.`,
  outflow: ({ amount, transferFrom }, { from }) => {
    const units = escrowOf(transferFrom.toLowerCase(), from, BigInt(amount))
    return units === 0n ? undefined : { name: 'Held until the proposal is decided', units }
  },
  fields: {
    transferFrom: { label: 'From', hint: 'your own account, or a present or earlier hold_account' },
    transferTo: addressField('To'),
    amount: { label: 'Amount' },
    ...expiringFields,
  },
}
