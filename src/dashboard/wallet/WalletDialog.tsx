import { useStore } from '../data/store.ts'
import { Dialog } from '../parts/Dialog.tsx'
import { lazyPart } from '../parts/lazyView.tsx'
import { closeWallet, leave, leaving, stay, walletDialog } from './walletDialog.ts'

const WalletContent = lazyPart(async () => (await import('./WalletContent.tsx')).WalletContent)

/** The wallet, in front of the page while it is open. */
export function WalletDialog() {
  const isOpen = useStore(walletDialog) !== undefined
  const isAsking = useStore(leaving) !== undefined
  if (!isOpen) return null
  return (
    <Dialog title='Wallet' onClose={() => (isAsking ? stay() : leave(closeWallet))}>
      <WalletContent />
    </Dialog>
  )
}
