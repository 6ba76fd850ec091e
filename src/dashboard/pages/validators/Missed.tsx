import { useEffect } from 'preact/hooks'
import { type Commit, commitsOf, type End, type Run, runsOf } from '../../data/signing.ts'
import { formatCount, formatShare } from '../../format.ts'
import { heightColumn } from '../../parts/columns.tsx'
import { Section } from '../../parts/layout.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { HeightLink } from '../../parts/text.tsx'
import { linkTo } from '../../route.ts'
import type { Candidacy } from './candidacy.ts'
import type { History } from './useHistory.ts'

const GRID = 100

/** Pages of the history that are asked for so that it reaches as far back as the grid. */
const PAGES_MAX = 5

const END_WORDS: Readonly<Record<End, string>> = {
  open: 'it goes on',
  signed: 'it signed again',
  left: 'it had to sign no more',
}

const columns: readonly Column<Run>[] = [
  heightColumn('First missed', ({ first }) => first, { corner: 'name', label: 'Block' }),
  {
    title: 'Missed',
    value: ({ missed }) => missed ?? '',
    cell: ({ missed }) => (missed === undefined ? '–' : formatCount(missed)),
    isNumber: true,
    corner: 'figure',
    label: 'Missed',
    width: '8rem',
  },
  {
    title: 'Until',
    value: ({ end }) => END_WORDS[end],
    isNumber: true,
    corner: 'note',
    width: '16rem',
  },
]

const COMMIT_WORDS: Readonly<Record<Commit, string>> = {
  signed: 'signed',
  missed: 'missed',
  outside: 'not in the set',
}

/** What became of the last blocks, one by one, and which part of them was signed. */
function Grid({ commits }: { readonly commits: readonly (readonly [number, Commit])[] }) {
  const count = (what: Commit): number => commits.filter(([, commit]) => commit === what).length
  const [signed, missed] = [count('signed'), count('missed')]
  const outside = commits.length - signed - missed
  if (signed + missed === 0) return <p class='soft'>It had none of the last blocks to sign.</p>
  return (
    <>
      <p>
        Signed <strong>{formatShare(signed, signed + missed)}</strong> of the last {formatCount(signed + missed)} blocks
        that it had to sign: {missed === 0 ? 'it missed none' : `it missed ${formatCount(missed)}`}
        {outside === 0 ? '' : `, and was not in the set for ${formatCount(outside)}`}.
      </p>
      <ol class='commits' aria-label={`The last ${commits.length} blocks`}>
        {commits.map(([height, commit]) => (
          <li key={height}>
            <a
              class={commit}
              href={linkTo(['blocks', height])}
              title={`Block ${formatCount(height)}: ${COMMIT_WORDS[commit]}`}
              tabIndex={-1}
            >
              <span class='visually-hidden'>
                {height} {COMMIT_WORDS[commit]}
              </span>
            </a>
          </li>
        ))}
      </ol>
    </>
  )
}

/** Which blocks a validator signed and which it missed, whoever owned it then. */
export function Missed({
  candidacy: { validator, keys, absent },
  history,
  loadOlder,
}: {
  readonly candidacy: Candidacy
  readonly history: History
  readonly loadOlder: () => Promise<void>
}) {
  const { events, next, height, earliest } = history
  const begin = Math.max(1, validator.block_height, earliest)
  const oldest = next === null ? begin : (events.at(-1)?.height ?? begin)
  const isShort = oldest > height - GRID && next !== null && events.length < PAGES_MAX * 50
  // With each block, since it may fail.
  useEffect(() => {
    if (isShort) void loadOlder()
  }, [isShort, oldest, height])
  // An owner may have had another candidacy before.
  const told = events.filter((event) => event.height >= validator.block_height)
  const signing = { told, height, keys, absent }
  const runs = runsOf(signing)
  const now = runs.find(({ end }) => end === 'open')
  return (
    <Section title='Missed blocks' aside={`since block ${formatCount(oldest)}`}>
      <div class='stack'>
        {now !== undefined && (
          <p class='note bad'>
            It is missing now: it has signed no block since block <HeightLink height={now.first} />.
          </p>
        )}
        <Grid commits={commitsOf(signing, begin, GRID)} />
        {runs.length === 0 ? null : (
          <Table
            label='Missed blocks'
            columns={columns}
            rows={runs}
            keyOf={({ first: key }) => key}
            linkOf={({ first: height }) => linkTo(['blocks', height])}
          />
        )}
      </div>
    </Section>
  )
}
