import { formatCount } from '../format.ts'
import { withShares } from './candidacy.ts'
import type { OperationPage } from './operation.ts'

/** Ends a candidacy. */
export const withdrawCandidacy: OperationPage<'withdrawCandidacy'> = {
  title: 'Withdraw',
  words: () => ['withdraw the candidacy'],
  happened: () => ['withdrew the candidacy'],
  sentence: (_, facts) =>
    `End your candidacy${withShares(facts)}. They are paid out after ${formatCount(facts.params.unstake_wait_period)} blocks.`,
  needs: () => ({ candidacy: true }),
  fields: {},
}
