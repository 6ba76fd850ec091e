import { useEffect, useRef, useState } from 'preact/hooks'
import { Labelled } from '../forms/Labelled.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { useFocus } from '../parts/useFocus.ts'
import { useRun } from '../parts/useRun.ts'
import { runKeyJob } from './keys.ts'
import { SealForm, saveKeystore } from './SealForm.tsx'
import { addKey } from './wallet.ts'
import { closeWallet, isAtRisk } from './walletDialog.ts'

/** How many of the words are asked back, so that nobody goes on without having written them down. */
const ASKED = 3

/** Which words are asked back: by chance, in their order. */
function chooseAsked(count: number): readonly number[] {
  const chances = crypto.getRandomValues(new Uint32Array(count))
  const all = [...chances.keys()].sort((a, b) => (chances[a] as number) - (chances[b] as number))
  return all.slice(0, ASKED).sort((a, b) => a - b)
}

interface OfWords {
  readonly words: readonly string[]
  readonly onBack: () => void
}

function Show({ words, onNext }: Pick<OfWords, 'words'> & { readonly onNext: () => void }) {
  const first = useFocus<HTMLParagraphElement>()
  return (
    <div class='form'>
      <p ref={first} tabIndex={-1}>
        Write these down in this order. They are shown only until the account is open.
      </p>
      <ol class='words'>
        {words.map((word, index) => (
          <li key={`${index}`}>{word}</li>
        ))}
      </ol>
      <button type='button' class='main' onClick={onNext}>
        I have written them down
      </button>
    </div>
  )
}

/** Asks some of the words back. */
function Confirm({ words, onBack, onRight }: OfWords & { readonly onRight: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const first = useFocus<HTMLInputElement>()
  const [asked] = useState(() => chooseAsked(words.length))
  const [wrong, setWrong] = useState<readonly number[]>([])
  const submit = (event: Event): void => {
    event.preventDefault()
    const fields = [...(form.current?.querySelectorAll('input') ?? [])]
    const given = fields.map(({ value }) => value.trim().toLowerCase())
    const missed = asked.filter((at, index) => given[index] !== words[at])
    if (missed.length === 0) return onRight()
    setWrong(missed)
    fields[asked.indexOf(missed[0] as number)]?.focus()
  }
  return (
    <form class='form' ref={form} onSubmit={submit}>
      {asked.map((at, index) => (
        <Labelled
          key={at}
          label={`Word ${at + 1}`}
          error={wrong.includes(at) ? 'It is another word. Look at what you wrote down.' : undefined}
        >
          {(props) => (
            <input
              {...props}
              {...(index === 0 ? { ref: first } : {})}
              autoComplete='off'
              spellcheck={false}
              autocapitalize='off'
            />
          )}
        </Labelled>
      ))}
      <div class='actions'>
        <button class='main' type='submit'>
          Confirm
        </button>
        <button type='button' onClick={onBack}>
          Back to the words
        </button>
      </div>
    </form>
  )
}

/** Offers the new account as a keystore file, and opens it. */
function Keep({ words, onBack }: OfWords) {
  const open = async (password?: string): Promise<void> => {
    const seed = await runKeyJob('openWords', words.join(' '), 0)
    const text = password === undefined ? undefined : await runKeyJob('seal', seed, password)
    const address = addKey(seed, 'words')
    if (text !== undefined) saveKeystore(address, text)
    closeWallet()
  }
  return (
    <SealForm
      submit='Download the keystore file and open the account'
      onPassword={open}
      other={[
        { title: 'Open it without a file', run: () => open() },
        { title: 'Back to the words', run: onBack },
      ]}
    />
  )
}

/** What a new account is, and the button that makes one. */
function Begin({ onWords }: { readonly onWords: (words: readonly string[]) => void }) {
  const { isBusy, error, run } = useRun()
  const begin = async (): Promise<void> => onWords((await runKeyJob('newWords')).split(' '))
  return (
    <div class='form'>
      <p>
        A new account is 24 words, made in this browser. Whoever has them can act for you, and nobody can give them back
        to you: have paper ready.
      </p>
      <ErrorNote error={error} />
      <button type='button' class='main' disabled={isBusy} onClick={() => void run(begin)}>
        Show the words
      </button>
    </div>
  )
}

/** Asks before the browser leaves the page. */
const askFirst = (event: Event): void => event.preventDefault()

/** Makes a new account: its words are shown and some of them asked back. Until it is open they are nowhere else. */
export function NewAccount() {
  const [words, setWords] = useState<readonly string[]>()
  const [step, setStep] = useState<'show' | 'confirm' | 'keep'>('show')
  const isMade = words !== undefined
  useEffect(() => {
    if (!isMade) return
    isAtRisk.set(true)
    addEventListener('beforeunload', askFirst)
    return () => {
      isAtRisk.set(false)
      removeEventListener('beforeunload', askFirst)
    }
  }, [isMade])
  const back = (): void => setStep('show')
  if (!isMade) return <Begin onWords={setWords} />
  if (step === 'confirm') return <Confirm words={words} onBack={back} onRight={() => setStep('keep')} />
  if (step === 'keep') return <Keep words={words} onBack={back} />
  return <Show words={words} onNext={() => setStep('confirm')} />
}
