import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto'
import { recoverAddress, TypedDataEncoder } from 'ethers'
import { need } from './operation.ts'
import { base64 } from './values.ts'
import { decodeCanonical, type Message } from './wire.ts'

/** Who may sign. Source: protocol.md §13. Bytes are hex, as everywhere in the model. */

/** A transaction as its signers see it. */
interface Signed {
  readonly body: string
  readonly chainId: string
  readonly from: string
  readonly nonce: number
  readonly operation: string
  readonly message: Message
  /** Check 5 passes. */
  readonly isOfItsForm: boolean
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The fields of operations in the order of their declaration: a for address, u for uint256, n for uint64, s for text. */
const FIELDS: Readonly<Record<string, string>> = {
  transfer: 'to:a value:u',
  declareCandidacy: 'pubKey:s description:d maxAmount:u compRate:s',
  updateCandidacy: 'pubKey:s description:d maxAmount:u compRate:s',
  withdrawCandidacy: '',
  activateCandidacy: '',
  deactivateCandidacy: '',
  updateCandidacyAccount: 'newCandidateAccount:a',
  acceptCandidacyAccountUpdate: 'accountUpdateRequestId:n',
  verifyCandidacy: 'candidateAddress:a verified:s',
  delegate: 'validatorAddress:a amount:u',
  withdraw: 'validatorAddress:a amount:u completelyWithdraw:s',
  proposeChangeParam: 'name:s value:s reason:s expireBlockHeight:n expireTimestamp:n',
  proposeDeployLibEni: 'name:s version:s fileUrl:s md5:s reason:s deployBlockHeight:n deployTimestamp:n',
  proposeRetireProgram: 'preservedValidators:s reason:s retiredBlockHeight:n',
  proposeUpgradeProgram: 'name:s version:s fileUrl:s md5:s reason:s upgradeBlockHeight:n',
  proposeTransferFund: 'transferFrom:a transferTo:a amount:u reason:s expireBlockHeight:n expireTimestamp:n',
  vote: 'proposalId:s answer:s',
}
const DESCRIPTION = ['name', 'website', 'location', 'email', 'profile']
const TYPES: Readonly<Record<string, string>> = {
  a: 'address',
  u: 'uint256',
  n: 'uint64',
  s: 'string',
  d: 'Description',
}
/** The fields of type `s` that are bytes on the wire. */
const BYTES = ['pubKey', 'proposalId']

type Member = { name: string; type: string }

/** The EIP-712 digest, by ethers; undefined for a body that has none. */
function digestOf({ operation, message, chainId, from, nonce, isOfItsForm }: Signed): string | undefined {
  if (!isOfItsForm) return undefined
  const types: Record<string, Member[]> = {}
  const members: Member[] = [
    { name: 'chain', type: 'string' },
    { name: 'from', type: 'address' },
    { name: 'nonce', type: 'uint64' },
  ]
  const data: Record<string, unknown> = { chain: chainId, from: `0x${from}`, nonce }
  for (const [name = '', type = ''] of (FIELDS[operation] ?? '').split(' ').map((one) => one.split(':'))) {
    const value = message[name]
    if (value === undefined) continue
    members.push({ name, type: TYPES[type] as string })
    if (type === 'd') {
      const given = value as Message
      types['Description'] = DESCRIPTION.filter((one) => given[one] !== undefined).map((one) => ({
        name: one,
        type: 'string',
      }))
      data[name] = given
    } else data[name] = type === 'a' ? `0x${String(value)}` : BYTES.includes(name) ? base64(String(value)) : value
  }
  types[operation.charAt(0).toUpperCase() + operation.slice(1)] = members
  return TypedDataEncoder.hash({ name: 'svcd', version: '1' }, types, data)
}

function isByAddress(signed: Signed, address: string, signature: string): boolean {
  const digest = digestOf(signed)
  const [r, s, v] = [signature.slice(0, 64), signature.slice(64, 128), signature.slice(128)]
  const [rNumber, sNumber] = [BigInt(`0x${r}`), BigInt(`0x${s}`)]
  const isLow = rNumber > 0n && rNumber < ORDER && sNumber > 0n && sNumber <= ORDER / 2n && ['1b', '1c'].includes(v)
  if (digest === undefined || !isLow) return false
  try {
    return recoverAddress(digest, `0x${signature}`).toLowerCase() === `0x${address}`
  } catch {
    return false
  }
}

/** An ed25519 key in the form that node:crypto reads. */
const spki = (key: string): Buffer => Buffer.from(`302a300506032b6570032100${key}`, 'hex')

const isByKey = ({ body }: Signed, key: string, signature: string): boolean =>
  verifySignature(
    null,
    Buffer.concat([Buffer.from('svc/tx/v1\n'), Buffer.from(body, 'hex')]),
    createPublicKey({ key: spki(key), format: 'der', type: 'spki' }),
    Buffer.from(signature, 'hex'),
  )

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

interface Several {
  readonly members: readonly string[]
  readonly parts: readonly { readonly member: number; readonly signature: string }[]
}

/** An account of several keys and the signatures of its members. Throws what fails check 1. */
function readSeveral(publicKey: string, signature: string): Several {
  const account = decodeCanonical('svc.tx.Multisig', publicKey)
  const { threshold, members } = account as { threshold: number; members: readonly string[] }
  need(members.length >= 2 && members.length <= 16 && threshold >= 1 && threshold <= members.length, 2, 'members')
  need(
    members.every((one) => one.length === 40 || one.length === 64),
    2,
    'a member',
  )
  // Hex sorts as its bytes do, and a prefix comes first.
  need(
    members.every((one, at) => at === 0 || (members[at - 1] as string) < one),
    2,
    'order',
  )
  const { parts } = decodeCanonical('svc.tx.MultisigSignature', signature) as Pick<Several, 'parts'>
  need(parts.length === threshold, 2, 'parts')
  for (const [at, { member, signature: one }] of parts.entries()) {
    const key = members[member]
    need(key !== undefined && member > (parts[at - 1]?.member ?? -1), 2, 'a part')
    need(one.length === (key.length === 64 ? 128 : 130), 2, 'a length')
  }
  return { members, parts }
}

/**
 * Check 1 of what signs, and then check 3 as a function: whether the address is `from` and every signature verifies.
 * Throws for what fails check 1.
 */
export function signersOf(publicKey: string, signature: string): (signed: Signed) => boolean {
  const [key, length] = [publicKey.length / 2, signature.length / 2]
  if (key === 32 && length === 64)
    return (signed) =>
      sha256(Buffer.from(publicKey, 'hex')).slice(0, 40) === signed.from && isByKey(signed, publicKey, signature)
  if (key === 0 && length === 65) return (signed) => isByAddress(signed, signed.from, signature)
  need(key >= 34, 2, 'a length')
  const { members, parts } = readSeveral(publicKey, signature)
  const address = sha256(Buffer.concat([Buffer.from('svc/multisig/v1\n'), Buffer.from(publicKey, 'hex')])).slice(0, 40)
  return (signed) =>
    address === signed.from &&
    parts.every((part) => {
      const member = members[part.member] as string
      return (member.length === 64 ? isByKey : isByAddress)(signed, member, part.signature)
    })
}
