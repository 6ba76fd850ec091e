import type { ComponentChildren } from 'preact'
import { sentenceOf } from '../data/errors.ts'
import type { Answer } from '../data/useAnswer.ts'

/** Why something cannot be shown, if there is an error. */
export function ErrorNote({ error }: { readonly error: Error | undefined }) {
  return error === undefined ? null : (
    <p class='note bad' role='alert'>
      {sentenceOf(error)}
    </p>
  )
}

/** That there is nothing to show, and why. */
export const EmptyNote = ({ children }: { readonly children: ComponentChildren }) => <p class='note'>{children}</p>

/** The place of something that is on its way. */
export const Loading = ({ lines = 3 }: { readonly lines?: number }) => (
  <div class='loading' aria-busy='true'>
    {Array.from({ length: lines }, (_, index) => (
      <span key={index} />
    ))}
    <span class='visually-hidden'>Loading</span>
  </div>
)

/** The place of a value that is on its way. */
export const Pending = () => (
  <span class='soft' aria-busy='true' title='on its way'>
    …
  </span>
)

/** Shows what `children` make of an answer, an error, or that it is on its way. With data an error is told above it. */
export function Shown<T>({
  answer,
  lines,
  children,
}: {
  readonly answer: Answer<T>
  readonly lines?: number
  readonly children: (data: T) => ComponentChildren
}) {
  const { data, error } = answer
  return (
    <>
      <ErrorNote error={error} />
      {data === undefined ? error === undefined && <Loading lines={lines ?? 3} /> : children(data)}
    </>
  )
}
