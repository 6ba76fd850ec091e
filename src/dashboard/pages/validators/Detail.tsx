import { svc } from '../../data/gateway.ts'
import { stakesIn, useStakes } from '../../data/stakes.ts'
import { formatCount, formatRatio, formatShare, formatTokens, shorten } from '../../format.ts'
import { Facts, Figures, Section, View } from '../../parts/layout.tsx'
import { lazyPart } from '../../parts/lazyView.tsx'
import { Verified } from '../../parts/Verified.tsx'
import { EmptyNote, Shown } from '../../parts/notes.tsx'
import {
  AccountLink,
  Ago,
  Badge,
  CopyButton,
  HeightLink,
  Tokens,
  UserLink,
  UserText,
  Whole,
} from '../../parts/text.tsx'
import { WhenBlock } from '../../parts/TimeLeft.tsx'
import { linkTo } from '../../route.ts'
import { selfStake } from '../../operations/candidacy.ts'
import { useWallet } from '../../wallet/wallet.ts'
import { type Candidate, cometAddressOf } from '../../data/validators.ts'
import { type Candidacy, formatReturn, takesStakes } from './candidacy.ts'
import { Actions } from './Actions.tsx'
import { Awards } from './Awards.tsx'
import { Delegators, RaiseNote } from './Delegators.tsx'
import { HistorySection } from './HistorySection.tsx'
import { linkToForm, StatusBadge, VERIFIED_MEANING } from './parts.tsx'
import { StatusNote, type Unbonding } from './StatusNote.tsx'
import { useHistory } from './useHistory.ts'
import { type Found, useValidator } from './useValidators.ts'

type Answered = NonNullable<ReturnType<typeof useValidator>['data']>

const Missed = lazyPart(async () => (await import('./Missed.tsx')).Missed)

function Title({ candidacy, owner }: { readonly candidacy: Candidacy | undefined; readonly owner: string }) {
  const name = candidacy?.validator.description.name.trim() ?? ''
  return (
    <span class='title'>
      {name === '' ? <span class='mono'>{shorten(owner)}</span> : <UserText text={name} />}
      {candidacy === undefined ? null : <StatusBadge status={candidacy.status} />}
      {candidacy?.validator.verified === 'Y' && <Badge tone='good'>Verified</Badge>}
    </span>
  )
}

function Numbers({ candidacy, stake, inflation }: Found & Pick<Answered, 'inflation'>) {
  const { validator, power, status } = candidacy
  const { shares, max_shares: max, comp_rate: rate, voting_power: later } = validator
  const outside = later === 0 ? 'not in the set' : `not in the set; ${formatCount(later)} by its shares`
  const inSet = power > 0 ? `${formatShare(power, inflation.power)} of the set` : outside
  return (
    <Figures
      figures={[
        {
          name: 'Voting power',
          value: formatCount(power),
          note: status === 'joining' ? `${formatCount(later)} once its key has signed` : inSet,
        },
        {
          name: 'Shares',
          value: <Tokens units={shares} decimals={0} unit='' />,
          note: `token; new stakes up to ${formatTokens(max, 0)}`,
        },
        {
          name: 'Its own stake',
          value: <Tokens units={stake.self_shares} decimals={0} unit='' />,
          note: `token, ${formatShare(BigInt(stake.self_shares), BigInt(shares))} of the shares`,
        },
        {
          name: 'Delegated',
          value: <Tokens units={stake.delegated_shares} decimals={0} unit='' />,
          note: `token by ${stake.delegators === 1 ? 'one account' : `${formatCount(stake.delegators)} accounts`}`,
        },
        { name: 'Commission', value: formatRatio(rate), note: 'of what others earn' },
        {
          name: 'Return',
          value: formatReturn(candidacy, inflation),
          note: candidacy.power > 0 ? 'a year for a stake, about' : 'nothing while it is not in the set',
        },
      ]}
    />
  )
}

const orNone = (text: string) => (text.trim() === '' ? undefined : <UserText text={text} />)

function About({ validator: { description } }: { readonly validator: Candidate }) {
  const { website, location, email, profile } = description
  if ([website, location, email, profile].every((text) => text.trim() === '')) return null
  return (
    <Section title='Description' aside='in the words of its owner'>
      <Facts
        facts={{
          Website: website.trim() === '' ? undefined : <UserLink url={website} />,
          Location: orNone(location),
          Email: orNone(email),
          Profile: profile.trim() === '' ? undefined : <UserText text={profile} isLong />,
        }}
      />
    </Section>
  )
}

function Keys({ validator, params }: { readonly validator: Candidate; readonly params: Answered['params'] }) {
  const { pub_key, owner_address: owner, max_shares: max, block_height: height, rank } = validator
  return (
    <Section title='Candidacy'>
      <Facts
        facts={{
          Owner: (
            <span class='whole'>
              <a class='mono' href={linkTo(['accounts', owner])}>
                {owner}
              </a>
              <CopyButton text={owner} label='the address of the owner' />
            </span>
          ),
          'Public key': <Whole text={pub_key.value} label='the public key' />,
          'Address in CometBFT': (
            <Whole text={cometAddressOf(pub_key.value).slice(2).toUpperCase()} label='the address in CometBFT' />
          ),
          'Self-stake': (
            <>
              <Tokens units={selfStake(BigInt(max), params)} /> at least, {formatRatio(params.self_staking_ratio)} of
              its max shares
            </>
          ),
          Rank: rank < 0 ? 'none: it is withdrawn' : formatCount(rank + 1),
          Declared: (
            <>
              {height === 0 ? (
                'in the genesis'
              ) : (
                <>
                  in block <HeightLink height={height} />
                </>
              )}
              , <Ago time={validator.created_at} />
            </>
          ),
          Updated: <Ago time={validator.updated_at} />,
          Verified: validator.verified === 'Y' ? `yes: ${VERIFIED_MEANING}` : 'no',
          Active: validator.active === 'Y' ? 'yes' : 'no',
        }}
      />
      <Verified
        call={() => svc.verified.stake.validator.query(owner)}
        expect={{
          pub_key: pub_key.value,
          max_shares: max,
          comp_rate: validator.comp_rate,
          name: validator.description.name,
        }}
        told={({ shares }) => (
          <>
            <Tokens units={String(shares)} /> of shares
          </>
        )}
      />
    </Section>
  )
}

function UnbondingSection({ unbonding }: { readonly unbonding: readonly Unbonding[] }) {
  if (unbonding.length === 0) return null
  return (
    <Section title='Unbonding'>
      <ul>
        {unbonding.map(({ amount, completion_height: height }, index) => (
          <li key={`${height}/${index}`}>
            <Tokens units={amount} /> in block <span class='number'>{formatCount(height)}</span>
            <WhenBlock height={height} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** What one can do with a stake of this validator: its owner cannot stake with itself. */
function StakeButtons({ owner, isOpen }: { readonly owner: string; readonly isOpen: boolean }) {
  const { current } = useWallet()
  const own = stakesIn(useStakes(current).data).find(({ validator_address: validator }) => validator === owner)
  return (
    <>
      {isOpen && current !== owner && (
        <a class='button main' href={linkToForm(owner, 'stake')}>
          Stake
        </a>
      )}
      {own === undefined ? null : (
        <a class='button' href={linkToForm(owner, 'take-back')}>
          Take back
        </a>
      )}
    </>
  )
}

/** Everything about the candidacy of one owner. */
export function ValidatorDetail({ owner }: { readonly owner: string }) {
  const answer = useValidator(owner)
  const candidacy = answer.data?.found?.candidacy
  const { history, loadOlder } = useHistory(owner)
  const events = history.data?.events ?? []
  const name = candidacy?.validator.description.name.trim()
  return (
    <View
      title={name === undefined || name === '' ? `Validator ${shorten(owner)}` : name}
      name={<Title candidacy={candidacy} owner={owner} />}
      actions={<StakeButtons owner={owner} isOpen={candidacy !== undefined && takesStakes(candidacy)} />}
    >
      <Shown answer={answer} lines={8}>
        {({ found, unbonding, handOvers, params, inflation }) =>
          found === undefined ? (
            <>
              <EmptyNote>
                The account <AccountLink address={owner} /> owns no candidacy now.
              </EmptyNote>
              <UnbondingSection unbonding={unbonding} />
            </>
          ) : (
            <>
              <StatusNote candidacy={found.candidacy} total={inflation.power} events={events} unbonding={unbonding} />
              <RaiseNote stake={found.stake} />
              <Numbers {...found} inflation={inflation} />
              <Actions {...found} params={params} unbonding={unbonding} handOvers={handOvers} />
              <About validator={found.candidacy.validator} />
              <Keys validator={found.candidacy.validator} params={params} />
              <UnbondingSection unbonding={unbonding} />
              <Delegators owner={owner} stake={found.stake} />
              <Awards key={owner} owner={owner} />
              {history.data === undefined ? null : (
                <Missed candidacy={found.candidacy} history={history.data} loadOlder={loadOlder} />
              )}
            </>
          )
        }
      </Shown>
      <HistorySection owner={owner} history={history} loadOlder={loadOlder} />
    </View>
  )
}
