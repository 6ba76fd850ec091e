import { shorten } from '../format.ts'
import { OwnLabel } from '../parts/text.tsx'
import { useWallet } from './wallet.ts'
import { openWallet } from './walletDialog.ts'

/** Opens the wallet, and shows which account is in use. */
export function WalletButton() {
  const { current } = useWallet()
  return (
    <button type='button' onClick={() => void openWallet()}>
      {current === undefined ? (
        'Open wallet'
      ) : (
        <>
          <span class='mono'>{shorten(current, 6, 4)}</span>
          <OwnLabel address={current} />
          <span class='visually-hidden'> is open. Show the wallet</span>
        </>
      )}
    </button>
  )
}
