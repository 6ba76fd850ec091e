import type { Facts } from '../wallet/facts.ts'
import { missingStake } from './candidacy.ts'
import { type OperationPage, type Outflow, stakeOf, tokens } from './operation.ts'

/** A candidacy that was withdrawn takes back what still unbonds of it, and what its self-stake lacks. */
function outflow({ candidacy, params }: Facts): Outflow | undefined {
  if (candidacy?.record.state !== 'Withdrawn') return undefined
  return stakeOf(missingStake(BigInt(candidacy.record.max_shares), candidacy.unbonding, params))
}

export const activateCandidacy: OperationPage<'activateCandidacy'> = {
  title: 'Activate',
  words: () => ['activate the candidacy'],
  happened: () => ['activated the candidacy'],
  sentence: (_, facts) => {
    const stake = outflow(facts)
    return `Activate your candidacy again${stake === undefined ? '' : `, staking ${tokens(stake.units)}`}.`
  },
  needs: () => ({ candidacy: true }),
  outflow: (_, facts) => outflow(facts),
  fields: {},
}
