import { TOKEN } from '../../../base/amount.ts'
import { batchHeights } from '../../../modules/shownRules.ts'
import { useClock } from '../../data/blockTime.ts'
import { type StakeOf, stakesIn, useStakes } from '../../data/stakes.ts'
import { type Typing, unitsOf } from '../../forms/check.ts'
import { AmountField } from '../../forms/fields.tsx'
import type { CustomField } from '../../forms/FormParts.ts'
import { OperationForm } from '../../forms/OperationForm.tsx'
import { formatCount, formatTokens } from '../../format.ts'
import { Facts } from '../../parts/layout.tsx'
import { EmptyNote, Loading } from '../../parts/notes.tsx'
import { Tokens } from '../../parts/text.tsx'
import { WhenBlock } from '../../parts/TimeLeft.tsx'
import { goTo, linkTo } from '../../route.ts'
import { isWatched } from '../../wallet/act.ts'
import { useWallet } from '../../wallet/wallet.ts'
import { openWallet } from '../../wallet/walletDialog.ts'
import type { Params } from './candidacy.ts'
import { FormView } from './FormView.tsx'

function WhenPaid({ params }: { readonly params: Params }) {
  const clock = useClock()
  if (clock === undefined) return null
  const { heightPaid: height } = batchHeights(clock.height + 1, params.unstake_wait_period)
  return (
    <>
      in block <span class='number'>{formatCount(height)}</span> if you take it back now
      <WhenBlock height={height} />. Until then it earns nothing, and can still be burned with what is staked.
    </>
  )
}

/** How much: a part, or all of it, which grows with each block and so is not typed. */
function HowMuch({ field }: { readonly field: CustomField }) {
  const isAll = field.typing['completelyWithdraw'] === 'Y'
  const way = (all: boolean, title: string) => (
    <label>
      <input
        type='radio'
        name='how-much'
        checked={isAll === all}
        onChange={() => field.change({ completelyWithdraw: all ? 'Y' : '', amount: '' }, false)}
      />{' '}
      {title}
    </label>
  )
  return (
    <fieldset class='point'>
      <legend>How much</legend>
      <div class='radio-row'>
        {way(false, 'A part')}
        {way(true, 'All of it')}
      </div>
      {isAll ? null : <AmountField {...field} isOptional={false} />}
    </fieldset>
  )
}

function Form({ own, params }: { readonly own: StakeOf; readonly params: Params }) {
  const check = ({ amount = '', completelyWithdraw = '' }: Typing): Typing => {
    if (completelyWithdraw === 'Y') return {}
    if (amount === '') return { amount: 'This is needed.' }
    const units = unitsOf(amount)
    if (units === 0n) return { amount: 'expected more than 0' }
    if (units === undefined) return {}
    const left = BigInt(own.shares) - units
    // The chain takes all of it then, which is not what was typed.
    if (left > 0n && left < TOKEN) return { amount: 'would leave less than 1 token: take all of it back instead' }
    if (left >= 0n) return {}
    return { amount: `expected at most ${formatTokens(own.shares, 18)} token, which your stake is worth now` }
  }
  return (
    <>
      <Facts
        facts={{
          'Your stake': <Tokens units={own.shares} decimals={18} />,
          'Put in': <Tokens units={own.delegate_amount} />,
          'Taken back': own.withdraw_amount === '0' ? undefined : <Tokens units={own.withdraw_amount} />,
          Paid: <WhenPaid params={params} />,
        }}
      />
      {own.shares === '0' && (
        <p class='note bad'>A slash has burned this stake. Taking all of it back clears it away.</p>
      )}
      <OperationForm
        operation='withdraw'
        initial={{ validatorAddress: own.validator_address ?? '', completelyWithdraw: own.shares === '0' ? 'Y' : '' }}
        hidden={['validatorAddress']}
        custom={{ amount: (field) => <HowMuch field={field} />, completelyWithdraw: null }}
        check={check}
        submit='Take back'
        onDone={(result) => isWatched(result) && goTo(linkTo(['account']))}
      />
    </>
  )
}

export function TakeBackForm({ owner }: { readonly owner: string }) {
  const { current } = useWallet()
  const stakes = useStakes(current)
  const own = stakesIn(stakes.data).find(({ validator_address: validator }) => validator === owner)
  return (
    <FormView owner={owner} title='Take back from'>
      {({ params }) => {
        if (current === undefined) {
          return (
            <>
              <p>Open the account whose stake you want to take back.</p>
              <button type='button' class='main' onClick={() => void openWallet()}>
                Open wallet
              </button>
            </>
          )
        }
        if (stakes.data === undefined) return <Loading />
        return own === undefined ? (
          <EmptyNote>Your account has no stake with this validator.</EmptyNote>
        ) : (
          <Form key={current} own={own} params={params} />
        )
      }}
    </FormView>
  )
}
