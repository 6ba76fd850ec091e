import { useRef, useState } from 'preact/hooks'
import { memberAddress } from '../../tx/draft.ts'
import { printMember } from '../../tx/multisig.ts'
import { KEY_BYTES } from '../../values/pubKey.ts'
import { useStore } from '../data/store.ts'
import { CountField } from '../forms/fields.tsx'
import { Labelled } from '../forms/Labelled.tsx'
import { Section } from '../parts/layout.tsx'
import { Short, Whole, WholeAddress } from '../parts/text.tsx'
import { linkTo } from '../route.ts'
import { forgetSeveral, makeSeveral, openSeveral, type Several, several } from './several.ts'
import { keySignerOf, useWallet } from './wallet.ts'
import { closeWallet } from './walletDialog.ts'

/** Who may sign for the account, and how many of them have to; nothing for an account of one key. */
export function Signers({ address }: { readonly address: string }) {
  const account = useStore(several).find((one) => one.address === address)
  if (account === undefined) return null
  const { threshold, members } = account
  return (
    <Section title='Who may sign' aside={`${threshold} of these ${members.length} have to`}>
      <ul class='events'>
        {members.map((member) => (
          <li key={printMember(member)}>
            <WholeAddress address={memberAddress(member)} />
            <br />
            {member.length === KEY_BYTES ? (
              <>
                by the key <Whole text={printMember(member)} label='the public key' />
              </>
            ) : (
              'an account of Ethereum'
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** The accounts of several keys that this browser keeps. */
function Kept({ all }: { readonly all: readonly Several[] }) {
  return (
    <ul class='pick'>
      {all.map((one) => (
        <li key={one.address}>
          <span class='soft number'>
            {one.threshold} of {one.members.length}
          </span>
          <Short text={one.address} left={10} right={6} />
          <button
            type='button'
            aria-label={`Use ${one.address}`}
            onClick={() => {
              openSeveral(one)
              closeWallet()
            }}
          >
            Use
          </button>
          <button
            type='button'
            class='quiet'
            aria-label={`Forget ${one.address}`}
            onClick={() => forgetSeveral(one.address)}
          >
            Forget
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Makes an account of several keys. */
function NewSeveral() {
  const members = useRef<HTMLTextAreaElement>(null)
  const [threshold, setThreshold] = useState('2')
  const [error, setError] = useState<string>()
  const { accounts } = useWallet()
  const own = accounts.flatMap(({ address }) => keySignerOf(address) ?? [])
  const add = (text: string): void => {
    const field = members.current
    if (field !== null) field.value = `${field.value.trim()}\n${text}`.trim()
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const texts = members.current?.value.split(/[\s,]+/).filter(Boolean) ?? []
    const why = /^[0-9]{1,2}$/.test(threshold)
      ? makeSeveral(Number(threshold), texts)
      : 'how many have to sign is a whole number'
    if (why === undefined) closeWallet()
    else setError(why)
  }
  return (
    <form class='form' onSubmit={submit} noValidate>
      <Labelled
        label='Members'
        hint={
          <>
            One on each line, in any order: the 0x address of an Ethereum account, or the public key of an account of
            svcd in base64. The address of an account of svcd would count as one of Ethereum, unless its key is open
            here.
          </>
        }
        error={error}
      >
        {(props) => (
          <textarea
            {...props}
            ref={members}
            class='mono'
            rows={4}
            autoComplete='off'
            spellcheck={false}
            autocapitalize='off'
          />
        )}
      </Labelled>
      {own.length === 0 ? null : (
        <div class='actions'>
          {own.map(({ address, member }) => (
            <button key={address} type='button' onClick={() => add(printMember(member))}>
              Add <Short text={address} left={6} right={4} />
            </button>
          ))}
        </div>
      )}
      <CountField label='How many have to sign' value={threshold} onInput={setThreshold} />
      <button class='main' type='submit'>
        Make the account
      </button>
    </form>
  )
}

/** Opens an account of several keys, or makes one. */
export function SeveralKeys() {
  const all = useStore(several)
  return (
    <div class='stack'>
      {all.length === 0 ? null : <Kept all={all} />}
      <NewSeveral />
      <p class='hint'>Such an account has no secret, so this browser keeps it until you forget it.</p>
      <a href={linkTo(['sign'])}>Sign a transaction that was passed to you</a>
    </div>
  )
}
