import { type StakeOf, stakesIn, useStakes } from '../../data/stakes.ts'
import { useValidatorSet } from '../../data/validators.ts'
import { exactTokens } from '../../format.ts'
import { amountColumn } from '../../parts/columns.tsx'
import { Section } from '../../parts/layout.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { Short, Tokens } from '../../parts/text.tsx'
import { ValidatorLink, ValidatorName } from '../../parts/ValidatorLink.tsx'
import { linkToForm, linkToValidator } from '../validators/parts.tsx'

/** What a stake earned, less what it lost, in base units. */
export const earnedOf = ({ award_amount: won, slash_amount: lost }: StakeOf): bigint => BigInt(won) - BigInt(lost)

/** An amount with its sign where it is below 0. */
export const Signed = ({ units, unit = 'token' }: { readonly units: bigint; readonly unit?: 'token' | '' }) =>
  units < 0n ? (
    <span>
      −<Tokens units={-units} unit={unit} />
    </span>
  ) : (
    <Tokens units={units} unit={unit} />
  )

const takeBackColumn: Column<StakeOf> = {
  title: '',
  value: () => '',
  cell: ({ validator_address: owner }) =>
    owner ? (
      <a href={linkToForm(owner, 'take-back')}>
        Take back
        <span class='visually-hidden'>
          {' '}
          from <ValidatorName owner={owner} />
        </span>
      </a>
    ) : null,
  isShownOnly: true,
  corner: 'action',
  width: '4.7rem',
}

const columnsOf = (members: ReadonlySet<string | null>, isMine: boolean): readonly Column<StakeOf>[] => [
  {
    title: 'Validator',
    value: ({ validator_address: owner }) => owner ?? '',
    cell: ({ validator_address: owner, pub_key }) =>
      owner ? <ValidatorLink owner={owner} /> : <Short text={pub_key?.value ?? ''} />,
    corner: 'name',
  },
  amountColumn('Staked', ({ shares }) => shares, 2, { corner: 'figure', width: '10rem' }),
  {
    title: 'Earned',
    value: (one) => exactTokens(earnedOf(one)),
    cell: (one) => <Signed units={earnedOf(one)} unit='' />,
    isNumber: true,
    corner: 'aside',
    label: 'Earned',
    width: '9rem',
  },
  amountColumn('Put in', ({ delegate_amount: amount }) => amount, 4, { width: '9rem' }),
  amountColumn('Taken back', ({ withdraw_amount: amount }) => amount, 4, { width: '9rem' }),
  {
    title: 'Earns now',
    value: ({ validator_address: owner }) => (members.has(owner) ? 'yes' : 'no: not in the set'),
    corner: 'note',
    label: 'Earns now',
    width: '9rem',
  },
  ...(isMine ? [takeBackColumn] : []),
]

/** What an account has staked with validators, and what it earned. */
export function Stakes({ address, isMine = false }: { readonly address: string; readonly isMine?: boolean }) {
  const stakes = stakesIn(useStakes(address).data)
  const set = useValidatorSet().data?.data ?? []
  if (stakes.length === 0) return null
  return (
    <Section title='Staked' aside='In tokens, with what they earned'>
      <Table
        label={`Stakes of ${address}`}
        rows={stakes}
        keyOf={({ validator_address: owner, pub_key, created_at: since }) => `${owner}/${pub_key?.value}/${since}`}
        linkOf={({ validator_address: owner }) => (owner ? linkToValidator(owner) : undefined)}
        columns={columnsOf(new Set(set.map(({ owner_address: owner }) => owner)), isMine)}
      />
    </Section>
  )
}
