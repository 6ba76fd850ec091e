import type { ComponentChildren } from 'preact'
import { events } from '../../../client/gen/events.ts'
import type { QueryUnbondingResult } from '../../../client/index.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { whyRemoved } from '../../events.ts'
import { formatShare } from '../../format.ts'
import { AccountLink, HeightLink, Tokens } from '../../parts/text.tsx'
import { WhenBlock } from '../../parts/TimeLeft.tsx'
import type { Candidacy } from './candidacy.ts'
import type { HistoryEvent } from './useHistory.ts'

const { stake } = events

/** Why a candidate is not in the set: how many shares those have who are. */
function CandidateNote({ validator: { shares, rank } }: Candidacy) {
  const params = useAnswer('params', () => svc.async.governance.getParams())
  const places = params.data?.data.max_vals
  const last = useAnswer(places === undefined ? undefined : `place/${places}`, async () => {
    const { data } = await svc.async.stake.validator.list({ limit: 1, offset: (places ?? 1) - 1 })
    return data[0]?.shares
  })
  if (BigInt(shares) < 10n ** 18n) return <>It holds less than 1 token of shares, which no candidate can join with.</>
  if (places === undefined) return null
  if (rank < places) {
    return (
      <>
        A candidate among the first {places}, which joins the set when its turn comes: those who join may together hold
        less than half of the voting power.
      </>
    )
  }
  return (
    <>
      A candidate outside the validator set. The set has at most {places === 1 ? '1 member' : `${places} members`}, who
      hold more shares
      {last.data === undefined ? null : (
        <>
          : the last of them <Tokens units={last.data} />
        </>
      )}
      .
    </>
  )
}

const INACTIVE = new Set<string>([stake.removed, stake.deactivate])

const STAYS = 'It keeps the shares that it has, and its owner can activate it again.'

/** Why a candidacy is inactive, as its history tells. */
function InactiveNote({ events: told }: { readonly events: readonly HistoryEvent[] }) {
  const last = told.find(({ type }) => INACTIVE.has(type))
  if (last === undefined) return <>It takes no part. {STAYS}</>
  const block = <HeightLink height={last.height} />
  return last.type === stake.removed ? (
    <>
      It was removed in block {block}, {whyRemoved(String(last.attributes['reason']))}. {STAYS}
    </>
  ) : (
    <>
      Its owner deactivated it in block {block}. {STAYS}
    </>
  )
}

/** What still unbonds for the owner, and when it is paid. */
export type Unbonding = QueryUnbondingResult['data'][number]

function WithdrawnNote({ unbonding, owner }: { readonly unbonding: readonly Unbonding[]; readonly owner: string }) {
  const own = unbonding.at(-1)
  if (own === undefined) return <>Its owner withdrew it, and what it held has been paid out.</>
  return (
    <>
      Its owner withdrew it. <Tokens units={own.amount} /> will be paid to <AccountLink address={owner} /> in block{' '}
      <span class='number'>{own.completion_height.toLocaleString('en')}</span>
      <WhenBlock height={own.completion_height} />. Until then the owner can activate it again.
    </>
  )
}

interface StatusProps {
  readonly candidacy: Candidacy
  /** The voting power of the whole set. */
  readonly total: number
  readonly events: readonly HistoryEvent[]
  readonly unbonding: readonly Unbonding[]
}

function sentenceOf({ candidacy, total, events, unbonding }: StatusProps): ComponentChildren {
  const { validator, status, power } = candidacy
  switch (status) {
    case 'validator':
      return (
        <>
          In the validator set: it signs blocks and votes on proposals, with {formatShare(power, total)} of the voting
          power.
        </>
      )
    case 'joining':
      return (
        <>
          Its power is not proven yet. Its key is in the set and counts for 1 until it has signed a block; from then on
          it counts for {validator.voting_power.toLocaleString('en')}. What is missing is a node that runs with this key
          and has caught up with the chain.
        </>
      )
    case 'candidate':
      return <CandidateNote {...candidacy} />
    case 'inactive':
      return <InactiveNote events={events} />
    case 'withdrawn':
      return <WithdrawnNote unbonding={unbonding} owner={validator.owner_address} />
  }
}

const TONES: Readonly<Partial<Record<Candidacy['status'], string>>> = { joining: 'note waiting', inactive: 'note bad' }

/** A sentence that says what the status of a candidacy means. */
export const StatusNote = (props: StatusProps) => (
  <p class={TONES[props.candidacy.status] ?? 'status-sentence'}>{sentenceOf(props)}</p>
)
