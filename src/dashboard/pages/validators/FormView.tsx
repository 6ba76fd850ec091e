import type { ComponentChildren } from 'preact'
import { useClock } from '../../data/blockTime.ts'
import { formatCount, formatSpan, shorten } from '../../format.ts'
import { View } from '../../parts/layout.tsx'
import { EmptyNote, Shown } from '../../parts/notes.tsx'
import { AccountLink, UserText } from '../../parts/text.tsx'
import type { Params } from './candidacy.ts'
import { linkToValidator } from './parts.tsx'
import { type Found, useValidator } from './useValidators.ts'

/** How long a stake unbonds, in blocks and on the clock. */
export function UnbondingTime({ params }: { readonly params: Params }) {
  const pace = useClock()?.secondsPerBlock
  const blocks = params.unstake_wait_period
  return (
    <>
      takes {formatCount(blocks)} blocks or a little longer
      {pace === undefined ? '' : `, about ${formatSpan(blocks * pace)}`}. It earns nothing meanwhile.
    </>
  )
}

export function FormView({
  owner,
  title,
  children,
}: {
  readonly owner: string
  /** What stands before the name of the validator. */
  readonly title: string
  readonly children: (
    shown: NonNullable<ReturnType<typeof useValidator>['data']> & { readonly found: Found },
  ) => ComponentChildren
}) {
  const answer = useValidator(owner)
  const name = answer.data?.found?.candidacy.validator.description.name.trim() || shorten(owner)
  return (
    <View
      title={`${title} ${name}`}
      name={
        <>
          {title}{' '}
          <a href={linkToValidator(owner)}>
            <UserText text={name} />
          </a>
        </>
      }
    >
      <div class='narrow stack'>
        <Shown answer={answer} lines={6}>
          {(data) =>
            data.found === undefined ? (
              <EmptyNote>
                The account <AccountLink address={owner} /> owns no candidacy now.
              </EmptyNote>
            ) : (
              children({ ...data, found: data.found })
            )
          }
        </Shown>
      </div>
    </View>
  )
}
