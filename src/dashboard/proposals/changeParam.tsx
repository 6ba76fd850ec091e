import { canonicalText } from '../../modules/params/definitions.ts'
import { svc } from '../data/gateway.ts'
import {
  exactValue,
  formatValue,
  parameterOf,
  type Params,
  parameters,
  rangeOf,
  valueText,
} from '../data/parameters.ts'
import type { ProposalOf } from '../data/proposals.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { ChoiceField, TextField } from '../forms/fields.tsx'
import type { FormParts } from '../forms/FormParts.ts'
import { expiringFields, openUntil, type OperationPage, pieceOf, proposalOf } from '../operations/operation.ts'
import { Shown } from '../parts/notes.tsx'
import { ParamValue } from '../parts/ParamValue.tsx'
import { HeightLink } from '../parts/text.tsx'
import { piece } from '../pieces.ts'
import { linkTo, setOptions, useRoute } from '../route.ts'
import type { Facts } from '../wallet/facts.ts'
import { type KindPage, Side } from './kind.tsx'

const valueToday = (params: Facts['params'], name: string): string =>
  String((params as Readonly<Record<string, unknown>>)[name] ?? '?')

/** What a change sets, exactly: `max_vals from 4 to 7`. */
const changeOf = (name: string, value: string, params: Facts['params']): string =>
  `${name} from ${exactValue(name, valueToday(params, name))} to ${exactValue(name, value)}`

function Changes({ proposal }: { readonly proposal: ProposalOf<'change_param'> }) {
  const { BlockHeight: height, Result: result, ResultBlockHeight: end } = proposal
  const { name, value } = proposal.Detail
  const before = useAnswer(`params/${height}`, () => svc.async.governance.getParams(height), 'once')
  const now = useAnswer('params', () => svc.async.governance.getParams())
  const parameter = parameterOf(name)
  return (
    <Shown answer={before} lines={2}>
      {({ data }) => {
        const old = (data as Params)[name] ?? ''
        const present = (now.data?.data as Params | undefined)?.[name]
        // What neither stood there when it was proposed nor is proposed: another proposal came in between.
        const isOther = present !== undefined && String(present) !== String(old) && String(present) !== value
        return (
          <>
            <dl class='change'>
              <Side name={result === '' ? 'When it was proposed' : 'Before'}>
                <ParamValue name={name} value={old} />
              </Side>
              <span class='arrow' aria-hidden='true'>
                →
              </span>
              <Side
                name={
                  result === 'Approved' ? (
                    <>
                      From block <HeightLink height={end + 1} />
                    </>
                  ) : (
                    'Proposed'
                  )
                }
              >
                <ParamValue name={name} value={value} />
              </Side>
              {isOther ? (
                <Side name='In force now'>
                  <ParamValue name={name} value={present} />
                </Side>
              ) : null}
            </dl>
            <p class='soft'>
              <a href={linkTo(['parameters', name])}>{name}</a>: {parameter?.doc} A proposal may set{' '}
              {parameter === undefined ? '' : rangeOf(parameter)}.
            </p>
          </>
        )
      }}
    </Shown>
  )
}

/** The parameter is picked from a list, which shows what is in force. */
function useForm(): FormParts {
  const name = useRoute().options.get('name') ?? ''
  const now = useAnswer('params', () => svc.async.governance.getParams()).data?.data as Params | undefined
  const textOf = (one: string): string => (now === undefined ? '' : valueText(one, now[one] ?? ''))
  return {
    operation: 'proposeChangeParam',
    initial: { name: parameterOf(name) === undefined ? '' : name },
    check: ({ name: chosen = '', value = '' }) => {
      const type = parameterOf(chosen)?.type
      const canonical = type === undefined ? {} : canonicalText(type, value.trim())
      const isToday = 'text' in canonical && canonical.text === String(now?.[chosen])
      return isToday ? { value: `it is ${textOf(chosen)} already` } : {}
    },
    custom: {
      name: (field) => (
        <ChoiceField
          {...field}
          hint={parameterOf(field.value)?.doc}
          values={parameters.map((one) => [one.name, `${one.name}: ${textOf(one.name)}`] as const)}
          onInput={(chosen) => {
            setOptions({ name: chosen })
            field.onInput(chosen)
          }}
        />
      ),
      value: (field) => {
        const parameter = parameterOf(field.typing['name'] ?? '')
        return (
          <TextField
            {...field}
            hint={
              parameter === undefined
                ? 'Choose a parameter first.'
                : `Now ${textOf(parameter.name)}. A proposal may set ${rangeOf(parameter)}.`
            }
          />
        )
      },
    },
  }
}

export const changeParam: KindPage<ProposalOf<'change_param'>> = {
  title: 'Parameter',
  doc: 'Gives a parameter of the chain a new value. It is in force from the block after the approval.',
  sentence: ({ name, value }) => `Set ${name} to ${valueText(name, value)}`,
  effect: ({ name, value }, params) => `sets ${changeOf(name, value, params)}`,
  Changes,
  useForm,
}

export const proposeChangeParam: OperationPage<'proposeChangeParam'> = {
  title: 'Propose a new value of a parameter',
  words: (message) => [
    'propose to set ',
    pieceOf('parameter', message, 'name'),
    ' to ',
    piece('stranger', formatValue(String(message['value'] ?? ''))),
  ],
  happened: ({ name, ...of }) => ['proposed a new value of ', piece('parameter', name), ': ', proposalOf(of)],
  sentence: ({ name, value }, { params }) => `Propose to set ${changeOf(name, value, params)}.`,
  due: openUntil,
  fields: { name: { label: 'Parameter' }, value: { label: 'New value' }, ...expiringFields },
}
