import { Svc } from '../../../client/index.ts'
import { type Typing, unitsOf } from '../../forms/check.ts'
import { OperationForm } from '../../forms/OperationForm.tsx'
import { isRaiseThatWaits, missingStake } from '../../operations/candidacy.ts'
import { Tokens } from '../../parts/text.tsx'
import { WhenBlock } from '../../parts/TimeLeft.tsx'
import { useClock } from '../../data/blockTime.ts'
import { formatCount, formatRatio, formatTokens } from '../../format.ts'
import type { Stake } from '../../wallet/facts.ts'
import type { Candidate } from '../../data/validators.ts'
import type { Params } from './candidacy.ts'

const DESCRIPTION = ['name', 'website', 'location', 'email', 'profile'] as const

/** What the form of an update begins with. */
const typedToday = ({ description, pub_key, max_shares: max, comp_rate: rate }: Candidate): Typing => ({
  ...Object.fromEntries(DESCRIPTION.map((name) => [`description.${name}`, description[name]])),
  pubKey: pub_key.value,
  maxAmount: Svc.toTokens(max),
  compRate: rate,
})

/** When a new commission is in force that waits. */
function RaiseNote({ compRate, params }: { readonly compRate: string; readonly params: Params }) {
  const clock = useClock()
  const from = clock === undefined ? undefined : clock.height + 1 + params.unstake_wait_period
  return (
    <p class='note waiting'>
      A commission of {formatRatio(compRate)} is more than today's, and others have staked with you. It waits{' '}
      {formatCount(params.unstake_wait_period)} blocks, so that whoever disagrees can leave before
      {from === undefined ? null : (
        <>
          : it is in force from block <span class='number'>{formatCount(from)}</span> on if you save now
          <WhenBlock height={from} />
        </>
      )}
      .
    </p>
  )
}

/** What follows from the changes that were typed so far. */
function Consequences({ typing, today, validator, stake, params }: FormOf & { typing: Typing; today: Typing }) {
  const isChanged = (name: string): boolean => (typing[name] ?? '') !== today[name]
  const max = isChanged('maxAmount') ? unitsOf(typing['maxAmount'] ?? '') : undefined
  const missing = max === undefined ? 0n : missingStake(max, BigInt(stake.self_shares), params)
  const compRate = typing['compRate'] ?? ''
  return (
    <>
      {validator.verified === 'Y' && DESCRIPTION.some((name) => isChanged(`description.${name}`)) && (
        <p class='note waiting'>A new description is not verified: the mark goes until the foundation sets it again.</p>
      )}
      {isChanged('pubKey') && (
        <p class='note waiting'>
          With a new key the power is 1 until that key has signed a block. Run a node with it first, and let it catch
          up.
        </p>
      )}
      {missing > 0n && (
        <p class='note'>
          For so many max shares you have to hold {formatRatio(params.self_staking_ratio)} of them: you stake{' '}
          <Tokens units={missing} decimals={18} /> more.
        </p>
      )}
      {isRaiseThatWaits(compRate, stake) && <RaiseNote compRate={compRate} params={params} />}
    </>
  )
}

interface FormOf {
  readonly validator: Candidate
  readonly stake: Stake
  readonly params: Params
}

/** Changes a candidacy: only what differs from what the chain has is sent. */
export function UpdateForm({ validator, stake, params, onDone }: FormOf & { readonly onDone: () => void }) {
  const today = typedToday(validator)
  const check = ({ maxAmount = '' }: Typing): Typing => {
    const max = unitsOf(maxAmount)
    if (max === undefined || maxAmount === today['maxAmount']) return {}
    const missing = missingStake(max, BigInt(stake.self_shares), params)
    const least = BigInt(validator.shares) + missing
    if (max >= least) return {}
    const what = missing === 0n ? 'the shares' : 'the shares with the stake that is missing'
    return { maxAmount: `expected at least ${what}, ${formatTokens(least, 18)} token` }
  }
  return (
    <OperationForm operation='updateCandidacy' today={today} check={check} submit='Save' onDone={onDone}>
      {(typing) => <Consequences typing={typing} today={today} validator={validator} stake={stake} params={params} />}
    </OperationForm>
  )
}
