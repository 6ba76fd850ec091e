import { useTimeOfHeight } from '../../data/blockTime.ts'
import { svc } from '../../data/gateway.ts'
import { useStakes } from '../../data/stakes.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { formatTime, isDate } from '../../format.ts'
import { amountColumn, heightColumn } from '../../parts/columns.tsx'
import { Section } from '../../parts/layout.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { Ago, Short } from '../../parts/text.tsx'
import { ValidatorLink } from '../../parts/ValidatorLink.tsx'
import { linkTo } from '../../route.ts'

/** Something that comes back to a balance. */
interface Entry {
  readonly index: number
  readonly amount: string
  readonly height: number
  readonly isOfOwnCandidacy: boolean
  /** The validator that it was staked with, unless its record is gone. */
  readonly validator?: string
  /** The key of the candidacy that it was part of. */
  readonly key: string
}

/** Amounts that an account will get back, from its candidacies and its stakes, soonest first. Undefined until they are known. */
export function useUnbonding(address: string): readonly Entry[] | undefined {
  const own = useAnswer(`unbonding/${address}`, () => svc.async.stake.validator.queryUnbonding(address)).data?.data
  const stakes = useStakes(address).data
  if (own === undefined || stakes === undefined) return undefined
  const entries = [
    ...own.map(({ amount, completion_height: height, pub_key: { value: key } }) => {
      return { amount, height, isOfOwnCandidacy: true, key }
    }),
    ...stakes.flatMap(({ validator_address: validator, pub_key, pending }) =>
      pending.map(({ amount, completion_height: height }) => ({
        amount,
        height,
        isOfOwnCandidacy: false,
        key: pub_key?.value ?? '',
        ...(validator ? { validator } : {}),
      })),
    ),
  ]
  return entries.sort((a, b) => a.height - b.height).map((entry, index) => ({ ...entry, index }))
}

/** When a block to come will be made, as blocks go now: in how long, or by the clock. */
function TimeOfHeight({ height, isClock = false }: { readonly height: number; readonly isClock?: boolean }) {
  const timeMs = useTimeOfHeight(height)
  if (timeMs === undefined || !isDate(timeMs)) return <span class='soft'>–</span>
  if (isClock) return <>about {formatTime(timeMs).slice(0, -3)} UTC</>
  return <Ago time={new Date(timeMs).toISOString()} />
}

function Source({ entry: { isOfOwnCandidacy, validator, key } }: { readonly entry: Entry }) {
  if (isOfOwnCandidacy) return <>its candidacy</>
  return validator === undefined ? <Short text={key} /> : <ValidatorLink owner={validator} />
}

const columns: readonly Column<Entry>[] = [
  amountColumn('Amount', ({ amount }) => amount, 2, { isNumber: false, corner: 'figure', width: '10rem' }),
  {
    title: 'From',
    value: ({ validator }) => validator ?? 'its candidacy',
    cell: (entry) => <Source entry={entry} />,
    corner: 'name',
  },
  heightColumn('In block', ({ height }) => height, { isNumber: true, corner: 'note', label: 'Block', width: '8rem' }),
  {
    title: 'About',
    value: ({ height }) => height,
    cell: ({ height }) => <TimeOfHeight height={height} />,
    isShownOnly: true,
    isNumber: true,
    corner: 'aside',
    width: '8rem',
  },
  {
    title: 'On the clock',
    value: ({ height }) => height,
    cell: ({ height }) => <TimeOfHeight height={height} isClock />,
    isShownOnly: true,
    isNumber: true,
    width: '16rem',
  },
  { title: 'Key of the candidacy', value: ({ key }) => key, isFileOnly: true },
]

/** What was withdrawn or taken back and is not paid yet. */
export function Unbonding({ address }: { readonly address: string }) {
  const entries = useUnbonding(address) ?? []
  if (entries.length === 0) return null
  return (
    <Section title='Unbonding' aside='In tokens, on the way back to the balance'>
      <Table
        label={`Unbonding of ${address}`}
        rows={entries}
        keyOf={({ index }) => index}
        linkOf={({ validator, height }) =>
          linkTo(validator === undefined ? ['blocks', height] : ['validators', validator])
        }
        columns={columns}
      />
    </Section>
  )
}
