import type { WholeProposal } from '../../data/proposals.ts'
import { useValidatorSet } from '../../data/validators.ts'
import { formatCount, formatShare } from '../../format.ts'
import { type Column, Table } from '../../parts/Table.tsx'
import { AccountLink, Badge, HeightLink } from '../../parts/text.tsx'
import { ValidatorLink } from '../../parts/ValidatorLink.tsx'
import { linkTo } from '../../route.ts'

/** A validator's vote, or that it has not voted. */
interface VoteRow {
  /** Who owns the candidacy now, or owned it last. */
  readonly owner: string
  /** The account that sent the vote; empty where there is none. */
  readonly voter: string
  readonly answer: 'Y' | 'N' | ''
  readonly height: number
  /** Voting power now; undefined for who is not in the validator set now. */
  readonly power: number | undefined
}

const ANSWERS = { Y: 'Yes', N: 'No', '': 'Not voted' } as const
const TONES = { Y: 'good', N: 'bad', '': 'plain' } as const

const columns: readonly Column<VoteRow>[] = [
  {
    name: 'validator',
    title: 'Validator',
    value: ({ owner }) => owner,
    cell: ({ owner, voter }) => (
      <>
        <ValidatorLink owner={owner} />
        {voter === '' || voter === owner ? null : (
          <small class='soft'>
            {' '}
            sent by <AccountLink address={voter} />, who owned it then
          </small>
        )}
      </>
    ),
    corner: 'name',
  },
  { title: 'Sent by', value: ({ voter }) => voter, isFileOnly: true },
  {
    name: 'answer',
    title: 'Answer',
    value: ({ answer }) => ANSWERS[answer],
    cell: ({ answer }) =>
      answer === '' ? <span class='soft'>Not voted</span> : <Badge tone={TONES[answer]}>{ANSWERS[answer]}</Badge>,
    corner: 'figure',
    width: '8rem',
  },
  {
    name: 'block',
    title: 'Block',
    value: ({ height }) => height,
    cell: ({ height }) => (height === 0 ? null : <HeightLink height={height} />),
    isNumber: true,
    corner: 'aside',
    label: 'Block',
    width: '7rem',
  },
]

/** What a vote counts for while it counts. Of those on an ended proposal the chain keeps only the sums. */
const powerColumnsOf = (total: number): readonly Column<VoteRow>[] => [
  {
    name: 'power',
    title: 'Power now',
    value: ({ power }) => power ?? 0,
    cell: ({ power }) => (power === undefined ? <span class='soft'>not in the set</span> : formatCount(power)),
    isNumber: true,
    corner: 'note',
    label: 'Power',
    width: '10rem',
  },
  {
    name: 'share',
    title: 'Share',
    value: ({ power = 0 }) => power,
    cell: ({ power = 0 }) => formatShare(power, total),
    file: ({ power = 0 }) => formatShare(power, total),
    isNumber: true,
    width: '6rem',
  },
]

/** Who voted what. While the proposal is open, also what each vote counts for, and who of the set has not voted. */
export function Votes({ proposal }: { readonly proposal: WholeProposal }) {
  const { Votes: votes, Result } = proposal
  const known = useValidatorSet().data
  const set = known?.data ?? []
  const powers = new Map<string | null, number>()
  // A candidacy that changes its key has two members.
  for (const { owner_address: owner, power } of set) powers.set(owner, (powers.get(owner) ?? 0) + power)
  // A vote belongs to a candidacy and stays with it: behind a hand-over another account owns it than sent it.
  const rows: VoteRow[] = votes.map(({ Voter: voter, Owner: owner, Answer: answer, BlockHeight: height }) => {
    return { owner: owner ?? voter, voter, answer, height, power: owner === undefined ? undefined : powers.get(owner) }
  })
  if (Result === '') {
    const voted = new Set(votes.map(({ Owner: owner }) => owner))
    for (const [owner, power] of powers) {
      if (owner !== null && !voted.has(owner)) rows.push({ owner, voter: '', answer: '', height: 0, power })
    }
    rows.sort((a, b) => (a.answer === '' ? 1 : 0) - (b.answer === '' ? 1 : 0) || (b.power ?? -1) - (a.power ?? -1))
  }
  const total = set.reduce((sum, { power }) => sum + power, 0)
  // Until the set is known, nobody is said not to be in it.
  const shown = Result === '' && known !== undefined ? [...columns, ...powerColumnsOf(total)] : columns
  return (
    <Table
      label='Votes'
      columns={shown}
      rows={rows}
      keyOf={({ owner, voter, height }) => `${owner}/${voter}/${height}`}
      linkOf={({ owner }) => linkTo(['validators', owner])}
      empty='Nobody voted.'
    />
  )
}
