import { piece } from '../pieces.ts'
import { addressField, type OperationPage, pieceOf, stakeOf, tokens } from './operation.ts'

export const delegate: OperationPage<'delegate'> = {
  title: 'Stake',
  words: (message) => [
    'stake ',
    pieceOf('tokens', message, 'amount'),
    ' with ',
    pieceOf('validator', message, 'validatorAddress'),
  ],
  happened: ({ amount, owner }) => ['staked ', piece('tokens', amount), ' with ', piece('validator', owner)],
  sentence: ({ validatorAddress, amount }) => `Stake ${tokens(amount)} with the validator ${validatorAddress}.`,
  outflow: ({ amount }) => stakeOf(BigInt(amount)),
  fields: { validatorAddress: addressField('Validator'), amount: { label: 'Amount' } },
}
