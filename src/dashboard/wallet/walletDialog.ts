import { createStore } from '../data/store.ts'
import { currentAccount } from './wallet.ts'

/** The wallet while it is open: what is called when it closes. */
export const walletDialog = createStore<{ readonly onClose: () => void } | undefined>(undefined)

/** Opens the wallet. Resolves when it closes, with the account that acts then. */
export function openWallet(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const before = walletDialog.get()
    walletDialog.set({
      onClose: () => {
        before?.onClose()
        resolve(currentAccount())
      },
    })
  })
}

/** Closes the wallet. */
export function closeWallet(): void {
  const open = walletDialog.get()
  walletDialog.set(undefined)
  open?.onClose()
}
