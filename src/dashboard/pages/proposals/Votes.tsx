import type { WholeProposal } from '../../data/proposals.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { formatCount, formatShare } from '../../format.ts'
import { type Column, Table } from '../../parts/Table.tsx'
import { Badge, HeightLink } from '../../parts/text.tsx'
import { ValidatorLink } from '../../parts/ValidatorLink.tsx'
import { linkTo } from '../../route.ts'

/** A validator's vote, or that it has not voted. */
interface VoteRow {
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
    value: ({ voter }) => voter,
    cell: ({ voter }) => <ValidatorLink owner={voter} />,
    corner: 'name',
  },
  {
    name: 'answer',
    title: 'Answer',
    value: ({ answer }) => ANSWERS[answer],
    cell: ({ answer }) =>
      answer === '' ? <span class='soft'>Not voted</span> : <Badge tone={TONES[answer]}>{ANSWERS[answer]}</Badge>,
    corner: 'figure',
  },
  {
    name: 'block',
    title: 'Block',
    value: ({ height }) => height,
    cell: ({ height }) => (height === 0 ? '–' : <HeightLink height={height} />),
    isNumber: true,
    corner: 'aside',
    label: 'Block',
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
  },
  {
    name: 'share',
    title: 'Share',
    value: ({ power = 0 }) => formatShare(power, total),
    isNumber: true,
  },
]

/** Who voted what. While the proposal is open, also what each vote counts for, and who of the set has not voted. */
export function Votes({ proposal: { Votes: votes, Result } }: { readonly proposal: WholeProposal }) {
  const set = useAnswer('validatorSet', () => svc.async.stake.validator.queryValidatorSet()).data?.data ?? []
  const powers = new Map(set.map(({ owner_address: owner, power }) => [owner ?? '', power]))
  const rows: VoteRow[] = votes.map(({ Voter: voter, Answer: answer, BlockHeight: height }) => {
    return { voter, answer, height, power: powers.get(voter) }
  })
  if (Result === '') {
    const voted = new Set(rows.map(({ voter }) => voter))
    for (const [voter, power] of powers) {
      if (voter !== '' && !voted.has(voter)) rows.push({ voter, answer: '', height: 0, power })
    }
    rows.sort((a, b) => (a.answer === '' ? 1 : 0) - (b.answer === '' ? 1 : 0) || (b.power ?? -1) - (a.power ?? -1))
  }
  const total = set.reduce((sum, { power }) => sum + power, 0)
  const shown = Result === '' ? [...columns, ...powerColumnsOf(total)] : columns
  return (
    <Table
      label='Votes'
      columns={shown}
      rows={rows}
      isSortable
      keyOf={({ voter }) => voter}
      linkOf={({ voter }) => linkTo(['validators', voter])}
      empty='Nobody voted.'
    />
  )
}
