/** Signatures of an account of several keys that the chain refuses, each with its code and log. Source: protocol.md §13. */
import { compareBytes } from '../../src/base/bytes.ts'
import { svcCodec } from '../../src/codec/svc.ts'
import { encodeBody, encodeTx, type TxBody } from '../../src/tx/envelope.ts'
import { encodeMultisig, encodeParts, type Multisig, multisigAddress, type Part } from '../../src/tx/multisig.ts'
import { addressBytes } from '../../src/values/address.ts'
import { account } from '../support/testChain.ts'
import { ethWallet } from '../support/wallet.ts'

const wallet = ethWallet(1)
const keys = [
  { member: account(4).member, sign: account(4).signBody },
  { member: addressBytes(wallet.address), sign: wallet.sign },
  { member: account(5).member, sign: account(5).signBody },
].sort((a, b) => compareBytes(a.member, b.member))
const stranger = account(6)

/** Two of three: two ed25519 keys, and one that signs as MetaMask does. */
export const TEAM: Multisig = { threshold: 2, members: keys.map(({ member }) => member) }
const publicKey = encodeMultisig(TEAM)
/** The address of the account. */
export const TEAM_ADDRESS = multisigAddress(publicKey)

const bodyOf = (chainId: string, nonce: number, value = '5'): TxBody => ({
  chainId,
  from: addressBytes(TEAM_ADDRESS),
  nonce,
  operation: 'transfer',
  message: { to: new Uint8Array(20).fill(7), value },
})

const partsOf = (body: TxBody, ...who: readonly number[]): readonly Part[] =>
  who.map((member) => ({ member, signature: (keys[member] as (typeof keys)[number]).sign(body) }))

const sent = (body: TxBody, parts: readonly Part[], key = publicKey): Uint8Array =>
  encodeTx(encodeBody(body), key, encodeParts(parts))

/** A transfer that two of the members signed. */
export function goodTransfer(chainId: string, nonce = 0): Uint8Array {
  const body = bodyOf(chainId, nonce)
  return sent(body, partsOf(body, 0, 2))
}

/** The place of a member whose key is ed25519. */
const ED25519 = TEAM.members.findIndex(({ length }) => length === 32)
const NOT_SIGNED = 'signature verification failed'

const reordered = svcCodec<Multisig>('svc.tx.Multisig').encode({ ...TEAM, members: [...TEAM.members].reverse() })

/** A transaction that is refused. */
export type SignerRow = readonly [name: string, code: number, log: string, bytes: Uint8Array]

/** What is refused, for a chain. */
export function signerRows(chainId: string): readonly SignerRow[] {
  const body = bodyOf(chainId, 0)
  const cannotDecode = (why: string): string => `cannot decode transaction: ${why}`
  const foreign: Part = { member: ED25519, signature: stranger.signBody(body) }
  const withForeign = [foreign, ...partsOf(body, ED25519 === 0 ? 1 : 0)].sort((a, b) => a.member - b.member)
  return [
    ['one signature too few', 2, cannotDecode('signature: expected 2 parts, got 1'), sent(body, partsOf(body, 0))],
    [
      'a signer twice',
      2,
      cannotDecode('signature: expected members of 0 to 2, ascending, got 1'),
      sent(body, partsOf(body, 1, 1)),
    ],
    ["a stranger's signature", 3, NOT_SIGNED, sent(body, withForeign)],
    ['a changed message', 3, NOT_SIGNED, sent(bodyOf(chainId, 0, '6'), partsOf(body, 0, 1))],
    [
      'a reordered list of signatures',
      2,
      cannotDecode('signature: expected members of 0 to 2, ascending, got 0'),
      sent(body, partsOf(body, 1, 0)),
    ],
    [
      'a reordered list of members',
      2,
      cannotDecode('public_key: members[1]: expected each member once, in ascending order of their bytes'),
      sent(body, partsOf(body, 0, 1), reordered),
    ],
  ]
}
