/** Accounts that sign with code that is not ours: @metamask/eth-sig-util, viem and ethers. */
import { signTypedData, SignTypedDataVersion } from '@metamask/eth-sig-util'
import { Wallet } from 'ethers'
import { privateKeyToAccount } from 'viem/accounts'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import type { Eip1193Provider } from '../../src/client/signers.ts'
import { txEntryOf } from '../../src/modules/registry.ts'
import { encodeBody, encodeTx, type TxBody } from '../../src/tx/envelope.ts'
import { typedFieldsOf } from '../../src/tx/fields.ts'
import { type TypedData, typedDataOf } from '../../src/tx/typedData.ts'
import { type Address, addressBytes, parseAddress } from '../../src/values/address.ts'

/** The typed data of a body, as the chain derives it from the operation. */
export const typedDataOfBody = (body: TxBody): TypedData =>
  typedDataOf(typedFieldsOf(txEntryOf.get(body.operation)?.input ?? {}), body)

const bytesOf = (hex: string): Uint8Array => fromHex(hex.slice(2)) as Uint8Array

export const privateKey = (number: number): Uint8Array => new Uint8Array(32).fill(0x40 + number)

/** The private key of a number, as libraries take it. */
export const hexKey = (number: number) => `0x${toHex(privateKey(number))}` as const

/** The wallet with a private key of a number, which signs by @metamask/eth-sig-util, as MetaMask does. */
export function ethWallet(number: number) {
  const key = privateKey(number)
  const address = parseAddress(new Wallet(`0x${toHex(key)}`).address.toLowerCase()) as Address
  /** r, s and v of the signature of a body, 65 bytes. */
  const sign = (body: TxBody): Uint8Array =>
    bytesOf(
      signTypedData({
        privateKey: Buffer.from(key),
        data: typedDataOfBody(body) as never,
        version: SignTypedDataVersion.V4,
      }),
    )
  return {
    address,
    sign,
    /** The bytes of a signed transaction. */
    signTx: (given: Omit<TxBody, 'from'>) => {
      const body = { ...given, from: addressBytes(address) }
      return encodeTx(encodeBody(body), new Uint8Array(0), sign(body))
    },
  }
}

const withoutDomain = ({ types, ...data }: TypedData) => {
  const { EIP712Domain: _, ...own } = types
  return { ...data, types: own }
}

/** The signature of a body by viem and by ethers, which have accounts of their own. */
export async function signaturesOf(number: number, body: TxBody): Promise<readonly Uint8Array[]> {
  const key = `0x${toHex(privateKey(number))}` as const
  const { types, message, ...data } = withoutDomain(typedDataOfBody(body))
  const byViem = await privateKeyToAccount(key).signTypedData({ ...data, types, message } as never)
  const byEthers = await new Wallet(key).signTypedData(data.domain, types as never, message)
  return [bytesOf(byViem), bytesOf(byEthers)]
}

/** A wallet of the browser with two accounts, which signs as MetaMask does. `parity`: how it writes v. */
export const browserWallet = (
  numbers: readonly number[],
  parity = 0,
): Eip1193Provider & { readonly shown: string[] } => {
  const shown: string[] = []
  return {
    shown,
    request: async ({ method, params = [] }) => {
      if (method === 'eth_requestAccounts') return numbers.map((number) => new Wallet(hexKey(number)).address)
      const [account, data] = params as [string, string]
      shown.push(data)
      const number = numbers.find((one) => ethWallet(one).address === account) as number
      const signature = signTypedData({
        privateKey: Buffer.from(privateKey(number)),
        data: JSON.parse(data) as never,
        version: SignTypedDataVersion.V4,
      })
      const v = Number.parseInt(signature.slice(-2), 16) - parity
      return signature.slice(0, -2) + v.toString(16).padStart(2, '0')
    },
  }
}
