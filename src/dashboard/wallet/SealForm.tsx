import { useRef, useState } from 'preact/hooks'
import { isTooShort, PASSWORD_LENGTH_MIN } from '../../keys/password.ts'
import { Labelled } from '../forms/Labelled.tsx'
import { download } from '../parts/csv.ts'
import { useFocus } from '../parts/useFocus.ts'

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
  const [errors, setErrors] = useState<readonly (string | undefined)[]>([])
  const [isBusy, setBusy] = useState(false)
  const attempt = async (run: () => unknown): Promise<void> => {
    setBusy(true)
    setErrors([])
    try {
      await run()
    } catch (thrown) {
      setErrors([(thrown as Error).message])
      setBusy(false)
    }
  }
  const seal = (event: Event): void => {
    event.preventDefault()
    const [field, repeated] = [first.current, again.current]
    if (field === null || repeated === null) return
    const isShort = isTooShort(field.value)
    if (isShort || field.value !== repeated.value) {
      setErrors(
        isShort
          ? [`Take a password of at least ${PASSWORD_LENGTH_MIN} characters.`]
          : [undefined, 'This is not the same password.'],
      )
      ;(isShort ? field : repeated).focus()
      return
    }
    const { value } = field
    field.value = repeated.value = ''
    void attempt(() => onPassword(value))
  }
  return (
    <form class='form' onSubmit={seal}>
      <Labelled label='Password of the keystore file' hint='Whoever has both can act for you.' error={errors[0]}>
        {(props) => <input {...props} ref={first} type='password' autoComplete='new-password' />}
      </Labelled>
      <Labelled label='The password again' error={errors[1]}>
        {(props) => <input {...props} ref={again} type='password' autoComplete='new-password' />}
      </Labelled>
      <div class='actions'>
        <button class='main' type='submit' disabled={isBusy}>
          {isBusy ? 'Sealing, this takes some seconds' : submit}
        </button>
        {other.map(({ title, run }) => (
          <button key={title} type='button' disabled={isBusy} onClick={() => void attempt(run)}>
            {title}
          </button>
        ))}
      </div>
    </form>
  )
}
