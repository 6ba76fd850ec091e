import { useState } from 'preact/hooks'
import { parseAddress } from '../../../values/address.ts'
import { useClock } from '../../data/blockTime.ts'
import { type Candidate, useCandidates } from '../../data/validators.ts'
import type { Typing } from '../../forms/check.ts'
import { OperationForm } from '../../forms/OperationForm.tsx'
import { formatCount } from '../../format.ts'
import { accountsHave, missingStake } from '../../operations/candidacy.ts'
import { Section } from '../../parts/layout.tsx'
import { AccountLink, Tokens } from '../../parts/text.tsx'
import { WhenBlock } from '../../parts/TimeLeft.tsx'
import { act } from '../../wallet/act.ts'
import type { Stake } from '../../wallet/facts.ts'
import type { ActionsProps } from './Actions.tsx'
import { UpdateForm } from './UpdateForm.tsx'

/** What an owner may open below the buttons. */
type Opened = 'update' | 'withdraw' | 'handOver' | undefined

function Withdraw({ stake, params, onDone }: Pick<ActionsProps, 'stake' | 'params'> & { onDone: () => void }) {
  const clock = useClock()
  const wait = params.unstake_wait_period
  const due = clock === undefined ? undefined : clock.height + 1 + wait
  const withdraw = async (): Promise<void> => {
    if ((await act('withdrawCandidacy', {})) !== undefined) onDone()
  }
  return (
    <div class='stack'>
      <p>
        All of {stake.delegators === 0 ? 'the' : 'your own'} shares, <Tokens units={stake.self_shares} decimals={18} />,
        leave the candidacy at once and are paid to your balance {formatCount(wait)} blocks later
        {due === undefined ? null : (
          <>
            : in block <span class='number'>{formatCount(due)}</span> if you withdraw now
            <WhenBlock height={due} />
          </>
        )}
        . Until then you can activate it again.
      </p>
      {stake.delegators > 0 && (
        <p class='note waiting'>
          The <Tokens units={stake.delegated_shares} /> that {accountsHave(stake.delegators)} staked with it are paid
          back from the same block on. They do not return when you activate it again.
        </p>
      )}
      <button type='button' class='main danger' onClick={() => void withdraw()}>
        Withdraw the candidacy
      </button>
    </div>
  )
}

/** What a withdrawn candidacy takes when it comes back. */
function Return({
  validator,
  params,
  unbonding,
}: Pick<ActionsProps, 'params' | 'unbonding'> & { validator: Candidate }) {
  const back = unbonding
    .filter(({ pub_key }) => pub_key.value === validator.pub_key.value)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const missing = missingStake(BigInt(validator.max_shares), back, params)
  return (
    <p class='soft'>
      Activating it takes back the <Tokens units={back} /> that still unbond as its shares
      {missing === 0n ? null : (
        <>
          {' '}
          and <Tokens units={missing} decimals={18} /> of your balance
        </>
      )}
      .
    </p>
  )
}

const NOBODY = `0x${'0'.repeat(40)}`

/** Offers a candidacy to an account that may have one. Source: protocol.md §3, updateAccount. */
function HandOverForm({ owner, stake, onDone }: { owner: string; stake: Stake; onDone: () => void }) {
  const candidates = useCandidates().data
  const check = ({ newCandidateAccount: given = '' }: Typing): Typing => {
    const to = parseAddress(given.trim())
    if (to === undefined) return {}
    const why =
      to === owner
        ? 'this account has the candidacy already'
        : to === NOBODY
          ? 'nobody has the key of this account'
          : candidates?.some((one) => one.owner_address === to) === true
            ? 'this account has a candidacy of its own, and each account can have one'
            : undefined
    return why === undefined ? {} : { newCandidateAccount: why }
  }
  return (
    <OperationForm operation='updateCandidacyAccount' check={check} submit='Offer it' onDone={onDone}>
      {() => (
        <p class='note'>
          The new account has to accept, and pays you <Tokens units={stake.self_shares} /> for{' '}
          {stake.delegators === 0 ? 'the shares' : 'your own shares. What others have staked stays'}. An offer that you
          made before is replaced.
        </p>
      )}
    </OperationForm>
  )
}

export function OwnerActions({ candidacy: { validator }, stake, params, unbonding, handOvers }: ActionsProps) {
  const [opened, setOpened] = useState<Opened>()
  const toggle = (what: Opened) => () => setOpened(opened === what ? undefined : what)
  const close = (): void => setOpened(undefined)
  const isLive = validator.state !== 'Withdrawn'
  const offered = handOvers.find(({ from }) => from === validator.owner_address)
  const opener = (what: Exclude<Opened, undefined>, title: string) => (
    <button
      type='button'
      class={what === 'withdraw' ? 'danger' : ''}
      aria-expanded={opened === what}
      onClick={toggle(what)}
    >
      {title}
    </button>
  )
  return (
    <Section title='Your candidacy'>
      <div class='stack'>
        <div class='actions'>
          {isLive && opener('update', 'Update')}
          {validator.active === 'Y' ? (
            <button type='button' onClick={() => void act('deactivateCandidacy', {})}>
              Deactivate
            </button>
          ) : (
            <button type='button' onClick={() => void act('activateCandidacy', {})}>
              Activate
            </button>
          )}
          {isLive && opener('handOver', 'Hand over')}
          {isLive && opener('withdraw', 'Withdraw')}
        </div>
        {offered !== undefined && (
          <p class='note'>
            Offered to <AccountLink address={offered.to} />, request {offered.id}. It is yours until that account
            accepts.
          </p>
        )}
        {isLive ? null : <Return validator={validator} params={params} unbonding={unbonding} />}
        <div class={opened === 'update' ? 'opened' : 'opened narrow'}>
          {opened === 'update' && <UpdateForm validator={validator} stake={stake} params={params} onDone={close} />}
          {opened === 'withdraw' && <Withdraw stake={stake} params={params} onDone={close} />}
          {opened === 'handOver' && <HandOverForm owner={validator.owner_address} stake={stake} onDone={close} />}
        </div>
      </div>
    </Section>
  )
}
