import { ChoiceField, TextField } from '../../../forms/fields.tsx'
import { OperationForm } from '../../../forms/OperationForm.tsx'
import { svc } from '../../../data/gateway.ts'
import { parameterOf, type Params, parameters, rangeOf } from '../../../data/parameters.ts'
import { useAnswer } from '../../../data/useAnswer.ts'
import { valueText } from '../../../parts/proposal.tsx'
import { setOptions, useRoute } from '../../../route.ts'
import type { KindProps } from '../New.tsx'
import { Fee } from './Fee.tsx'

/** Proposes a new value of the parameter that is picked from a list, which shows what is in force. */
export function ChangeParamForm({ onDone }: KindProps) {
  const name = useRoute().options.get('name') ?? ''
  const now = useAnswer('params', () => svc.async.governance.getParams()).data?.data as Params | undefined
  const textOf = (one: string): string => (now === undefined ? '' : valueText(one, now[one] ?? ''))
  return (
    <OperationForm
      operation='proposeChangeParam'
      initial={{ name: parameterOf(name) === undefined ? '' : name }}
      submit='Propose'
      note={<Fee operation='proposeChangeParam' />}
      custom={{
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
      }}
      onDone={onDone}
    />
  )
}
