import { cometAddressOf } from '../../data/cometAddress.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { formatCount, formatShare, formatTokens, shorten } from '../../format.ts'
import { Facts, Figures, Section, View } from '../../parts/layout.tsx'
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
import { linkTo } from '../../route.ts'
import { selfStake } from '../../operations/candidacy.ts'
import { type Candidacy, formatRatio, totalPower, type Validator, withMembers } from './candidacy.ts'
import { Actions } from './Actions.tsx'
import { Awards } from './Awards.tsx'
import { HistorySection } from './HistorySection.tsx'
import { Missed } from './Missed.tsx'
import { StatusBadge } from './parts.tsx'
import { StatusNote, type Unbonding, WhenBlock } from './StatusNote.tsx'
import { useHistory } from './useHistory.ts'

async function ask(owner: string) {
  const { validator } = svc.async.stake
  const [{ data }, { data: set }, { data: unbonding }, { data: handOvers }, { data: params }] = await Promise.all([
    validator.query(owner),
    validator.queryValidatorSet(),
    validator.queryUnbonding(owner),
    validator.queryAccountUpdates(owner),
    svc.async.governance.getParams(),
  ])
  const candidacy = data === null ? undefined : withMembers([data], set)[0]
  return { candidacy, set, unbonding, handOvers, params }
}

type Answered = Awaited<ReturnType<typeof ask>>

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

function Numbers({ candidacy, set }: { readonly candidacy: Candidacy; readonly set: Answered['set'] }) {
  const { validator, power, status } = candidacy
  const { shares, max_shares: max, rank, comp_rate: rate, voting_power: later } = validator
  const outside = later === 0 ? 'not in the set' : `not in the set; ${formatCount(later)} by its shares`
  const inSet = power > 0 ? `${formatShare(power, totalPower(set))} of the set` : outside
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
          value: (
            <>
              {formatTokens(shares, 0)} <span class='unit'>token</span>
            </>
          ),
          note: `of ${formatTokens(max, 2)} at most`,
        },
        { name: 'Rank', value: rank < 0 ? '–' : String(rank), note: rank < 0 ? 'withdrawn' : 'counted from 0' },
        { name: 'Compensation rate', value: formatRatio(rate) },
      ]}
    />
  )
}

const orNone = (text: string) => (text.trim() === '' ? undefined : <UserText text={text} />)

function About({ validator: { description } }: { readonly validator: Validator }) {
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

function Keys({ validator, params }: { readonly validator: Validator; readonly params: Answered['params'] }) {
  const { pub_key, owner_address: owner, max_shares: max, block_height: height } = validator
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
          Verified: validator.verified === 'Y' ? 'Y, by the foundation' : 'N',
          Active: validator.active,
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
      <ul class='plain-list'>
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

/** Everything about the candidacy of one owner. */
export function ValidatorDetail({ owner }: { readonly owner: string }) {
  const answer = useAnswer(`validator/${owner}`, () => ask(owner))
  const candidacy = answer.data?.candidacy
  const { history, loadOlder } = useHistory(owner, `${candidacy?.validator.updated_at}/${candidacy?.status}`)
  const events = history.data?.events ?? []
  const name = candidacy?.validator.description.name.trim()
  return (
    <View
      title={name === undefined || name === '' ? `Validator ${shorten(owner)}` : name}
      name={<Title candidacy={candidacy} owner={owner} />}
    >
      <Shown answer={answer} lines={8}>
        {({ candidacy: one, set, unbonding, handOvers, params }) =>
          one === undefined ? (
            <>
              <EmptyNote>
                The account <AccountLink address={owner} /> owns no candidacy now.
              </EmptyNote>
              <UnbondingSection unbonding={unbonding} />
            </>
          ) : (
            <>
              <StatusNote candidacy={one} total={totalPower(set)} events={events} unbonding={unbonding} />
              <Numbers candidacy={one} set={set} />
              <Actions candidacy={one} params={params} unbonding={unbonding} handOvers={handOvers} />
              <About validator={one.validator} />
              <Keys validator={one.validator} params={params} />
              <UnbondingSection unbonding={unbonding} />
              <Awards owner={owner} />
              {history.data === undefined ? null : (
                <Missed history={history.data} first={one.validator.block_height} isSigning={one.power > 0} />
              )}
            </>
          )
        }
      </Shown>
      <HistorySection owner={owner} history={history} loadOlder={loadOlder} />
    </View>
  )
}
