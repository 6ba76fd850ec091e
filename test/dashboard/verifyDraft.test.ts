/** What the page says of the signatures of a draft is what the chain says of the transaction. */
import { describe, expect, test } from '@jest/globals'
import { etc, Point, utils } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { compareBytes, concat, fromHex, toHex } from '../../src/base/bytes.ts'
import { isSignedBy } from '../../src/base/ed25519.ts'
import { isSignedBy as isSignedInBrowser } from '../../src/base/ed25519.browser.ts'
import { wrongMembers } from '../../src/dashboard/wallet/verifyDraft.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'
import { type Draft, finishDraft } from '../../src/tx/draft.ts'
import { decodeTx, encodeBody, signBytes, type TxBody } from '../../src/tx/envelope.ts'
import { encodeMultisig, multisigAddress } from '../../src/tx/multisig.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { addressBytes } from '../../src/values/address.ts'
import { ethWallet } from '../support/wallet.ts'

const key = signerOfSeed(new Uint8Array(32).fill(7))
const wallet = ethWallet(1)

const bodyOf = (from: string): TxBody => ({
  chainId: 'a-chain',
  nonce: 3,
  from: addressBytes(from as typeof key.address),
  operation: 'transfer',
  message: { to: addressBytes(key.address), value: '5' },
})

/** n of secp256k1, and the order of ed25519's group. */
const N = BigInt('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141')
const L = 2n ** 252n + 27742317777372353535851937790883648493n

const bytes32 = (value: bigint): Uint8Array => fromHex(value.toString(16).padStart(64, '0')) as Uint8Array
const reversed = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes).reverse()
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`)

/** A signature and others that are nearly it. */
function variantsOf(signature: Uint8Array): readonly Uint8Array[] {
  const flipped = [...signature.keys()].map((at) => signature.map((byte, index) => (index === at ? byte ^ 1 : byte)))
  const longer = Uint8Array.from([...signature, 0])
  return [signature, ...flipped, longer, signature.subarray(0, -1), new Uint8Array(signature.length)]
}

/** The same signature with the other s, which libsecp256k1 takes for none. */
function otherS(signature: Uint8Array): Uint8Array {
  const s = bytes32(N - numberOf(signature.subarray(32, 64)))
  return Uint8Array.from([...signature.subarray(0, 32), ...s, (signature[64] as number) ^ 7])
}

/** The same signature with an S that is too large by the order of the group. */
const tooLargeS = (signature: Uint8Array): Uint8Array =>
  Uint8Array.from([...signature.subarray(0, 32), ...reversed(bytes32(numberOf(reversed(signature.subarray(32))) + L))])

/** A point of order 8. */
const EIGHTH = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')

/** A signature whose R, and a key, of which a point of small order is a part. `r`: the secret number of the signature. */
function twisted(message: Uint8Array, r: bigint, ofR: Point, ofKey: Point): readonly [Uint8Array, Uint8Array] {
  const { scalar, point } = utils.getExtendedPublicKey(new Uint8Array(32).fill(7))
  const R = Point.BASE.multiply(r, false).add(ofR).toBytes()
  const publicKey = point.add(ofKey).toBytes()
  const k = etc.mod(numberOf(reversed(sha512(concat(R, publicKey, message)))), L)
  const S = etc.mod(r + k * scalar, L)
  return [concat(R, reversed(bytes32(S))), publicKey]
}

function judge(draft: Draft): readonly [page: boolean, chain: boolean] {
  const tx = decodeTx(finishDraft(draft) as Uint8Array)
  return [wrongMembers(draft).size === 0, !('why' in tx) && isSignedBySender(tx)]
}

describe('of one key', () => {
  test.each([
    ['ed25519', key.address, key.signBody(bodyOf(key.address)), tooLargeS, key.member],
    ['secp256k1', wallet.address, wallet.sign(bodyOf(wallet.address)), otherS, undefined],
  ] as const)('%s', (_kind, from, signature, twist, publicKey) => {
    const body = bodyOf(from)
    const draft = { bodyBytes: encodeBody(body), body, multisig: undefined, publicKey }
    const verdicts = [...variantsOf(signature), twist(signature)].map((one) =>
      judge({ ...draft, parts: [{ member: 0, signature: one }] }),
    )
    expect(verdicts[0]).toEqual([true, true])
    for (const [page, chain] of verdicts) expect(page).toBe(chain)
    expect(verdicts.filter(([page]) => page)).toHaveLength(1)
  })

  test('that is not the key of the sender', () => {
    const body = bodyOf(wallet.address)
    const parts = [{ member: 0, signature: key.signBody(body) }]
    expect(judge({ bodyBytes: encodeBody(body), body, multisig: undefined, publicKey: key.member, parts })).toEqual([
      false,
      false,
    ])
  })
})

test('of several keys: those are wrong that are, and the others count', () => {
  const members = [key.member, addressBytes(wallet.address)].sort(compareBytes)
  const multisig = encodeMultisig({ threshold: 2, members })
  const body = bodyOf(multisigAddress(multisig))
  const bodyBytes = encodeBody(body)
  const [byKey, byWallet] = [key.signBody(body), wallet.sign(body)]
  const isKeyFirst = members[0] === key.member
  const draftOf = (ofKey: Uint8Array, ofWallet: Uint8Array): Draft => {
    const parts = (isKeyFirst ? [ofKey, ofWallet] : [ofWallet, ofKey]).map((signature, member) => ({
      member,
      signature,
    }))
    return { bodyBytes, body, multisig, parts }
  }
  const other = { ...body, nonce: 4 }
  expect(judge(draftOf(byKey, byWallet))).toEqual([true, true])
  expect(judge(draftOf(key.signBody(other), byWallet))).toEqual([false, false])
  expect([...wrongMembers(draftOf(key.signBody(other), byWallet))]).toEqual([isKeyFirst ? 0 : 1])
  expect([...wrongMembers(draftOf(byKey, wallet.sign(other)))]).toEqual([isKeyFirst ? 1 : 0])
})

test('the verifier of browsers says what that of Node says', () => {
  const message = signBytes(encodeBody(bodyOf(key.address)))
  const signature = key.signBody(bodyOf(key.address))
  const cases: readonly (readonly [Uint8Array, Uint8Array])[] = [
    ...[...variantsOf(signature), tooLargeS(signature), signature.subarray(1)].map((one) => [one, key.member] as const),
    ...[new Uint8Array(32), new Uint8Array(32).fill(255), key.member.subarray(1)].map(
      (one) => [signature, one] as const,
    ),
    // The neutral point as R and as the key, with which everything would verify.
    [Uint8Array.from([1, ...new Uint8Array(63)]), Uint8Array.from([1, ...new Uint8Array(31)])],
    // What a member can sign so that its own equation holds only when it is multiplied by eight.
    ...[
      [EIGHTH, Point.ZERO],
      [Point.ZERO, EIGHTH],
      [EIGHTH, EIGHTH],
    ].map(([ofR, ofKey]) => twisted(message, 5n, ofR as Point, ofKey as Point)),
    twisted(message, 0n, Point.ZERO, Point.ZERO),
    twisted(message, 0n, EIGHTH, Point.ZERO),
  ]
  const verdicts = cases.map(([one, of]) => [isSignedBy(message, one, of), isSignedInBrowser(message, one, of)])
  expect(verdicts[0]).toEqual([true, true])
  for (const [inNode, inBrowser] of verdicts) expect(inBrowser).toBe(inNode)
})
