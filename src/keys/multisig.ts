/** Files of accounts of several keys: who may sign, and how many have to. No secret stands in them. */
import { isObject } from '../base/json.ts'
import { encodeMultisig, faultOf, type Multisig, multisigAddress, parseMember, printMember } from '../tx/multisig.ts'
import type { Address } from '../values/address.ts'
import { KeystoreError } from './keystore.ts'

/** An account of several keys, with its address. */
export interface MultisigAccount extends Multisig {
  readonly address: Address
}

const TYPE = 'svcd/multisig/1'

/** The account of some members. Throws a TypeError for one that cannot be. */
export const multisigAccount = (multisig: Multisig): MultisigAccount => ({
  ...multisig,
  address: multisigAddress(encodeMultisig(multisig)),
})

/** What stands in the file of an account. */
export const printMultisig = ({ address, threshold, members }: MultisigAccount) => ({
  type: TYPE,
  address,
  threshold,
  members: members.map(printMember),
})

/** True for the JSON of such a file, whether or not it may be used. */
export const isMultisigFile = (json: unknown): boolean => isObject(json) && json['type'] === TYPE

/** Reads the JSON of such a file. Throws a KeystoreError `malformed`, also when the address is not that of the members. */
export function readMultisig(json: unknown): MultisigAccount {
  const { address, threshold, members } = isObject(json) ? json : {}
  const texts: readonly unknown[] = Array.isArray(members) ? members : []
  const bytes = texts.map((one) => (typeof one === 'string' ? parseMember(one) : undefined))
  if (bytes.includes(undefined)) throw new KeystoreError('malformed', 'members: expected keys in base64 and addresses')
  const multisig: Multisig = { threshold: Number(threshold), members: bytes as readonly Uint8Array[] }
  const fault = faultOf(multisig)
  if (fault !== undefined || !Number.isInteger(threshold))
    throw new KeystoreError('malformed', fault ?? 'threshold: expected a number')
  const account = multisigAccount(multisig)
  if (address !== account.address)
    throw new KeystoreError('malformed', `address: expected ${account.address}, which the members have`)
  return account
}
