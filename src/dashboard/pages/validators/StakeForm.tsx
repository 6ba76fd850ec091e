import { maxOf, minOf, TOKEN } from '../../../base/amount.ts'
import { type Typing, unitsOf } from '../../forms/check.ts'
import { AmountField } from '../../forms/fields.tsx'
import { OperationForm } from '../../forms/OperationForm.tsx'
import { formatShare, formatTokens } from '../../format.ts'
import { Facts } from '../../parts/layout.tsx'
import { EmptyNote } from '../../parts/notes.tsx'
import { Tokens } from '../../parts/text.tsx'
import { goTo, linkTo } from '../../route.ts'
import { isWatched } from '../../wallet/act.ts'
import { useSpendable } from '../../wallet/useSpendable.ts'
import { useWallet } from '../../wallet/wallet.ts'
import { commissionWords, formatReturn, type Inflation, type Params, roomOf, takesStakes } from './candidacy.ts'
import { RaiseNote } from './Delegators.tsx'
import { FormView, UnbondingTime } from './FormView.tsx'
import type { Found } from './useValidators.ts'

/** What a return is made from, and that nobody promises it. */
function ReturnNote({ found: { candidacy }, inflation }: { readonly found: Found; readonly inflation: Inflation }) {
  const { validator, power } = candidacy
  if (power === 0) return <>nothing now: it is not in the validator set, and only members are paid</>
  return (
    <>
      about {formatReturn(candidacy, inflation)} a year
      <div class='soft'>
        The inflation is {inflation.rate} % of a supply of {formatTokens(inflation.supply, 0)} token. This validator has{' '}
        {formatShare(power, inflation.power)} of the voting power, so it gets as much of that for its{' '}
        {formatTokens(validator.shares, 0)} token of shares, and keeps its commission. It changes with each of these.
      </div>
    </>
  )
}

function Terms({ found, params, inflation }: { found: Found; params: Params; inflation: Inflation }) {
  const { candidacy, stake } = found
  return (
    <Facts
      facts={{
        Return: <ReturnNote found={found} inflation={inflation} />,
        Commission: `the validator ${commissionWords(stake.comp_rate)}`,
        'Room left': <Tokens units={stake.room} />,
        'Taking it back': <UnbondingTime params={params} />,
        'What you can lose': (
          <>
            If the validator signs two blocks at one height, a part of all that is staked with it is burned, yours too,
            also while it unbonds.
          </>
        ),
        Candidacy:
          candidacy.status === 'inactive' ? 'it is inactive, and earns nothing until it is active again' : undefined,
      }}
    />
  )
}

const limitWords = (most: bigint, room: bigint): string =>
  most === room
    ? `at most ${formatTokens(room, 18)} token, the room that is left`
    : `at most ${formatTokens(most, 18)} token, your balance less the fee`

/** What a validator earns until a stake is in its block takes room too: within a minute less than this, at 100 % a year. */
const earnedSoon = (shares: bigint): bigint => shares / 500_000n

export function StakeForm({ owner }: { readonly owner: string }) {
  const spendable = useSpendable('delegate')?.most
  const { current } = useWallet()
  return (
    <FormView owner={owner} title='Stake with'>
      {({ found, params, inflation }) => {
        const room = roomOf(found.candidacy.validator)
        const most = minOf(room, spendable ?? room)
        const left = room - earnedSoon(BigInt(found.candidacy.validator.shares))
        const check = ({ amount = '' }: Typing): Typing => {
          const units = unitsOf(amount)
          if (units === undefined) return {}
          if (units < TOKEN) return { amount: 'expected at least 1 token' }
          return units > most ? { amount: `expected ${limitWords(most, room)}` } : {}
        }
        const isOpen = current !== owner && takesStakes(found.candidacy)
        return (
          <>
            <RaiseNote stake={found.stake} />
            <Terms found={found} params={params} inflation={inflation} />
            {isOpen ? (
              <OperationForm
                operation='delegate'
                initial={{ validatorAddress: owner }}
                hidden={['validatorAddress']}
                custom={{
                  amount: (field) => (
                    <AmountField
                      {...field}
                      most={spendable === undefined ? undefined : maxOf(0n, minOf(left, spendable))}
                      hint={spendable === undefined ? 'in tokens, such as 1.5' : limitWords(most, room)}
                    />
                  ),
                }}
                check={check}
                submit='Stake'
                onDone={(result) => isWatched(result) && goTo(linkTo(['account']))}
              />
            ) : (
              <EmptyNote>{whyNot(found, current === owner)}</EmptyNote>
            )}
          </>
        )
      }}
    </FormView>
  )
}

function whyNot({ candidacy }: Found, isOwn: boolean): string {
  if (isOwn) return 'This is your own candidacy. You stake more with it by raising its max shares.'
  if (candidacy.status === 'withdrawn') return 'Its owner has withdrawn this candidacy. It takes no stakes.'
  return 'There is no room left: the validator holds as many shares as it may.'
}
