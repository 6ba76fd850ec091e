import { Svc } from '../../../client/index.ts'
import { type Typing, unitsOf } from '../../forms/check.ts'
import { OperationForm } from '../../forms/OperationForm.tsx'
import { missingStake } from '../../operations/candidacy.ts'
import { Tokens } from '../../parts/text.tsx'
import { formatTokens } from '../../format.ts'
import { formatRatio, type Params, type Validator } from './candidacy.ts'

const DESCRIPTION = ['name', 'website', 'location', 'email', 'profile'] as const

/** What the form of an update begins with. */
const typedToday = ({ description, pub_key, max_shares: max, comp_rate: rate }: Validator): Typing => ({
  ...Object.fromEntries(DESCRIPTION.map((name) => [`description.${name}`, description[name]])),
  pubKey: pub_key.value,
  maxAmount: Svc.toTokens(max),
  compRate: rate,
})

/** What follows from the changes that were typed so far. */
function Consequences({ typing, today, validator, params }: FormOf & { typing: Typing; today: Typing }) {
  const isChanged = (name: string): boolean => (typing[name] ?? '') !== today[name]
  const max = isChanged('maxAmount') ? unitsOf(typing['maxAmount'] ?? '') : undefined
  const missing = max === undefined ? 0n : missingStake(max, BigInt(validator.shares), params)
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
    </>
  )
}

interface FormOf {
  readonly validator: Validator
  readonly params: Params
}

/** Changes a candidacy: only what differs from what the chain has is sent. */
export function UpdateForm({ validator, params, onDone }: FormOf & { readonly onDone: () => void }) {
  const today = typedToday(validator)
  const check = ({ maxAmount = '' }: Typing): Typing => {
    const max = unitsOf(maxAmount)
    if (max === undefined || maxAmount === today['maxAmount'] || max >= BigInt(validator.shares)) return {}
    return { maxAmount: `expected at least the shares, ${formatTokens(validator.shares, 18)} token` }
  }
  return (
    <OperationForm operation='updateCandidacy' today={today} check={check} submit='Save' onDone={onDone}>
      {(typing) => <Consequences typing={typing} today={today} validator={validator} params={params} />}
    </OperationForm>
  )
}
