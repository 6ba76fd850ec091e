import { Svc, type GetAwardsResult } from '../../../client/index.ts'
import { AWARD_EVENT_BLOCKS } from '../../../modules/shownRules.ts'
import { head } from '../../data/chain.ts'
import { svc } from '../../data/gateway.ts'
import { useLatest } from '../../data/proposals.ts'
import { useStore } from '../../data/store.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { formatCount, formatTokens } from '../../format.ts'
import { Section } from '../../parts/layout.tsx'
import { Shown } from '../../parts/notes.tsx'
import { Plot } from '../../parts/Plot.tsx'

/** Points of the plot, at most. */
const POINTS = 60

type Award = GetAwardsResult['data'][number]

/** The awards of an owner, the oldest first. */
const askAwards = async (owner: string): Promise<readonly Award[]> =>
  (await svc.async.getAwards({ validatorAddress: owner, limit: POINTS })).data.toReversed()

function AwardPlot({ awards }: { readonly awards: readonly Award[] }) {
  const [first, last] = [awards[0], awards.at(-1)]
  if (first === undefined || last === undefined) {
    return (
      <p class='soft'>
        None yet: of every {AWARD_EVENT_BLOCKS}th block the award is known, and none of those paid this owner.
      </p>
    )
  }
  const sum = awards.reduce((total, { amount }) => total + BigInt(amount), 0n)
  return (
    <>
      <Plot
        label='Award of a block, in tokens'
        kind='bars'
        x={awards.map(({ height }) => height)}
        y={awards.map(({ amount }) => Number(Svc.toTokens(amount)))}
        print={(value) => value.toLocaleString('en', { maximumSignificantDigits: 3 })}
      />
      <p class='soft'>
        The award of every {AWARD_EVENT_BLOCKS}th block, of that block alone. Estimated from{' '}
        {awards.length === 1 ? 'this one' : `these ${awards.length}`}: about{' '}
        {formatTokens(sum * BigInt(AWARD_EVENT_BLOCKS))} token in blocks{' '}
        {formatCount(first.height - AWARD_EVENT_BLOCKS + 1)} to {formatCount(last.height)}.
      </p>
    </>
  )
}

/** What an owner was paid for its candidacy, plotted. */
export function Awards({ owner }: { readonly owner: string }) {
  const newest = useStore(head)?.height
  // Another sample, another question: there may be one more award.
  const key = newest === undefined ? undefined : `awards/${owner}/${Math.floor(newest / AWARD_EVENT_BLOCKS)}`
  const answer = useLatest(useAnswer(key, () => askAwards(owner), 'once'))
  return (
    <Section title='Awards' aside='sampled'>
      <Shown answer={answer}>{(awards) => <AwardPlot awards={awards} />}</Shown>
    </Section>
  )
}
