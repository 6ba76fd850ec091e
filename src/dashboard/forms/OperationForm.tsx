import { type ComponentChildren, Fragment } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { TransactionResult } from '../../client/index.ts'
import { forms, type OperationInputs, type OperationName } from '../../client/gen/forms.ts'
import { useClock } from '../data/blockTime.ts'
import { hintOf, labelOf } from '../operations/index.ts'
import { useRoute } from '../route.ts'
import { act } from '../wallet/act.ts'
import { inputOf, leavesOf, pointNamesOf, problemsOf, problemsOfPoint, type Typing } from './check.ts'
import { draftDropper, keepDraft, readDraft } from './drafts.ts'
import { FieldOf, type FieldProps } from './fields.tsx'
import type { FormParts } from './FormParts.ts'
import { PointField } from './PointField.tsx'

/** The form of an operation, checked by the chain's own rules as one types. Amounts are typed in tokens. */
export function OperationForm({
  operation,
  initial = {},
  today = {},
  hidden = [],
  custom = {},
  check,
  note,
  submit,
  isDangerous = false,
  children,
  onDone,
}: FormParts & {
  /** What the chain has now: the form begins with it, and only what is changed is sent. */
  readonly today?: Typing
  /** Fields that are not shown: they have what `initial` says. */
  readonly hidden?: readonly string[]
  /** What stands beside the button. */
  readonly note?: ComponentChildren
  /** What stands on the button. */
  readonly submit: string
  /** What it does cannot be taken back. */
  readonly isDangerous?: boolean
  /** What stands above the button. */
  readonly children?: (typing: Typing) => ComponentChildren
  readonly onDone?: (result: TransactionResult) => void
}) {
  const { fields } = forms[operation]
  const { path } = useRoute()
  // A kind of proposal has an address with its name and one without it.
  const draft = [...path.slice(0, 2), operation].join('/')
  const [typing, setTyping] = useState<Typing>(() => ({ ...today, ...initial, ...readDraft(draft, initial) }))
  const latest = useRef(typing)
  latest.current = typing
  // What the chain has meanwhile must not become a change that the reader did not make.
  const [before] = useState(today)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  // Some fields remember more than what goes to the chain: with another round they begin anew.
  const [round, setRound] = useState(0)
  const form = useRef<HTMLFormElement>(null)
  const leaves = leavesOf(fields)
  const point = pointNamesOf(leaves.map(([name]) => name))
  const clock = useClock()
  const ofPoint = point === undefined || clock === undefined ? {} : problemsOfPoint(point, typing, clock)
  const problems = { ...problemsOf(fields, typing), ...ofPoint, ...check?.(typing) }
  const input = inputOf(fields, typing, before)
  const isChange = Object.keys(before).length > 0
  const told = Object.fromEntries(Object.entries(problems).filter(([name]) => touched.has(name)))
  const touch = (...names: readonly string[]): void => setTouched((last) => new Set([...last, ...names]))
  const change = (changed: Typing, isTold = true): void => {
    setTyping((last) => ({ ...last, ...changed }))
    keepDraft(draft, initial, changed)
    if (isTold) touch(...Object.keys(changed))
  }
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (Object.keys(problems).length > 0) {
      touch(...leaves.map(([name]) => name))
      // Once the errors stand there, the first field that has one takes the focus.
      setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus())
      return
    }
    // A page that is loaded again while the transaction waits must not offer it once more.
    const drop = draftDropper(draft)
    const result = await act(operation, input as OperationInputs[OperationName], drop)
    // What was typed since then is something else.
    if (result === undefined || latest.current !== typing) return
    drop()
    setTyping({ ...today, ...initial })
    setTouched(new Set())
    setRound((last) => last + 1)
    onDone?.(result)
  }
  const shown = leaves.filter(([name]) => !hidden.includes(name) && name !== point?.height && name !== point?.time)
  return (
    <form class='form' ref={form} onSubmit={send} noValidate>
      <Fragment key={round}>
        {shown.map(([name, field]) => {
          const props: FieldProps = {
            label: labelOf(operation, name),
            hint: hintOf(operation, name),
            isOptional: field.optional && !isChange,
            value: typing[name] ?? '',
            error: told[name],
            onInput: (value) => change({ [name]: value }),
            onBlur: () => touch(name),
          }
          const own = custom[name]
          if (own === null) return null
          if (own === undefined) return <FieldOf key={name} field={field} {...props} />
          return <Fragment key={name}>{own({ ...props, typing, errors: told, change })}</Fragment>
        })}
        {point === undefined || hidden.includes(point.height) ? null : (
          <PointField names={point} typing={typing} onChange={change} errors={told} />
        )}
      </Fragment>
      {children?.(typing)}
      <div class='actions'>
        <button
          class={isDangerous ? 'main danger' : 'main'}
          type='submit'
          disabled={isChange && Object.keys(input).length === 0}
        >
          {submit}
        </button>
        {note}
      </div>
    </form>
  )
}
