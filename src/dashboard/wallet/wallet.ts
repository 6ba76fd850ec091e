import { type AnySigner, type KeySigner, signerOfSeed } from '../../tx/sign.ts'
import { svc } from '../data/gateway.ts'
import { createStore, useStore } from '../data/store.ts'

/**
 * Where the key of an account comes from. That of a devnet stays with the gateway, which signs, and that of a `wallet`
 * with the reader's wallet. An account of `several` keys signs by those of its members.
 */
export type Origin = 'keystore' | 'words' | 'key' | 'devnet' | 'wallet' | 'several'

/** An account that can sign. */
export interface WalletAccount {
  readonly address: string
  readonly origin: Origin
  /** What stands beside its address: the name that its wallet gives itself, or how many keys have to sign. */
  readonly note?: string
}

/** The accounts of this page, in memory only. `current` is the one that acts; undefined while there is none. */
export interface Wallet {
  readonly accounts: readonly WalletAccount[]
  readonly current: string | undefined
}

/** A reader who does nothing for so long has to open their keys again. */
export const IDLE_MS = 10 * 60_000

/** For so long before that they are told. */
const WARN_MS = 60_000

const LOCKED: Wallet = { accounts: [], current: undefined }

const wallet = createStore<Wallet>(LOCKED)

/** The accounts that can sign now. */
export const useWallet = (): Wallet => useStore(wallet)

export const currentAccount = (): string | undefined => wallet.get().current

/** An account that can sign; undefined while it is not open. */
export const openAccount = (address: string): WalletAccount | undefined =>
  wallet.get().accounts.find((account) => account.address === address)

const keySigners = new Map<string, KeySigner>()

/** What signs with the one key of an open account; undefined where the gateway has it, and for an account of several. */
export const keySignerOf = (address: string): KeySigner | undefined => keySigners.get(address)

/** The seeds of the keys that are open here, for their keystore files. */
const seeds = new Map<string, Uint8Array>()

/** The seed of an open account of this page; undefined where the key is elsewhere. */
export const seedOf = (address: string): Uint8Array | undefined => seeds.get(address)

function dropSeed(address: string): void {
  seeds.get(address)?.fill(0)
  seeds.delete(address)
}

function put(account: WalletAccount): void {
  const others = wallet.get().accounts.filter(({ address }) => address !== account.address)
  wallet.set({ accounts: [...others, account], current: account.address })
  watchIdle()
}

/** Takes the key of an account, which acts from now on: 32 bytes, which become zeros when the account is forgotten. */
export function addKey(key: Uint8Array, origin: 'keystore' | 'words' | 'key'): string {
  const signer = signerOfSeed(key)
  addKeySigner(signer, { origin })
  dropSeed(signer.address)
  seeds.set(signer.address, key)
  return signer.address
}

/** Takes an account of one key, which acts from now on. */
export function addKeySigner(signer: KeySigner, account: Omit<WalletAccount, 'address'>): void {
  keySigners.set(signer.address, signer)
  addSigner(signer, account)
}

/** Takes an account, which acts from now on. */
export function addSigner(signer: AnySigner, account: Omit<WalletAccount, 'address'>): void {
  // Another wallet may have the same account: the one that was opened last signs, and waits for none before it.
  svc.accounts.remove(signer.address)
  svc.accounts.add(signer)
  put({ address: signer.address, ...account })
}

/** Forgets an account. Where it acted, the last one that is left does. */
export function removeAccount(address: string): void {
  const { current, accounts } = wallet.get()
  const others = accounts.filter((one) => one.address !== address)
  svc.accounts.remove(address)
  keySigners.delete(address)
  dropSeed(address)
  wallet.set({ accounts: others, current: current === address ? others.at(-1)?.address : current })
}

/** Takes an account of a devnet, which acts from now on. */
export const addDevnetAccount = (address: string): void => put({ address, origin: 'devnet' })

export const choose = (address: string): void => wallet.set({ ...wallet.get(), current: address })

/** That the keys will be forgotten soon, or were, because nobody was there. */
export const idleNotice = createStore<'soon' | 'locked' | undefined>(undefined)

/** Forgets every key. */
export function lock(): void {
  for (const { address } of wallet.get().accounts) svc.accounts.remove(address)
  keySigners.clear()
  for (const address of [...seeds.keys()]) dropSeed(address)
  wallet.set(LOCKED)
  idleNotice.set(undefined)
  clearTimeout(timer)
}

function lockIdle(): void {
  if (wallet.get().accounts.length === 0) return
  lock()
  idleNotice.set('locked')
}

let lastMs = 0
let timer: ReturnType<typeof setTimeout> | undefined

/** Warns and locks when the time has come, or looks again then. */
function watchIdle(): void {
  lastMs = Date.now()
  const look = (): void => {
    const leftMs = lastMs + IDLE_MS - Date.now()
    if (leftMs <= 0) return lockIdle()
    const isSoon = leftMs <= WARN_MS
    idleNotice.set(isSoon ? 'soon' : undefined)
    timer = setTimeout(look, isSoon ? leftMs : leftMs - WARN_MS)
  }
  clearTimeout(timer)
  look()
}

/** A machine that slept has not counted the time: what the reader does first must not count as being there. */
function onActivity(): void {
  if (wallet.get().accounts.length === 0) return
  if (Date.now() - lastMs >= IDLE_MS) lockIdle()
  else if (idleNotice.get() === 'soon') watchIdle()
  else lastMs = Date.now()
}

for (const event of ['pointerdown', 'pointermove', 'keydown', 'input', 'wheel'])
  addEventListener(event, onActivity, { passive: true, capture: true })
document.addEventListener('visibilitychange', () => document.hidden || Date.now() - lastMs < IDLE_MS || lockIdle())
// A page that a browser puts aside to show again later must not keep the keys either.
addEventListener('pagehide', lock)
