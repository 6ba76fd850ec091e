import { useEffect, useState } from 'preact/hooks'
import { useStore } from '../data/store.ts'
import { visibleText } from '../marks.ts'
import { EmptyNote, ErrorNote } from '../parts/notes.tsx'
import { UserText } from '../parts/text.tsx'
import { useRun } from '../parts/useRun.ts'
import { reasonOf } from './act.ts'
import { type Announced, announced, askWallets, connect } from './providers.ts'
import { closeOpened } from './walletDialog.ts'

/** The wallets of the browser, to open an account of one. */
export function ConnectWallet() {
  const wallets = useStore(announced)
  const { isBusy, error, run } = useRun()
  const [asked, setAsked] = useState<string>()
  useEffect(askWallets, [])
  const open = async (wallet: Announced): Promise<void> => {
    setAsked(wallet.id)
    await connect(wallet).catch((thrown: unknown) => {
      throw new Error(reasonOf(thrown))
    })
    closeOpened()
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
                disabled={isBusy}
                aria-label={`Connect ${visibleText(wallet.name)}`}
                onClick={() => void run(() => open(wallet))}
              >
                {isBusy && asked === wallet.id ? 'Confirm there' : 'Connect'}
              </button>
            </li>
          ))}
        </ul>
      )}
      <ErrorNote error={error} />
      <p class='hint'>
        The key stays in the wallet, which shows what you sign field by field. The chain has a name and no number, so it
        does not matter which network the wallet is on.
      </p>
    </div>
  )
}
