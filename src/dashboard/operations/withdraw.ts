import { formatCount } from '../format.ts'
import { piece } from '../pieces.ts'
import { addressField, type OperationPage, pieceOf, textOf, tokens } from './operation.ts'

export const withdraw: OperationPage<'withdraw'> = {
  title: 'Take back',
  words: (message) => [
    'take ',
    textOf(message, 'amount') === '' ? 'the whole stake' : pieceOf('tokens', message, 'amount'),
    ' back from ',
    pieceOf('validator', message, 'validatorAddress'),
  ],
  happened: ({ amount, owner }) => ['took ', piece('tokens', amount), ' back from ', piece('validator', owner)],
  sentence: ({ validatorAddress, amount }, { params }) =>
    `Take ${amount === undefined ? 'your whole stake' : `${tokens(amount)} of your stake`} back from the validator ` +
    `${validatorAddress}. It is paid out after about ${formatCount(params.unstake_wait_period)} blocks.`,
  due: (_, { params }) => ({ name: 'Paid out', blocks: params.unstake_wait_period }),
  fields: {
    validatorAddress: addressField('Validator'),
    amount: { label: 'Amount' },
    completelyWithdraw: { label: 'All of it', hint: 'Y takes the whole stake back' },
  },
}
