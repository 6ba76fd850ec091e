/** Accounts of wallets that people already have, and of several keys. Source: protocol.md §13. */
import { compareBytes, fromHex, toHex } from '../base/bytes.ts'
import { encodeBody, encodeTx, type TxBody } from '../tx/envelope.ts'
import { checkFields, type Fields, typedFieldsOf } from '../tx/fields.ts'
import { encodeMultisig, encodeParts, type Multisig, multisigAddress, type Part } from '../tx/multisig.ts'
import type { AnySigner, KeySigner } from '../tx/sign.ts'
import { type TypedData, typedDataOf } from '../tx/typedData.ts'
import { type Address, addressBytes, parseAddress } from '../values/address.ts'
import { operations } from './gen/calls.ts'

/**
 * A wallet as EIP-1193 describes it: `window.ethereum` of MetaMask, and what EIP-6963 announces.
 *
 * @example
 * const accountsOf = (wallet: Eip1193Provider): Promise<unknown> => wallet.request({ method: 'eth_accounts' })
 */
export interface Eip1193Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

/**
 * What viem's accounts have: `privateKeyToAccount`, `mnemonicToAccount`.
 *
 * @example
 * const signerFor = (account: ViemAccount): KeySigner => viemSigner(account)
 */
export interface ViemAccount {
  readonly address: string
  signTypedData(data: never): Promise<string>
}

/**
 * What an ethers signer has: a `Wallet`, or the signer of a `BrowserProvider`.
 *
 * @example
 * const signerFor = (wallet: EthersSigner): Promise<KeySigner> => ethersSigner(wallet)
 */
export interface EthersSigner {
  getAddress(): Promise<string>
  signTypedData(domain: never, types: never, message: never): Promise<string>
}

const fieldsOf = ({ operation }: TxBody): Fields => operations.find((one) => one.operation === operation)?.fields ?? {}

/** The typed data of a transaction body, as a wallet shows it. */
export const typedDataOfBody = (body: TxBody): TypedData => typedDataOf(typedFieldsOf(fieldsOf(body)), body)

/** The 65 bytes of a signature in hex. Some wallets write the parity as 0 or 1. Throws an Error for anything else. */
function signatureOf(hex: unknown): Uint8Array {
  const bytes = typeof hex === 'string' ? fromHex(hex.replace(/^0x/, '')) : undefined
  if (bytes?.length !== 65) throw new Error('wallet: expected a signature of 65 bytes in hex')
  const v = bytes[64] as number
  return v < 27 ? Uint8Array.from([...bytes.subarray(0, 64), v + 27]) : bytes
}

function addressOf(text: unknown): Address {
  const address = typeof text === 'string' ? parseAddress(text.toLowerCase()) : undefined
  if (address === undefined) throw new Error('wallet: expected an account, got none')
  return address
}

function ethereumSigner(address: Address, sign: (data: TypedData) => Promise<unknown>): KeySigner {
  const member = addressBytes(address)
  const signBody = async (body: TxBody): Promise<Uint8Array> => {
    // The chain has no digest of such a body: it would blame the signature.
    const why = checkFields(fieldsOf(body), body.message)
    if (why !== undefined) throw new Error(`the chain would refuse this transaction: ${why}`)
    return signatureOf(await sign(typedDataOfBody(body)))
  }
  return {
    address,
    member,
    signBody,
    signTx: async (given) => {
      const body = { ...given, from: member }
      return encodeTx(encodeBody(body), new Uint8Array(0), await signBody(body))
    },
  }
}

/**
 * The signer of an account in a wallet of the browser. The wallet asks its owner which account; `account` chooses one of
 * those. Rejects with the wallet's error when the owner refuses.
 *
 * @example
 * const connect = async (wallet: Eip1193Provider): Promise<Svc> =>
 *   new Svc('http://127.0.0.1:8545', { signer: await providerSigner(wallet) })
 */
export async function providerSigner(provider: Eip1193Provider, account?: string): Promise<KeySigner> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const known = (Array.isArray(accounts) ? accounts : []).map(addressOf)
  const address = addressOf(account ?? known[0])
  if (!known.includes(address)) throw new Error(`wallet: it has no account ${address}`)
  return ethereumSigner(address, (data) =>
    provider.request({ method: 'eth_signTypedData_v4', params: [address, JSON.stringify(data)] }),
  )
}

/**
 * The signer of an account of viem.
 *
 * @example
 * const use = (account: ViemAccount): string => svc.accounts.add(viemSigner(account))
 */
export const viemSigner = (account: ViemAccount): KeySigner =>
  ethereumSigner(addressOf(account.address), ({ types: { EIP712Domain: _, ...types }, ...data }) =>
    account.signTypedData({ ...data, types } as never),
  )

/**
 * The signer of an ethers wallet.
 *
 * @example
 * const use = async (wallet: EthersSigner): Promise<string> => svc.accounts.add(await ethersSigner(wallet))
 */
export async function ethersSigner(wallet: EthersSigner): Promise<KeySigner> {
  const address = addressOf(await wallet.getAddress())
  return ethereumSigner(address, ({ types: { EIP712Domain: _, ...types }, domain, message }) =>
    wallet.signTypedData(domain as never, types as never, message as never),
  )
}

/**
 * The signer of an account of several keys, which asks as many of `signers` as the threshold needs, in the order of the
 * members, which may be given in any order. Throws a TypeError for an account that cannot be, and when too few of its
 * members are among `signers`.
 *
 * @example
 * const twoOf = (members: Uint8Array[], signers: KeySigner[]): AnySigner =>
 *   multisigSigner({ threshold: 2, members }, signers)
 */
export function multisigSigner(given: Multisig, signers: readonly KeySigner[]): AnySigner {
  const account = { ...given, members: [...given.members].sort(compareBytes) }
  const publicKey = encodeMultisig(account)
  const address = multisigAddress(publicKey)
  const known = new Map(signers.map((signer) => [toHex(signer.member), signer]))
  const able = account.members.flatMap((member, at) => {
    const signer = known.get(toHex(member))
    return signer === undefined ? [] : [{ at, signer }]
  })
  if (able.length < account.threshold)
    throw new TypeError(`multisig: expected signers of ${account.threshold} members, got ${able.length}`)
  return {
    address,
    signTx: async (unsigned) => {
      const body = { ...unsigned, from: addressBytes(address) }
      const parts: Part[] = []
      // One after the other: a wallet that is refused ends it, and two dialogs at once confuse.
      for (const { at, signer } of able.slice(0, account.threshold))
        parts.push({ member: at, signature: await signer.signBody(body) })
      return encodeTx(encodeBody(body), publicKey, encodeParts(parts))
    },
  }
}
