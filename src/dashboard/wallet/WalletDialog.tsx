import { useEffect, useState } from 'preact/hooks'
import { gatewayInfo, svc } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { Dialog } from '../parts/Dialog.tsx'
import { lazyPart } from '../parts/lazyView.tsx'
import { Shown } from '../parts/notes.tsx'
import { AccountLink, Badge, Short, Tokens, UserText } from '../parts/text.tsx'
import { linkTo } from '../route.ts'
import { NewAccount } from './NewAccount.tsx'
import { KeystoreForm, PrivateKeyForm, WordsForm } from './openings.tsx'
import { addDevnetAccount, choose, IDLE_MS, lock, type Origin, useWallet, type WalletAccount } from './wallet.ts'
import { closeWallet, walletDialog } from './walletDialog.ts'

const ORIGINS: Readonly<Record<Origin, string>> = {
  keystore: 'from a keystore file',
  words: 'from words',
  key: 'from a private key',
  devnet: 'public key of a devnet',
  wallet: 'in a wallet',
  several: 'several keys',
}

/** What each way to open an account is given. */
export interface Opening {
  readonly onOpen: () => void
}

/** The accounts of a devnet, which the gateway signs for. */
function DevnetAccounts({ onOpen }: Opening) {
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
                    onOpen()
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

const ConnectWallet = lazyPart<Opening>(async () => (await import('./ConnectWallet.tsx')).ConnectWallet)
const SeveralKeys = lazyPart<Opening>(async () => (await import('./SeveralKeys.tsx')).SeveralKeys)

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
  const [way, setWay] = useState<string>(ways[0]?.name ?? 'keystore')
  const { Form } = ways.find(({ name }) => name === way) ?? WAYS[0]
  return (
    <section>
      <h3>{isFirst ? 'Open an account' : 'Open another account'}</h3>
      <fieldset class='radio-row'>
        <legend class='visually-hidden'>How to open it</legend>
        {ways.map(({ name, title }) => (
          <label key={name}>
            <input type='radio' name='way' checked={name === way} onChange={() => setWay(name)} /> {title}
          </label>
        ))}
      </fieldset>
      <Form key={way} onOpen={closeWallet} />
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

/** The accounts that are open: one of them acts. */
function OpenAccounts({
  accounts,
  current,
}: {
  readonly accounts: readonly WalletAccount[]
  readonly current: string
}) {
  return (
    <section>
      <h3>Open accounts</h3>
      <ul class='pick'>
        {accounts.map(({ address, origin, note }) => (
          <li key={address}>
            <input
              type='radio'
              name='current'
              aria-label={`Act as ${address}`}
              checked={address === current}
              onChange={() => choose(address)}
            />
            <span>
              <AccountLink address={address} />{' '}
              <Badge tone={origin === 'devnet' ? 'waiting' : 'plain'}>{ORIGINS[origin]}</Badge>{' '}
              {note === undefined ? null : <UserText text={note} />}
            </span>
            <Balance address={address} />
          </li>
        ))}
      </ul>
      <div class='actions'>
        <a class='button' href={linkTo(['send'])} onClick={closeWallet}>
          Send tokens
        </a>
        <button type='button' onClick={lock}>
          Lock
        </button>
      </div>
    </section>
  )
}

/** The wallet, in front of the page while it is open. */
export function WalletDialog() {
  const isOpen = useStore(walletDialog) !== undefined
  const { accounts, current } = useWallet()
  const [isDevnet, setDevnet] = useState(false)
  useEffect(() => void gatewayInfo.then(({ devnet }) => setDevnet(devnet)), [])
  if (!isOpen) return null
  return (
    <Dialog title='Wallet' onClose={closeWallet}>
      {current === undefined ? null : <OpenAccounts accounts={accounts} current={current} />}
      <Openings key={String(isDevnet)} isDevnet={isDevnet} isFirst={current === undefined} />
    </Dialog>
  )
}
