import { useId, useState } from 'preact/hooks'
import { svc } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { useAnswer, useGatewayInfo } from '../data/useAnswer.ts'
import { lazyPart } from '../parts/lazyView.tsx'
import { Shown } from '../parts/notes.tsx'
import { AccountLink, Badge, CopyButton, Short, Tokens, UserText } from '../parts/text.tsx'
import { useFocus } from '../parts/useFocus.ts'
import { shorten } from '../format.ts'
import { linkTo } from '../route.ts'
import { GetTokens } from './GetTokens.tsx'
import { IdleNote } from './IdleNote.tsx'
import { runKeyJob } from './keys.ts'
import { NewAccount } from './NewAccount.tsx'
import { KeystoreForm, PrivateKeyForm, WordsForm } from './openings.tsx'
import {
  addDevnetAccount,
  choose,
  IDLE_MS,
  lock,
  type Origin,
  seedOf,
  useWallet,
  type WalletAccount,
} from './wallet.ts'
import { SealForm, saveKeystore } from './SealForm.tsx'
import { closeWallet, leave, leaving, stay } from './walletDialog.ts'

const ORIGINS: Readonly<Record<Origin, string>> = {
  keystore: 'from a keystore file',
  words: 'from words',
  key: 'from a private key',
  devnet: 'public key of a devnet',
  wallet: 'in a wallet',
  several: 'several keys',
}

/** The accounts of a devnet, which the gateway signs for. */
function DevnetAccounts() {
  const accounts = useAnswer('accounts', () => svc.async.getAccounts(), 'once')
  return (
    <>
      <p class='note waiting'>
        Public keys of a devnet: anybody can use them, and whatever they hold belongs to everybody.
      </p>
      <Shown answer={accounts}>
        {(addresses) => (
          <ul class='pick'>
            {addresses.map((address, index) => (
              <li key={address}>
                <span class='soft number'>{index}</span>
                <Short text={address} left={12} right={8} />
                <button
                  type='button'
                  aria-label={`Use ${address}`}
                  onClick={() => {
                    addDevnetAccount(address)
                    closeWallet()
                  }}
                >
                  Use
                </button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </>
  )
}

const ConnectWallet = lazyPart(async () => (await import('./ConnectWallet.tsx')).ConnectWallet)
const SeveralKeys = lazyPart(async () => (await import('./SeveralKeys.tsx')).SeveralKeys)

const WAYS = [
  { name: 'keystore', title: 'Keystore file', Form: KeystoreForm },
  { name: 'words', title: 'Words', Form: WordsForm },
  { name: 'key', title: 'Private key', Form: PrivateKeyForm },
  { name: 'new', title: 'New account', Form: NewAccount },
  { name: 'wallet', title: 'Connect wallet', Form: ConnectWallet },
  { name: 'several', title: 'Several keys', Form: SeveralKeys },
] as const
const DEVNET_WAY = { name: 'devnet', title: 'Devnet account', Form: DevnetAccounts } as const

/** The ways to open an account; on a devnet that of its own accounts comes first. */
function Openings({ isDevnet, isFirst }: { readonly isDevnet: boolean; readonly isFirst: boolean }) {
  const ways = isDevnet ? [DEVNET_WAY, ...WAYS] : WAYS
  const [chosen, setWay] = useState<string>()
  const { name: way, Form } = ways.find(({ name }) => name === chosen) ?? (isDevnet ? DEVNET_WAY : WAYS[0])
  return (
    <section>
      <h3>{isFirst ? 'Open an account' : 'Open another account'}</h3>
      <fieldset class='radio-row'>
        <legend class='visually-hidden'>How to open it</legend>
        {ways.map(({ name, title }) => (
          <label key={name}>
            <input type='radio' name='way' checked={name === way} onChange={() => leave(() => setWay(name))} /> {title}
          </label>
        ))}
      </fieldset>
      <Form key={way} />
      <p class='hint'>
        Keys stay in the memory of this tab, or in your wallet. Nothing of them is stored or sent, and they are
        forgotten when you close it, or after {IDLE_MS / 60_000} minutes without you.
      </p>
    </section>
  )
}

function Balance({ address }: { readonly address: string }) {
  const { data } = useAnswer(`balance/${address}`, () => svc.async.getBalance(address))
  return data === undefined ? <span class='soft'>…</span> : <Tokens units={data} />
}

/** Saves the key of an open account in a keystore file. */
function SaveAccount({ address, onEnd }: { readonly address: string; readonly onEnd: () => void }) {
  const save = async (password: string): Promise<void> => {
    const seed = seedOf(address)
    if (seed === undefined) throw new Error('This account was closed in the meantime.')
    saveKeystore(address, await runKeyJob('seal', seed, password))
    onEnd()
  }
  return (
    <>
      <h3>Save {shorten(address)} as a keystore file</h3>
      <SealForm
        key={address}
        submit='Download the keystore file'
        onPassword={save}
        other={[{ title: 'Cancel', run: onEnd }]}
      />
    </>
  )
}

function OpenAccount({
  account: { address, origin, note },
  isCurrent,
  onSave,
}: {
  readonly account: WalletAccount
  readonly isCurrent: boolean
  readonly onSave: () => void
}) {
  return (
    <li>
      <input
        type='radio'
        name='current'
        aria-label={`Act as ${address}`}
        checked={isCurrent}
        onChange={() => choose(address)}
      />
      <span>
        <AccountLink address={address} />{' '}
        <Badge tone={origin === 'devnet' ? 'waiting' : 'plain'}>{ORIGINS[origin]}</Badge>{' '}
        {note === undefined ? null : <UserText text={note} />}{' '}
        <CopyButton text={address} label={`the address ${address}`} />
        {seedOf(address) === undefined ? null : (
          <button type='button' class='copy' onClick={onSave}>
            Save as a file<span class='visually-hidden'> the key of {address}</span>
          </button>
        )}
      </span>
      <Balance address={address} />
    </li>
  )
}

/** The accounts that are open: one of them acts. */
function OpenAccounts({ accounts, current }: { accounts: readonly WalletAccount[]; current: string }) {
  const [saved, setSaved] = useState<string>()
  return (
    <section>
      <h3>Open accounts</h3>
      <ul class='pick open-accounts'>
        {accounts.map((account) => (
          <OpenAccount
            key={account.address}
            account={account}
            isCurrent={account.address === current}
            onSave={() => setSaved(account.address)}
          />
        ))}
      </ul>
      {saved === undefined ? (
        <div class='actions'>
          <a class='button' href={linkTo(['send'])}>
            Send tokens
          </a>
          <button type='button' onClick={lock}>
            Lock
          </button>
          <GetTokens address={current} />
        </div>
      ) : (
        <SaveAccount address={saved} onEnd={() => setSaved(undefined)} />
      )}
    </section>
  )
}

/** Asks whether the words of a new account may go. */
function LeaveQuestion({ go }: { readonly go: () => void }) {
  const first = useFocus<HTMLButtonElement>()
  const id = useId()
  return (
    <div class='form' role='alertdialog' aria-labelledby={id}>
      <p id={id} class='note bad'>
        The words of the new account are nowhere but here, and the account is not open yet. Whoever has not written them
        down cannot open it later.
      </p>
      <div class='actions'>
        <button ref={first} type='button' class='main' onClick={stay}>
          Keep the words
        </button>
        <button
          type='button'
          onClick={() => {
            leaving.set(undefined)
            go()
          }}
        >
          Leave them
        </button>
      </div>
    </div>
  )
}

/** What the wallet shows: the accounts that are open, and the ways to open one. */
export function WalletContent() {
  const { accounts, current } = useWallet()
  const isDevnet = useGatewayInfo().devnet
  const asked = useStore(leaving)
  return (
    <>
      {asked === undefined ? null : <LeaveQuestion go={asked.go} />}
      {/* What was typed stays while the reader is asked. */}
      <div class='stack' hidden={asked !== undefined}>
        <IdleNote />
        {current === undefined ? (
          <p class='soft'>
            With an account you send tokens and stake them with a validator. You need no node for that.
          </p>
        ) : (
          <OpenAccounts accounts={accounts} current={current} />
        )}
        <Openings isDevnet={isDevnet} isFirst={current === undefined} />
      </div>
    </>
  )
}
