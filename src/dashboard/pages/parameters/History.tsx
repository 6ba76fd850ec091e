import type { Parameter } from '../../../modules/params/definitions.ts'
import { askChangesOf, formatValue, type GivenValue, rangeOf, useParamsHistory } from '../../data/parameters.ts'
import { proposalLink, type ProposalOf, useLatest } from '../../data/proposals.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { Facts, Section, View } from '../../parts/layout.tsx'
import { EmptyNote, Pending, Shown } from '../../parts/notes.tsx'
import { ParamValue } from '../../parts/ParamValue.tsx'
import { Plot } from '../../parts/Plot.tsx'
import { type Column, Table } from '../../parts/Table.tsx'
import { Ago, HeightLink } from '../../parts/text.tsx'
import { ValidatorLink } from '../../parts/ValidatorLink.tsx'
import { Verified } from '../../parts/Verified.tsx'
import { linkTo } from '../../route.ts'

/** A value with the proposal that brought it; genesis brought the first one. */
interface HistoryRow extends GivenValue {
  readonly proposal: ProposalOf<'change_param'> | undefined
}

/** The values of one parameter, the newest first, each with its proposal. Several of one block: the last one wins. */
function rowsOf(
  parameter: Parameter,
  given: readonly GivenValue[],
  changes: readonly ProposalOf<'change_param'>[],
): HistoryRow[] {
  const { name, type } = parameter
  const canonical = (text: string): string => {
    const value = type.parse(text)
    return value === undefined ? '' : type.print(value)
  }
  return given
    .filter((one) => one.name === name)
    .map((one) => ({
      ...one,
      proposal: changes.find(
        ({ ResultBlockHeight, Detail }) =>
          ResultBlockHeight + 1 === one.height_in_force && canonical(Detail.value) === one.value,
      ),
    }))
}

function Steps({ rows, height, parameter }: { rows: readonly HistoryRow[]; height: number; parameter: Parameter }) {
  const ascending = rows.filter((one) => one.height_in_force <= height).toReversed()
  const last = ascending.at(-1)
  const points = last === undefined ? [] : [...ascending, { ...last, height_in_force: height }]
  return (
    <Plot
      label={`${parameter.name}, in ${parameter.unit}, by block`}
      kind='steps'
      x={points.map((one) => one.height_in_force)}
      y={points.map(({ value }) => Number(value))}
      height={200}
      print={(value) => formatValue(String(value))}
    />
  )
}

/** The latest value, proven where the reader wants that. A row cannot prove that there is no later one. */
const Proof = ({ name, row: { height_in_force: height, value } }: { name: string; row: GivenValue }) => (
  <Verified
    call={() => svc.verified.getProof('params', `${name}/${height}`)}
    expect={{ value }}
    told={() => 'the block from which it is in force. This does not prove that no later value was set'}
  />
)

/** What a parameter was, from which block on, and by which proposal. */
export function ParameterHistory({ parameter }: { readonly parameter: Parameter }) {
  const { name, doc, unit } = parameter
  const history = useParamsHistory()
  const known = history.data?.data.length
  const changes = useLatest(
    useAnswer(known === undefined ? undefined : `changes/${name}/${known}`, () => askChangesOf(name), 'once'),
  )
  const rows = rowsOf(parameter, history.data?.data ?? [], changes.data ?? [])
  const none = changes.data === undefined ? <Pending /> : null
  const columns: readonly Column<HistoryRow>[] = [
    {
      name: 'value',
      title: 'Value',
      value: ({ value }) => (unit === '' ? value : Number(value)),
      file: ({ value }) => value,
      cell: ({ value }) => <ParamValue name={name} value={value} />,
      corner: 'name',
    },
    {
      name: 'from',
      title: 'In force from block',
      value: ({ height_in_force: height }) => height,
      cell: ({ height_in_force: height }) => (height === 0 ? 'genesis' : <HeightLink height={height} />),
      corner: 'note',
      label: 'From',
      width: '10rem',
    },
    {
      name: 'proposal',
      title: 'By proposal',
      value: ({ proposal }) => proposal?.Id ?? '',
      cell: ({ proposal, value }) =>
        proposal === undefined ? none : <a href={proposalLink(proposal.Id)}>Set to {formatValue(value)}</a>,
      corner: 'figure',
      width: '11rem',
    },
    {
      name: 'proposer',
      title: 'Proposer',
      value: ({ proposal }) => proposal?.Proposer ?? '',
      cell: ({ proposal }) => (proposal === undefined ? none : <ValidatorLink owner={proposal.Proposer} />),
      width: '12rem',
    },
    {
      name: 'approved',
      title: 'Approved',
      value: ({ proposal }) => proposal?.ResultAt ?? '',
      cell: ({ proposal }) => (proposal === undefined ? none : <Ago time={proposal.ResultAt} />),
      corner: 'aside',
      isNumber: true,
      width: '8.5rem',
    },
  ]
  return (
    <View
      title={name}
      actions={
        <a class='button' href={linkTo(['proposals', 'new', 'change_param'], { name })}>
          Propose a change
        </a>
      }
    >
      <Shown answer={history} lines={6}>
        {({ height }) => {
          const inForce = rows.find((one) => one.height_in_force <= height)
          return (
            <>
              <Facts
                facts={{
                  Meaning: doc,
                  'In force': inForce === undefined ? '–' : <ParamValue name={name} value={inForce.value} />,
                  'A proposal may set': rangeOf(parameter),
                }}
              />
              {inForce === undefined ? null : <Proof name={name} row={inForce} />}
              <Section title='History'>
                {/* Without a unit they are no numbers. */}
                {rows.length > 1 && unit !== '' ? <Steps rows={rows} height={height} parameter={parameter} /> : null}
                <div class='stack'>
                  {rows.length <= 1 ? <EmptyNote>No proposal has changed it so far.</EmptyNote> : null}
                  <Table
                    label={`History of ${name}`}
                    columns={columns}
                    rows={rows}
                    keyOf={(one) => one.height_in_force}
                    linkOf={({ proposal }) => (proposal === undefined ? undefined : proposalLink(proposal.Id))}
                    empty='There is no value yet.'
                  />
                </div>
              </Section>
            </>
          )
        }}
      </Shown>
    </View>
  )
}
