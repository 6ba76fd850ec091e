import { svc } from '../data/gateway.ts'
import { type StakeOf, stakesIn, useCandidacy, useStakes } from '../data/stakes.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { AddressHead, OwnLabels } from '../parts/AddressHead.tsx'
import { Figures, Section, View } from '../parts/layout.tsx'
import { EmptyNote, Pending, Shown } from '../parts/notes.tsx'
import { Short, Tokens } from '../parts/text.tsx'
import { linkTo } from '../route.ts'
import { act } from '../wallet/act.ts'
import { GetTokens } from '../wallet/GetTokens.tsx'
import { SentList } from '../wallet/ReviewDialog.tsx'
import { Signers } from '../wallet/SeveralKeys.tsx'
import { useWallet } from '../wallet/wallet.ts'
import { openWallet } from '../wallet/walletDialog.ts'
import { Ballots } from './account/Ballots.tsx'
import { Candidacy } from './account/Candidacy.tsx'
import { earnedOf, Signed, Stakes } from './account/Stakes.tsx'
import { Unbonding, useUnbonding } from './account/Unbonding.tsx'

const sum = (all: readonly bigint[]): bigint => all.reduce((total, one) => total + one, 0n)

const sharesOf = ({ shares }: StakeOf): bigint => BigInt(shares)

/** What the account has, wherever it is. */
function Holdings({ address }: { readonly address: string }) {
  const balance = useAnswer(`balance/${address}`, () => svc.async.getBalance(address))
  const stakes = useStakes(address).data
  const staked = stakes && stakesIn(stakes)
  const unbonding = useUnbonding(address)?.map(({ amount }) => BigInt(amount))
  const other = useCandidacy(address) ? 'other ' : ''
  return (
    <Shown answer={balance} lines={2}>
      {(units) => (
        <Figures
          figures={[
            { name: 'Balance', value: <Tokens units={units} unit='' />, note: 'token to send and to stake' },
            {
              name: 'Staked',
              value: staked === undefined ? <Pending /> : <Tokens units={sum(staked.map(sharesOf))} unit='' />,
              note: `token with ${staked?.length === 1 ? `one ${other}validator` : `${staked?.length ?? ''} ${other}validators`}`,
            },
            {
              name: 'Earned',
              value: staked === undefined ? <Pending /> : <Signed units={sum(staked.map(earnedOf))} unit='' />,
              note: 'token, staked with the rest',
            },
            {
              name: 'Unbonding',
              value: unbonding === undefined ? <Pending /> : <Tokens units={sum(unbonding)} unit='' />,
              note: 'token on the way back to the balance',
            },
          ]}
        />
      )}
    </Shown>
  )
}

/** How one begins. */
function FirstStake({ address }: { readonly address: string }) {
  const { data } = useStakes(address)
  const candidacy = useCandidacy(address)
  if (data === undefined || stakesIn(data).length > 0) return null
  return (
    <Section title='Staked'>
      <EmptyNote>
        You have staked nothing with {candidacy ? 'another' : 'a'} validator. A stake earns a part of the inflation, and
        comes back when you take it back. <a href={linkTo(['validators'], { sort: '-return' })}>Choose a validator</a>
      </EmptyNote>
    </Section>
  )
}

/** Offers that are shown: anybody can make some. */
const OFFERS_SHOWN = 10

/** Candidacies that others offer to the account. */
function Offers({ address }: { readonly address: string }) {
  const { data } = useAnswer(`offers/${address}`, () =>
    svc.async.stake.validator.queryAccountUpdates({ address, limit: OFFERS_SHOWN }),
  )
  const offers = data?.data.filter(({ to }) => to === address) ?? []
  if (offers.length === 0) return null
  return (
    <Section title='Offered to you'>
      <ul class='events'>
        {offers.map(({ id, from }) => (
          <li key={id} class='row'>
            <span>
              The candidacy of <Short text={from} to={linkTo(['validators', from])} />, request {id}. You pay for its
              owner's shares.
            </span>
            <button
              type='button'
              aria-label={`Accept request ${id}`}
              onClick={() => void act('acceptCandidacyAccountUpdate', { accountUpdateRequestId: id })}
            >
              Accept
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Mine({ address }: { readonly address: string }) {
  return (
    <View
      title='My account'
      actions={
        <>
          <a class='button main' href={linkTo(['validators'], { sort: '-return' })}>
            Stake
          </a>
          <a class='button' href={linkTo(['send'])}>
            Send tokens
          </a>
          <a class='button' href={linkTo(['accounts', address])}>
            Transactions
          </a>
          <GetTokens address={address} />
        </>
      }
    >
      <AddressHead address={address} />
      <Holdings address={address} />
      <Signers address={address} />
      <Offers address={address} />
      <FirstStake address={address} />
      <Stakes address={address} isMine />
      <Unbonding address={address} />
      <Candidacy address={address} />
      <Ballots address={address} />
      <SentList />
      <OwnLabels />
    </View>
  )
}

/** The account that acts: what it has, and what waits for it. */
export function MyAccount() {
  const { current } = useWallet()
  if (current !== undefined) return <Mine key={current} address={current} />
  return (
    <View title='My account'>
      <div class='stack'>
        <p>Open your account to see what it has, what its stakes earn, and what waits for you.</p>
        <button type='button' class='main' onClick={() => void openWallet()}>
          Open wallet
        </button>
      </div>
      <SentList />
      <OwnLabels />
    </View>
  )
}
