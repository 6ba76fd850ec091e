import { useRef, useState } from 'preact/hooks'
import { isTooShort, PASSWORD_LENGTH_MIN } from '../../keys/password.ts'
import { Labelled } from '../forms/Labelled.tsx'
import { download } from '../parts/csv.ts'
import { runKeyJob } from './keys.ts'
import { addKey } from './wallet.ts'

/** The words that are asked back, so that nobody goes on without having written them down. */
const ASKED = [2, 11, 20]

type Step =
  | { readonly name: 'begin' }
  | { readonly name: 'show' | 'confirm' | 'keep'; readonly words: readonly string[] }

/** Asks some of the words back. */
function Confirm({ words, onRight }: { readonly words: readonly string[]; readonly onRight: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [error, setError] = useState<string>()
  const submit = (event: Event): void => {
    event.preventDefault()
    const given = [...(form.current?.querySelectorAll('input') ?? [])].map(({ value }) => value.trim().toLowerCase())
    if (ASKED.every((at, index) => given[index] === words[at])) onRight()
    else setError('One of these is another word. Look at what you wrote down.')
  }
  return (
    <form class='form' ref={form} onSubmit={submit}>
      {ASKED.map((at, index) => (
        <Labelled key={at} label={`Word ${at + 1}`} {...(index === ASKED.length - 1 ? { error } : {})}>
          {(props) => <input {...props} autoComplete='off' spellcheck={false} autocapitalize='off' />}
        </Labelled>
      ))}
      <button class='main' type='submit'>
        Confirm
      </button>
    </form>
  )
}

/** Offers the new account as a keystore file, and opens it. */
function Keep({ words, onOpen }: { readonly words: readonly string[]; readonly onOpen: () => void }) {
  const password = useRef<HTMLInputElement>(null)
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const open = async (isKept: boolean): Promise<void> => {
    const given = password.current?.value ?? ''
    if (isKept && isTooShort(given)) return setError(`Take a password of at least ${PASSWORD_LENGTH_MIN} characters.`)
    setBusy(true)
    setError(undefined)
    try {
      const seed = await runKeyJob('openWords', { words: words.join(' '), index: 0 })
      const text = isKept ? await runKeyJob('seal', { seed, password: given }) : ''
      const address = addKey(seed, 'words')
      seed.fill(0)
      if (password.current !== null) password.current.value = ''
      if (isKept) download(`${address}.json`, text, 'application/json')
      onOpen()
    } catch (thrown) {
      setError((thrown as Error).message)
      setBusy(false)
    }
  }
  return (
    <form
      class='form'
      onSubmit={(event) => {
        event.preventDefault()
        void open(true)
      }}
    >
      <Labelled label='Password of the keystore file' hint='Whoever has both can act for you.' error={error}>
        {(props) => <input {...props} ref={password} type='password' autoComplete='new-password' />}
      </Labelled>
      <div class='actions'>
        <button class='main' type='submit' disabled={isBusy}>
          {isBusy ? 'Sealing, this takes some seconds' : 'Download the keystore file and open the account'}
        </button>
        <button type='button' disabled={isBusy} onClick={() => void open(false)}>
          Open it without a file
        </button>
      </div>
    </form>
  )
}

/** Makes a new account: its words are shown once and asked back. */
export function NewAccount({ onOpen }: { readonly onOpen: () => void }) {
  const [step, setStep] = useState<Step>({ name: 'begin' })
  if (step.name === 'begin') {
    const begin = async (): Promise<void> =>
      setStep({ name: 'show', words: (await runKeyJob('newWords', {})).split(' ') })
    return (
      <div class='form'>
        <p>
          A new account is 24 words, made in this browser. Whoever has them can act for you, and nobody can give them
          back to you: have paper ready.
        </p>
        <button type='button' class='main' onClick={() => void begin()}>
          Show the words
        </button>
      </div>
    )
  }
  const { words } = step
  if (step.name === 'confirm') return <Confirm words={words} onRight={() => setStep({ name: 'keep', words })} />
  if (step.name === 'keep') return <Keep words={words} onOpen={onOpen} />
  return (
    <div class='form'>
      <p>Write these down in this order. They are shown only now.</p>
      <ol class='words'>
        {words.map((word, index) => (
          <li key={`${index}`}>{word}</li>
        ))}
      </ol>
      <button type='button' class='main' onClick={() => setStep({ name: 'confirm', words })}>
        I have written them down
      </button>
    </div>
  )
}
