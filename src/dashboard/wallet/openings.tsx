import { useRef, useState } from 'preact/hooks'
import { fromHex } from '../../base/bytes.ts'
import { Labelled } from '../forms/Labelled.tsx'
import { KeyError } from './keyJobs.ts'
import { runKeyJob } from './keys.ts'
import { addKey } from './wallet.ts'

/** What runs when a form of the wallet is submitted: one at a time, and its error is told. */
function useJob(job: () => Promise<void>) {
  const [error, setError] = useState<KeyError>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await job()
    } catch (thrown) {
      setError(thrown instanceof KeyError ? thrown : new KeyError((thrown as Error).message, false))
      setBusy(false)
    }
  }
  return { error, isBusy, submit }
}

/** Opens a keystore file. */
export function KeystoreForm({ onOpen }: { readonly onOpen: () => void }) {
  const [file, setFile] = useState<File>()
  const password = useRef<HTMLInputElement>(null)
  const { error, isBusy, submit } = useJob(async () => {
    const field = password.current
    if (file === undefined || field === null) throw new KeyError('Choose a keystore file first.', false)
    try {
      const seed = await runKeyJob('openKeystore', { text: await file.text(), password: field.value })
      field.value = ''
      addKey(seed, 'keystore')
      seed.fill(0)
      onOpen()
    } catch (thrown) {
      field.focus()
      field.select()
      throw thrown
    }
  })
  const why = error?.isPassword === true ? 'This password does not open the keystore.' : error?.message
  return (
    <form class='form' onSubmit={submit}>
      <Labelled label='Keystore file' hint='As svcd keys new writes it.'>
        {(props) => (
          <input {...props} type='file' onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])} />
        )}
      </Labelled>
      <Labelled label='Password' error={why}>
        {(props) => <input {...props} ref={password} type='password' autoComplete='off' />}
      </Labelled>
      <button class='main' disabled={isBusy} type='submit'>
        {isBusy ? 'Opening, this takes some seconds' : 'Open'}
      </button>
    </form>
  )
}

/** Opens an account of a mnemonic. */
export function WordsForm({ onOpen }: { readonly onOpen: () => void }) {
  const words = useRef<HTMLTextAreaElement>(null)
  const [index, setIndex] = useState('0')
  const { error, isBusy, submit } = useJob(async () => {
    const field = words.current
    if (field === null || field.value.trim() === '') throw new KeyError('Write the words of the account.', false)
    if (!/^[0-9]{1,9}$/.test(index))
      throw new KeyError('The number of the account is 0 or a whole number above it.', false)
    const given = field.value.trim().toLowerCase().replace(/\s+/g, ' ')
    const seed = await runKeyJob('openWords', { words: given, index: Number(index) })
    field.value = ''
    addKey(seed, 'words')
    seed.fill(0)
    onOpen()
  })
  return (
    <form class='form' onSubmit={submit}>
      <Labelled label='Words' hint='12 to 24 English words, with spaces between them.' error={error?.message}>
        {(props) => (
          <textarea {...props} ref={words} rows={3} autoComplete='off' spellcheck={false} autocapitalize='off' />
        )}
      </Labelled>
      <Labelled label='Account' hint='The first account of the words has the number 0.'>
        {(props) => (
          <input
            {...props}
            inputMode='numeric'
            value={index}
            onInput={({ currentTarget }) => setIndex(currentTarget.value)}
          />
        )}
      </Labelled>
      <button class='main' disabled={isBusy} type='submit'>
        {isBusy ? 'Opening' : 'Open'}
      </button>
    </form>
  )
}

/** Opens the account of a private key. */
export function PrivateKeyForm({ onOpen }: { readonly onOpen: () => void }) {
  const key = useRef<HTMLInputElement>(null)
  const { error, isBusy, submit } = useJob(async () => {
    const field = key.current
    const seed = fromHex(field?.value.trim().replace(/^0x/, '') ?? '')
    if (field === null || seed?.length !== 32)
      throw new KeyError('A private key is 64 hex digits, with 0x before them or without.', false)
    addKey(seed, 'key')
    seed.fill(0)
    field.value = ''
    onOpen()
  })
  return (
    <form class='form' onSubmit={submit}>
      <Labelled label='Private key' hint='64 hex digits.' error={error?.message}>
        {(props) => <input {...props} ref={key} type='password' autoComplete='off' />}
      </Labelled>
      <button class='main' disabled={isBusy} type='submit'>
        Open
      </button>
    </form>
  )
}
