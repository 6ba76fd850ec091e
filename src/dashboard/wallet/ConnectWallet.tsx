import { useEffect, useState } from 'preact/hooks'
import { useStore } from '../data/store.ts'
import { EmptyNote, ErrorNote } from '../parts/notes.tsx'
import { UserText } from '../parts/text.tsx'
import { reasonOf } from './act.ts'
import { type Announced, announced, askWallets, connect } from './providers.ts'
import type { Opening } from './WalletDialog.tsx'

/** The wallets of the browser, to open an account of one. */
export function ConnectWallet({ onOpen }: Opening) {
  const wallets = useStore(announced)
  const [error, setError] = useState<Error>()
  const [asked, setAsked] = useState<string>()
  useEffect(askWallets, [])
  const open = async (wallet: Announced): Promise<void> => {
    setError(undefined)
    setAsked(wallet.id)
    try {
      await connect(wallet)
      onOpen()
    } catch (thrown) {
      setError(new Error(reasonOf(thrown)))
      setAsked(undefined)
    }
  }
  return (
    <div class='stack'>
      {wallets.length === 0 ? (
        <EmptyNote>
          This browser has no wallet that announces itself. Install one, such as MetaMask, and load the page again.
        </EmptyNote>
      ) : (
        <ul class='pick'>
          {wallets.map((wallet) => (
            <li key={wallet.id}>
              <span class='soft'>calls itself</span>
              <UserText text={wallet.name} />
              <button
                type='button'
                disabled={asked !== undefined}
                aria-label={`Connect ${wallet.name}`}
                onClick={() => void open(wallet)}
              >
                {asked === wallet.id ? 'Confirm there' : 'Connect'}
              </button>
            </li>
          ))}
        </ul>
      )}
      {error === undefined ? null : <ErrorNote error={error} />}
      <p class='hint'>
        The key stays in the wallet, which shows what you sign field by field. The chain has a name and no number, so it
        does not matter which network the wallet is on.
      </p>
    </div>
  )
}
