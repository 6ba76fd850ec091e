import { Svc, type GetAwardsResult } from '../../../client/index.ts'
import { head } from '../../data/chain.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { formatCount, formatTokens } from '../../format.ts'
import { Section } from '../../parts/layout.tsx'
import { Shown } from '../../parts/notes.tsx'
import { Plot } from '../../parts/Plot.tsx'

/** Only blocks whose height is a multiple of this tell of their award. Source: protocol.md §9. */
const SAMPLED = 50

/** Points of the plot, at most. */
const POINTS = 60

type Award = GetAwardsResult['data'][number]

const readAwards = async (owner: string): Promise<readonly Award[]> =>
  (await svc.async.getAwards({ validatorAddress: owner, limit: POINTS })).data.toReversed()

const read = new Map<string, { readonly sample: number; readonly awards: Promise<readonly Award[]> }>()

/** The awards of `owner`, the oldest first, read again when there may be one more. */
function askAwards(owner: string): Promise<readonly Award[]> {
  const sample = Math.floor((head.get()?.height ?? 0) / SAMPLED)
  const known = read.get(owner)
  if (known?.sample === sample) return known.awards
  const awards = readAwards(owner)
  read.clear()
  read.set(owner, { sample, awards })
  awards.catch(() => read.delete(owner))
  return awards
}

function AwardPlot({ awards }: { readonly awards: readonly Award[] }) {
  const [first, last] = [awards[0], awards.at(-1)]
  if (first === undefined || last === undefined) {
    return (
      <p class='soft'>None yet: of every {SAMPLED}th block the award is known, and none of those paid this owner.</p>
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
        The award of every {SAMPLED}th block, of that block alone. Estimated from{' '}
        {awards.length === 1 ? 'this one' : `these ${awards.length}`}: about {formatTokens(sum * BigInt(SAMPLED))} token
        in blocks {formatCount(first.height - SAMPLED + 1)} to {formatCount(last.height)}.
      </p>
    </>
  )
}

/** What an owner was paid for its candidacy, plotted. */
export function Awards({ owner }: { readonly owner: string }) {
  const answer = useAnswer(`awards/${owner}`, () => askAwards(owner))
  return (
    <Section title='Awards' aside='sampled'>
      <Shown answer={answer}>{(awards) => <AwardPlot awards={awards} />}</Shown>
    </Section>
  )
}
