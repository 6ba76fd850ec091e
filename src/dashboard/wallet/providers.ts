/** Wallets of the browser: those that announce themselves, and accounts of theirs. Source: EIP-6963, EIP-1193. */
import { type Eip1193Provider, providerSigner } from '../../client/signers.ts'
import { createStore } from '../data/store.ts'
import { addKeySigner, choose, currentAccount, openAccount, removeAccount } from './wallet.ts'

interface Provider extends Eip1193Provider {
  readonly on?: (event: string, listener: (given: unknown) => void) => unknown
}

/** A wallet as it announces itself. */
export interface Announced {
  readonly id: string
  /** What it calls itself: text of a stranger, cut. */
  readonly name: string
  readonly provider: Provider
}

/** The wallets that have announced themselves, each once. */
export const announced = createStore<readonly Announced[]>([])

/** The most wallets that are listed: any extension may announce as many as it likes. */
const WALLETS_MAX = 16
const NAME_MAX = 40

interface Detail {
  readonly info?: { readonly uuid?: unknown; readonly name?: unknown }
  readonly provider?: Provider
}

function onAnnounce(event: Event): void {
  const { info, provider } = (event as CustomEvent<Detail | null>).detail ?? {}
  const known = announced.get()
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string' || typeof provider?.request !== 'function') return
  if (known.length >= WALLETS_MAX || known.some(({ id }) => id === info.uuid)) return
  const name = info.name.trim().slice(0, NAME_MAX) || 'a wallet without a name'
  announced.set([...known, { id: info.uuid, name, provider }])
}

addEventListener('eip6963:announceProvider', onAnnounce)

/** Asks the wallets of the browser to announce themselves. */
export const askWallets = (): void => void dispatchEvent(new Event('eip6963:requestProvider'))

/** The account that is open of each wallet, which is listened to from the first one on. */
const connected = new Map<Provider, string>()
const listened = new WeakSet<Provider>()

/**
 * Closes the account of a wallet that lets the page have it no more, and opens the one that it has chosen instead. That
 * one acts if the other did.
 */
async function onAccounts(wallet: Announced, accounts: unknown): Promise<void> {
  const address = connected.get(wallet.provider)
  if (address === undefined || openAccount(address) === undefined) return
  const all = (Array.isArray(accounts) ? accounts : []).map((one) => String(one).toLowerCase())
  if (all[0] === address) return
  const didAct = currentAccount() === address
  removeAccount(address)
  connected.delete(wallet.provider)
  if (all.length === 0) return
  const acting = currentAccount()
  await connect(wallet)
  if (!didAct && acting !== undefined) choose(acting)
}

/** Opens the account of a wallet that its owner chooses there. Rejects when they refuse. */
export async function connect(wallet: Announced): Promise<void> {
  const { name, provider } = wallet
  const signer = await providerSigner(provider)
  if (!listened.has(provider)) {
    listened.add(provider)
    provider.on?.('accountsChanged', (accounts) => void onAccounts(wallet, accounts).catch(() => undefined))
    provider.on?.('disconnect', () => void onAccounts(wallet, []))
  }
  for (const [other, address] of connected) if (address === signer.address) connected.delete(other)
  connected.set(provider, signer.address)
  addKeySigner(signer, { origin: 'wallet', note: name })
}
