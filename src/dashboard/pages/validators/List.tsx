import { useMemo } from 'preact/hooks'
import { nameOf } from '../../data/validators.ts'
import { formatCount, formatRatio, formatShare, formatTokens } from '../../format.ts'
import { amountColumn } from '../../parts/columns.tsx'
import { ChoiceFilter, TextFilter } from '../../parts/Filter.tsx'
import { Figures, View } from '../../parts/layout.tsx'
import { Shown } from '../../parts/notes.tsx'
import { PowerStrip } from '../../parts/PowerStrip.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { linkTo, useRoute } from '../../route.ts'
import {
  type Candidacy,
  formatReturn,
  type Inflation,
  returnOf,
  roomOf,
  type Status,
  STATUS_WORDS,
  takesStakes,
  withMembers,
} from './candidacy.ts'
import { linkToValidator, MissedNow, Power, StakeLink, StatusBadge, NameCell } from './parts.tsx'
import { useValidators } from './useValidators.ts'

const missedColumn: Column<Candidacy> = {
  name: 'missed',
  title: 'Missed',
  // Who is not in the set has nothing to miss, and comes behind everybody who has.
  value: ({ keys, absent }) => (keys === 0 ? Number.MAX_SAFE_INTEGER : absent),
  file: ({ keys, absent }) => (keys === 0 ? '' : absent),
  cell: ({ keys, absent }) => <MissedNow keys={keys} absent={absent} />,
  isNumber: true,
  width: '5rem',
}

const columnsOf = (inflation: Inflation): readonly Column<Candidacy>[] => [
  {
    name: 'rank',
    title: 'Rank',
    // People count from 1; who has withdrawn has none.
    value: ({ validator }) => validator.rank + 1,
    isNumber: true,
    width: '3.6rem',
  },
  {
    name: 'name',
    title: 'Validator',
    value: ({ validator: { description, owner_address: owner } }) => description.name || owner,
    cell: ({ validator }) => <NameCell validator={validator} />,
    corner: 'name',
  },
  { title: 'Owner', value: ({ validator }) => validator.owner_address, isFileOnly: true },
  { title: 'Public key', value: ({ validator }) => validator.pub_key.value, isFileOnly: true },
  { title: 'Verified', value: ({ validator }) => validator.verified, isFileOnly: true },
  { title: 'Active', value: ({ validator }) => validator.active, isFileOnly: true },
  {
    name: 'power',
    title: 'Voting power',
    value: ({ power }) => power,
    cell: ({ power }) => <Power power={power} total={inflation.power} />,
    isNumber: true,
    corner: 'figure',
    label: 'Power',
    width: '11.5rem',
  },
  { title: 'Share', value: ({ power }) => formatShare(power, inflation.power), isFileOnly: true },
  amountColumn('Shares', ({ validator }) => BigInt(validator.shares), 0, {
    name: 'shares',
    width: '7.4rem',
  }),
  amountColumn('Max shares', ({ validator }) => validator.max_shares, 0, { isFileOnly: true }),
  {
    name: 'comp-rate',
    title: 'Commission',
    value: ({ validator }) => Number(validator.comp_rate),
    file: ({ validator }) => validator.comp_rate,
    cell: ({ validator }) => formatRatio(validator.comp_rate),
    isNumber: true,
    width: '6.9rem',
  },
  {
    name: 'return',
    title: 'Return',
    value: (candidacy) => returnOf(candidacy, inflation),
    file: (candidacy) => formatReturn(candidacy, inflation),
    cell: (candidacy) => formatReturn(candidacy, inflation),
    isNumber: true,
    corner: 'aside',
    label: 'Return',
    width: '5.6rem',
  },
  amountColumn('Room', ({ validator }) => roomOf(validator), 0, {
    name: 'room',
    width: '7.4rem',
  }),
  missedColumn,
  {
    name: 'state',
    title: 'State',
    value: ({ status }) => STATUS_WORDS[status].word,
    cell: ({ status }) => <StatusBadge status={status} />,
    corner: 'note',
    width: '6.4rem',
  },
  {
    title: 'Stake',
    value: () => '',
    cell: (candidacy) => (takesStakes(candidacy) ? <StakeLink validator={candidacy.validator} /> : 'full'),
    isShownOnly: true,
    width: '3.4rem',
  },
  { title: 'Location', value: ({ validator }) => validator.description.location, isFileOnly: true },
  { title: 'Website', value: ({ validator }) => validator.description.website, isFileOnly: true },
  { title: 'Declared', value: ({ validator }) => validator.created_at, isFileOnly: true },
]

const CHOICES: readonly (readonly [value: Status | '', title: string])[] = [
  ['', 'All'],
  ['validator', 'Validators'],
  ['joining', 'Joining'],
  ['candidate', 'Candidates'],
  ['inactive', 'Inactive'],
]

/** What the filter looks through, in lower case. */
function textOf({ validator: { description, owner_address: owner, pub_key } }: Candidacy): string {
  const { name, website, location, email } = description
  return `${name}\n${owner}\n${pub_key.value}\n${website}\n${location}\n${email}`.toLowerCase()
}

type Answered = NonNullable<ReturnType<typeof useValidators>['data']>

function Summary({ validators, set, absences, params, inflation }: Answered) {
  const proven = set.filter((member) => member.proven)
  const stake = validators.reduce((sum, { shares }) => sum + BigInt(shares), 0n)
  const joining = set.length - proven.length
  const missing = absences.filter(({ absent_blocks: count }) => count > 0).length
  const signed = missing === 0 ? 'all signed the last block' : `${formatCount(missing)} missed the last block`
  const rest = validators.length - set.length
  return (
    <Figures
      figures={[
        {
          name: 'In the set',
          value: (
            <>
              {set.length} <span class='unit'>of {params.max_vals}</span>
            </>
          ),
          note:
            joining === 0
              ? signed
              : `${signed}, ${formatCount(joining)} of them ${joining === 1 ? 'is' : 'are'} joining`,
        },
        { name: 'Outside the set', value: Math.max(0, rest).toLocaleString('en'), note: 'candidates, active or not' },
        {
          name: 'Stake',
          value: (
            <>
              {formatTokens(stake, 0)} <span class='unit'>token</span>
            </>
          ),
          note: `${formatShare(stake, inflation.supply)} of the supply`,
        },
        { name: 'Voting power', value: inflation.power.toLocaleString('en'), note: 'two thirds decide' },
      ]}
    />
  )
}

function Rows({ validators, set, absences, inflation }: Answered) {
  const { options } = useRoute()
  const all = useMemo(() => withMembers(validators, set, absences), [validators, set, absences])
  const text = (options.get('q') ?? '').trim().toLowerCase()
  const status = options.get('state') ?? ''
  const rows = useMemo(
    () => all.filter((row) => (status === '' || row.status === status) && (text === '' || textOf(row).includes(text))),
    [all, text, status],
  )
  const columns = useMemo(() => columnsOf(inflation), [inflation])
  const counts = Map.groupBy(all, (row) => row.status)
  return (
    <div>
      <div class='filters'>
        <TextFilter name='q' label='Name, address, key or place' />
        <ChoiceFilter
          name='state'
          label='State'
          choices={CHOICES.map(([value, title]) => ({
            value,
            title,
            count: value === '' ? all.length : (counts.get(value)?.length ?? 0),
          }))}
        />
      </div>
      <Table
        label='Validators'
        columns={columns}
        rows={rows}
        keyOf={({ validator }) => validator.owner_address}
        linkOf={({ validator }) => linkToValidator(validator.owner_address)}
        empty={all.length === 0 ? 'Nobody has declared a candidacy yet.' : 'No candidacy matches.'}
      />
      <p class='list-foot'>
        Return is what a stake earns in a year, about: the inflation of {inflation.rate} % of the supply, spread over
        the voting power of the set, less the commission that the validator keeps.
      </p>
    </div>
  )
}

/** Everything below the heading. A long list stays the same for several blocks, and is not drawn again for them. */
const Listed = ({ data }: { readonly data: Answered }) =>
  useMemo(
    () => (
      <>
        <Summary {...data} />
        <PowerStrip members={data.set} nameOf={(owner) => nameOf(data.validators, owner)} />
        <Rows {...data} />
      </>
    ),
    [data],
  )

/** All validators and candidates, in rank order. */
export function ValidatorList() {
  const answer = useValidators()
  return (
    <View
      title='Validators'
      actions={
        <a class='button' href={linkTo(['validators', 'declare'])}>
          Declare a candidacy
        </a>
      }
    >
      <Shown answer={answer} lines={8}>
        {(data) => <Listed data={data} />}
      </Shown>
    </View>
  )
}
