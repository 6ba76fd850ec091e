import { svc } from '../data/gateway.ts'
import { createStore, useStore } from '../data/store.ts'

/** Where the key of an account comes from. That of a devnet stays with the gateway, which signs. */
export type Origin = 'keystore' | 'words' | 'key' | 'devnet'

/** An account that can sign. */
export interface WalletAccount {
  readonly address: string
  readonly origin: Origin
}

/** The accounts of this page, in memory only. `current` is the one that acts; undefined while there is none. */
export interface Wallet {
  readonly accounts: readonly WalletAccount[]
  readonly current: string | undefined
}

/** A reader who does nothing for so long has to open their keys again. */
export const IDLE_MS = 10 * 60_000

const LOCKED: Wallet = { accounts: [], current: undefined }

const wallet = createStore<Wallet>(LOCKED)

/** The accounts that can sign now. */
export const useWallet = (): Wallet => useStore(wallet)

/** The account that acts now. */
export const currentAccount = (): string | undefined => wallet.get().current

/** True while an account can sign. */
export const isOpenAccount = (address: string): boolean =>
  wallet.get().accounts.some((account) => account.address === address)

function put(account: WalletAccount): void {
  const others = wallet.get().accounts.filter(({ address }) => address !== account.address)
  wallet.set({ accounts: [...others, account], current: account.address })
  watchIdle()
}

/** Takes the key of an account, which acts from now on. Throws an Error that does not repeat the key. */
export function addKey(key: string | Uint8Array, origin: Exclude<Origin, 'devnet'>): string {
  const address = svc.accounts.add(key)
  put({ address, origin })
  return address
}

/** Takes an account of a devnet, which acts from now on. */
export const addDevnetAccount = (address: string): void => put({ address, origin: 'devnet' })

/** Lets another account act. */
export const choose = (address: string): void => wallet.set({ ...wallet.get(), current: address })

/** Forgets every key. */
export function lock(): void {
  for (const { address } of wallet.get().accounts) svc.accounts.remove(address)
  wallet.set(LOCKED)
  clearTimeout(timer)
}

let lastMs = 0
let timer: ReturnType<typeof setTimeout> | undefined

/** Locks when the time is over, or looks again then. */
function watchIdle(): void {
  lastMs = Date.now()
  const look = (): void => {
    const leftMs = lastMs + IDLE_MS - Date.now()
    if (leftMs <= 0) lock()
    else timer = setTimeout(look, leftMs)
  }
  clearTimeout(timer)
  look()
}

/** A machine that slept has not counted the time: what the reader does first must not count as being there. */
function onActivity(): void {
  if (wallet.get().accounts.length === 0) return
  if (Date.now() - lastMs >= IDLE_MS) lock()
  else lastMs = Date.now()
}

for (const event of ['pointerdown', 'pointermove', 'keydown', 'input', 'wheel'])
  addEventListener(event, onActivity, { passive: true, capture: true })
document.addEventListener('visibilitychange', () => document.hidden || Date.now() - lastMs < IDLE_MS || lock())
// A page that a browser puts aside to show again later must not keep the keys either.
addEventListener('pagehide', lock)
