import type { Facts } from '../wallet/facts.ts'
import { candidacyFields, selfStake } from './candidacy.ts'
import { type Input, type Message, type OperationPage, pieceOf, stakeOf, textOf, tokens } from './operation.ts'
import { piece } from '../pieces.ts'

const outflow = ({ maxAmount }: Input<'declareCandidacy'>, { params, defaultMaxAmount }: Facts) =>
  stakeOf(selfStake(BigInt(maxAmount ?? defaultMaxAmount), params))

export const declareCandidacy: OperationPage<'declareCandidacy'> = {
  title: 'Declare',
  words: ({ description }) => {
    const given = (description ?? {}) as Message
    return textOf(given, 'name') === ''
      ? ['declare a candidacy']
      : ['declare the candidacy ', pieceOf('stranger', given, 'name')]
  },
  happened: ({ pub_key: key }) => ['declared the candidacy with the key ', piece('key', key)],
  sentence: (input, facts) => {
    const stake = outflow(input, facts)
    const staking = stake === undefined ? '' : `, staking ${tokens(stake.units)}`
    return `Declare a candidacy for the key ${input.pubKey}${staking}.`
  },
  needs: ({ maxAmount }) => ({ defaultMaxAmount: maxAmount === undefined }),
  outflow,
  fields: candidacyFields,
}
