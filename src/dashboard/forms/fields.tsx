import type { ComponentChildren } from 'preact'
import { parseJson } from '../../base/json.ts'
import { Svc } from '../../client/index.ts'
import type { FormField } from '../../client/gen/forms.ts'
import { formatCount } from '../format.ts'
import { bytesOf, unitsOf } from './check.ts'
import { type InputProps, Labelled } from './Labelled.tsx'

/** What every field is given. */
export interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly onBlur?: () => void
  readonly hint?: ComponentChildren
  /** What is wrong with it, when that is to be told. */
  readonly error?: string | undefined
  readonly isOptional?: boolean
}

/** From how many bytes on a text has room for several lines. */
const LONG_BYTES = 512

type Control = Pick<FieldProps, 'value' | 'onInput' | 'onBlur'>

const lineOf = ({ value, onInput, onBlur }: Control, props: InputProps, more: object = {}) => (
  <input
    {...props}
    {...more}
    autoComplete='off'
    spellcheck={false}
    value={value}
    onInput={({ currentTarget }) => onInput(currentTarget.value)}
    onBlur={onBlur}
  />
)

/** A text, with the bytes that it takes where there is a limit. */
export function TextField({ bytesMax = 0, ...props }: FieldProps & { readonly bytesMax?: number | undefined }) {
  const { value, onInput, onBlur } = props
  const note =
    bytesMax === 0 || value === '' ? undefined : `${formatCount(bytesOf(value))} / ${formatCount(bytesMax)} bytes`
  return (
    <Labelled {...props} note={note}>
      {(given) =>
        bytesMax < LONG_BYTES ? (
          lineOf(props, given)
        ) : (
          <textarea
            {...given}
            rows={3}
            value={value}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
            onBlur={onBlur}
          />
        )
      }
    </Labelled>
  )
}

/** An amount, typed in tokens. `most`: base units that a button fills in. */
export function AmountField({
  hint = 'in tokens, such as 1.5',
  most,
  ...props
}: FieldProps & { readonly most?: bigint | undefined }) {
  const units = props.value === '' ? undefined : unitsOf(props.value)
  return (
    <Labelled {...props} hint={hint} note={units === undefined ? undefined : `${formatCount(units)} base units`}>
      {(given) => (
        <div class='with-button'>
          {lineOf(props, given, { inputMode: 'decimal' })}
          {most === undefined ? null : (
            <button type='button' onClick={() => props.onInput(Svc.toTokens(most))}>
              Max
            </button>
          )}
        </div>
      )}
    </Labelled>
  )
}

export function ChoiceField({
  values,
  ...props
}: FieldProps & { readonly values: readonly (readonly [value: string, title: string])[] }) {
  const { value, isOptional, onInput, onBlur } = props
  return (
    <Labelled {...props}>
      {(given) => (
        <select {...given} value={value} onChange={({ currentTarget }) => onInput(currentTarget.value)} onBlur={onBlur}>
          {value === '' || isOptional === true ? <option value=''>Choose</option> : null}
          {values.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

/** A field of one line; `more` are attributes of its input. */
const lineField = (more: object) => (props: FieldProps) => (
  <Labelled {...props}>{(given) => lineOf(props, given, more)}</Labelled>
)

/** An address, a key, a hash or an id: text of one line that is copied rather than written. */
export const CodeField = lineField({ class: 'mono', autocapitalize: 'off' })

export const CountField = lineField({ inputMode: 'numeric' })

const YES_NO = [
  ['Y', 'Yes'],
  ['N', 'No'],
] as const

/** The key in what `cometbft show-validator` prints, `{"type": …, "value": …}`; any other text as it is. */
function keyIn(given: string): string {
  const { value } = (parseJson(given) ?? {}) as { readonly value?: unknown }
  return typeof value === 'string' ? value : given
}

/** The field of an operation, by what it holds. */
export function FieldOf({ field, ...props }: FieldProps & { readonly field: FormField }) {
  const { kind, oneOf, bytesMax } = field
  if (oneOf !== undefined)
    return <ChoiceField {...props} values={oneOf.join() === 'Y,N' ? YES_NO : oneOf.map((one) => [one, one] as const)} />
  switch (kind) {
    case 'amount':
      return <AmountField {...props} />
    case 'uint':
      return <CountField {...props} />
    case 'pubKey':
      return <CodeField {...props} onInput={(given) => props.onInput(keyIn(given))} />
    case 'address':
    case 'proposalId':
      return <CodeField {...props} />
    default:
      return <TextField {...props} bytesMax={bytesMax} />
  }
}
