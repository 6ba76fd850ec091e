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

/** True while the wallet shows something that would be lost with it. */
export const isAtRisk = createStore(false)

/** What waits for the reader to say that this may be lost, and where the focus was before. */
export const leaving = createStore<{ readonly go: () => void; readonly focus: Element | null } | undefined>(undefined)

/** Does what leaves a part of the wallet, once the reader has said so where something would be lost. */
export function leave(go: () => void): void {
  if (isAtRisk.get()) leaving.set({ go, focus: document.activeElement })
  else go()
}

/** Goes back to what would have been lost. */
export function stay(): void {
  const focus = leaving.get()?.focus
  leaving.set(undefined)
  // Once it can be seen again.
  setTimeout(() => focus instanceof HTMLElement && focus.focus())
}

/** Closes the wallet once an account is open; not under what has come to be at risk while a key or a wallet was waited for. */
export function closeOpened(): void {
  if (!isAtRisk.get()) closeWallet()
}

export function closeWallet(): void {
  const open = walletDialog.get()
  walletDialog.set(undefined)
  open?.onClose()
}
