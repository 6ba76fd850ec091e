import { useEffect, useRef } from 'preact/hooks'
import { ErrorNote } from '../parts/notes.tsx'
import { useRun } from '../parts/useRun.ts'
import { KeyError, type KeyField } from './keyError.ts'

/** Runs `job` when a form of the wallet is submitted. An error is shown at the field that caused it, which gets the focus. */
export function useJob(job: () => Promise<void>) {
  const form = useRef<HTMLFormElement>(null)
  const { isBusy, error, run } = useRun()
  const blamed = error instanceof KeyError ? error.field : undefined
  useEffect(() => {
    const field = form.current?.querySelector<HTMLInputElement>('[aria-invalid]')
    field?.focus()
    if (field?.type === 'password') field.select()
  }, [error])
  const onSubmit = (event: Event): void => {
    event.preventDefault()
    void run(job)
  }
  return {
    isBusy,
    run,
    props: { class: 'form', ref: form, onSubmit },
    errorAt: (field: KeyField) => (blamed === field ? error?.message : undefined),
    note: blamed === undefined && <ErrorNote error={error} />,
  }
}
