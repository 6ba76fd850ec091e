import { formatCount } from '../format.ts'
import type { Facts } from '../wallet/facts.ts'
import { accountsHave, withShares } from './candidacy.ts'
import { type OperationPage, tokens } from './operation.ts'

/** What becomes of what others have staked. */
function othersOf({ candidacy }: Facts): string {
  if (candidacy === undefined || candidacy.stake.delegators === 0) return ''
  const { delegated_shares: shares, delegators } = candidacy.stake
  return `, and so are the ${tokens(shares)} that ${accountsHave(delegators)} staked with it`
}

export const withdrawCandidacy: OperationPage<'withdrawCandidacy'> = {
  title: 'Withdraw',
  words: () => ['withdraw the candidacy'],
  happened: () => ['withdrew the candidacy'],
  sentence: (_, facts) =>
    `End your candidacy${withShares(facts)}. They are paid out after ` +
    `${formatCount(facts.params.unstake_wait_period)} blocks${othersOf(facts)}.`,
  needs: () => ({ candidacy: true }),
  due: (_, { params }) => ({ name: 'Paid out', blocks: params.unstake_wait_period }),
  warning: () =>
    'Your validator leaves the set: it signs no more blocks, earns nothing and cannot vote. ' +
    'What others have staked with it does not come back.',
  fields: {},
}
