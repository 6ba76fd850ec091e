import { useRef, useState } from 'preact/hooks'
import { fromHex } from '../../base/bytes.ts'
import { CountField } from '../forms/fields.tsx'
import { Labelled } from '../forms/Labelled.tsx'
import { KeyError } from './keyError.ts'
import { runKeyJob } from './keys.ts'
import { useJob } from './useJob.tsx'
import { addKey } from './wallet.ts'
import { closeOpened } from './walletDialog.ts'

export function KeystoreForm() {
  const [file, setFile] = useState<File>()
  const password = useRef<HTMLInputElement>(null)
  const job = useJob(async () => {
    const field = password.current
    if (file === undefined || field === null) throw new KeyError('Choose a keystore file first.', 'file')
    const seed = await runKeyJob('openKeystore', await file.text(), field.value)
    field.value = ''
    addKey(seed, 'keystore')
    closeOpened()
  })
  return (
    <form {...job.props}>
      <Labelled label='Keystore file' hint='As svcd keys new writes it.' error={job.errorAt('file')}>
        {(props) => (
          <input {...props} type='file' onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])} />
        )}
      </Labelled>
      <Labelled label='Password' error={job.errorAt('password') && 'This password does not open the keystore.'}>
        {(props) => <input {...props} ref={password} type='password' autoComplete='off' />}
      </Labelled>
      {job.note}
      <button class='main' disabled={job.isBusy} type='submit'>
        {job.isBusy ? 'Opening, this takes some seconds' : 'Open'}
      </button>
    </form>
  )
}

export function WordsForm() {
  const words = useRef<HTMLTextAreaElement>(null)
  const [index, setIndex] = useState('0')
  const job = useJob(async () => {
    const field = words.current
    if (field === null || field.value.trim() === '') throw new KeyError('Write the words of the account.', 'words')
    if (!/^[0-9]{1,9}$/.test(index))
      throw new KeyError('The number of the account is 0 or a whole number above it.', 'index')
    const given = field.value.trim().toLowerCase().replace(/\s+/g, ' ')
    const seed = await runKeyJob('openWords', given, Number(index))
    field.value = ''
    addKey(seed, 'words')
    closeOpened()
  })
  return (
    <form {...job.props}>
      <Labelled label='Words' hint='12 to 24 English words, with spaces between them.' error={job.errorAt('words')}>
        {(props) => (
          <textarea {...props} ref={words} rows={3} autoComplete='off' spellcheck={false} autocapitalize='off' />
        )}
      </Labelled>
      <CountField
        label='Account'
        hint='The first account of the words has the number 0.'
        error={job.errorAt('index')}
        value={index}
        onInput={setIndex}
      />
      {job.note}
      <button class='main' disabled={job.isBusy} type='submit'>
        {job.isBusy ? 'Opening' : 'Open'}
      </button>
    </form>
  )
}

export function PrivateKeyForm() {
  const key = useRef<HTMLInputElement>(null)
  const job = useJob(async () => {
    const field = key.current
    const seed = fromHex(field?.value.trim().replace(/^0x/, '') ?? '')
    if (field === null || seed?.length !== 32)
      throw new KeyError('A private key is 64 hex digits, with 0x before them or without.', 'key')
    addKey(seed, 'key')
    field.value = ''
    closeOpened()
  })
  return (
    <form {...job.props}>
      <Labelled label='Private key' hint='64 hex digits.' error={job.errorAt('key')}>
        {(props) => <input {...props} ref={key} type='password' autoComplete='off' />}
      </Labelled>
      {job.note}
      <button class='main' disabled={job.isBusy} type='submit'>
        Open
      </button>
    </form>
  )
}
