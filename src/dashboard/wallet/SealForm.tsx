import { useRef } from 'preact/hooks'
import { isTooShort, PASSWORD_LENGTH_MIN } from '../../keys/password.ts'
import { Labelled } from '../forms/Labelled.tsx'
import { download } from '../parts/csv.ts'
import { useFocus } from '../parts/useFocus.ts'
import { KeyError } from './keyError.ts'
import { useJob } from './useJob.tsx'

/** Lets the browser save a keystore file. */
export const saveKeystore = (address: string, text: string): void =>
  download(`${address}.json`, text, 'application/json')

/** Asks for the password of a new keystore file, twice: nobody could open a file that was sealed by a slip. */
export function SealForm({
  submit,
  onPassword,
  other,
}: {
  /** What stands on the button. */
  readonly submit: string
  readonly onPassword: (password: string) => Promise<void>
  /** What else one may do. */
  readonly other: readonly { readonly title: string; readonly run: () => unknown }[]
}) {
  const first = useFocus<HTMLInputElement>()
  const again = useRef<HTMLInputElement>(null)
  const { isBusy, run, props, errorAt, note } = useJob(async () => {
    const [field, repeated] = [first.current, again.current]
    if (field === null || repeated === null) return
    const { value } = field
    if (isTooShort(value))
      throw new KeyError(`Take a password of at least ${PASSWORD_LENGTH_MIN} characters.`, 'password')
    if (value !== repeated.value) throw new KeyError('This is not the same password.', 'again')
    field.value = repeated.value = ''
    await onPassword(value)
  })
  return (
    <form {...props}>
      <Labelled
        label='Password of the keystore file'
        hint='Whoever has both can act for you.'
        error={errorAt('password')}
      >
        {(given) => <input {...given} ref={first} type='password' autoComplete='new-password' />}
      </Labelled>
      <Labelled label='The password again' error={errorAt('again')}>
        {(given) => <input {...given} ref={again} type='password' autoComplete='new-password' />}
      </Labelled>
      {note}
      <div class='actions'>
        <button class='main' type='submit' disabled={isBusy}>
          {isBusy ? 'Sealing, this takes some seconds' : submit}
        </button>
        {other.map(({ title, run: job }) => (
          <button key={title} type='button' disabled={isBusy} onClick={() => void run(job)}>
            {title}
          </button>
        ))}
      </div>
    </form>
  )
}
