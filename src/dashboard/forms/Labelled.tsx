import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** What an input is given so that its label, hint and error belong to it. */
export interface InputProps {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: 'true'
}

/** An input with its label above and its hint and error below. */
export function Labelled({
  label,
  hint,
  error,
  note,
  isOptional = false,
  children,
}: {
  readonly label: string
  readonly hint?: ComponentChildren
  /** What is wrong with it, when that is to be told. */
  readonly error?: string | undefined
  /** What stands at the end of the label's line, such as a counter. */
  readonly note?: ComponentChildren
  readonly isOptional?: boolean
  readonly children: (props: InputProps) => ComponentChildren
}) {
  const id = useId()
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(error === undefined ? [] : [`${id}-error`]),
  ].join(' ')
  return (
    <div class='field'>
      <div class='field-head'>
        <label for={id}>
          {label}
          {isOptional ? <span class='soft'> (optional)</span> : null}
        </label>
        {note === undefined ? null : <span class='soft'>{note}</span>}
      </div>
      {children({
        id,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(error === undefined ? {} : { 'aria-invalid': 'true' as const }),
      })}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class='hint'>
          {hint}
        </p>
      )}
      {/* It is there from the beginning, so that what comes into it is read out. */}
      <p id={`${id}-error`} class='field-error' aria-live='polite'>
        {error === undefined ? null : `${error.slice(0, 1).toUpperCase()}${error.slice(1)}`}
      </p>
    </div>
  )
}
