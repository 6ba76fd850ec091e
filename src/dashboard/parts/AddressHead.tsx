import { useState } from 'preact/hooks'
import { LABEL_LENGTH_MAX, labels, setLabel } from '../data/labels.ts'
import { useStore } from '../data/store.ts'
import { Labelled } from '../forms/Labelled.tsx'
import { Section } from './layout.tsx'
import { lazyPart } from './lazyView.tsx'
import { AccountLink, Whole } from './text.tsx'
import { useFocus } from './useFocus.ts'

const Qr = lazyPart(async () => (await import('./Qr.tsx')).Qr)

/** Gives an address a label, changes it or takes it away. */
function LabelForm({ address, onEnd }: { readonly address: string; readonly onEnd: () => void }) {
  const label = labels.get().get(address)
  const field = useFocus<HTMLInputElement>()
  const [error, setError] = useState<string>()
  const save = (text: string): void => {
    const why = setLabel(address, text)
    if (why === undefined) onEnd()
    else setError(why)
  }
  return (
    <form
      class='form narrow'
      onSubmit={(event) => {
        event.preventDefault()
        save(field.current?.value ?? '')
      }}
    >
      <Labelled
        label='Your label for this address'
        hint='Only this browser has it. The chain knows nothing of it.'
        error={error}
      >
        {(props) => (
          <input
            {...props}
            ref={field}
            defaultValue={label ?? ''}
            maxLength={LABEL_LENGTH_MAX}
            autoComplete='off'
            spellcheck={false}
          />
        )}
      </Labelled>
      <div class='actions'>
        <button class='main' type='submit'>
          Save the label
        </button>
        {label === undefined ? null : (
          <button type='button' onClick={() => save('')}>
            Remove the label
          </button>
        )}
        <button type='button' onClick={onEnd}>
          Cancel
        </button>
      </div>
    </form>
  )
}

/** The address of an account at the head of its view: to be copied, as a QR code, and with the reader's own label. */
export function AddressHead({ address }: { readonly address: string }) {
  const label = useStore(labels).get(address)
  const [shown, setShown] = useState<'code' | 'label'>()
  const toggle = (part: typeof shown): void => setShown(shown === part ? undefined : part)
  return (
    <div class='address-head'>
      <p class='summary'>
        <Whole text={address} label='the address' />{' '}
        <button type='button' class='copy' aria-expanded={shown === 'code'} onClick={() => toggle('code')}>
          QR code
        </button>{' '}
        <button type='button' class='copy' aria-expanded={shown === 'label'} onClick={() => toggle('label')}>
          {label === undefined ? 'Add a label' : 'Change the label'}
        </button>
      </p>
      {shown === 'code' ? <Qr text={address} label={`QR code of the address ${address}`} /> : null}
      {shown === 'label' ? <LabelForm address={address} onEnd={() => setShown(undefined)} /> : null}
    </div>
  )
}

/** Every label of this browser; nothing while there is none. */
export function OwnLabels() {
  const all = useStore(labels)
  if (all.size === 0) return null
  return (
    <Section title='Your labels' aside='only this browser has them'>
      <ul class='events'>
        {[...all].map(([address, label]) => (
          <li key={address} class='row'>
            <span>
              <AccountLink address={address} />
            </span>
            <button type='button' class='quiet' onClick={() => void setLabel(address, '')}>
              Remove<span class='visually-hidden'> the label {label}</span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  )
}
