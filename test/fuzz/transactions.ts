import { ProposalStatus } from '../../src/abci/types.ts'
import { addressBytes, addressOfKey } from '../../src/values/address.ts'
import { concat, toHex } from '../../src/base/bytes.ts'
import { type KeyPair, keyPairOfSeed, signDetached } from '../../src/base/ed25519.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { decodeBody, encodeBody, encodeTx, signBytes, type TxBody } from '../../src/tx/envelope.ts'
import { number, varint } from '../abci/wireBytes.ts'
import { random } from '../chain/support.ts'
import { OTHER_SIGNERS } from '../sim/signers.ts'
import { randomMessage } from '../sim/traffic.ts'
import { type CampaignOptions, type CampaignReport, need } from '../support/campaign.ts'
import { account, CHAIN_ID, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { type Next, pick, randomBytes } from './bytes.ts'
import { runCases } from './campaign.ts'

const SENDERS = 12
const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n
const PRIME = 2n ** 255n - 19n
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
/**
 * What checks 1 to 3 of protocol.md §2 say: no transaction, another chain, no signature. Operations have errors of the
 * same codes.
 */
const REFUSED = /^(?:2 cannot decode transaction: |3 wrong chain id: |3 signature verification failed$)/

const littleEndian = (value: bigint): Buffer =>
  Buffer.from(Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 255n)))

/** The points of small order and all encodings above the prime, with either sign. */
const BAD_KEYS: readonly Buffer[] = [
  0n,
  1n,
  PRIME - 1n,
  BigInt('0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826'),
  BigInt('0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7'),
  ...Array.from({ length: 19 }, (_, at) => PRIME + BigInt(at)),
].flatMap((y) => [littleEndian(y), littleEndian(y + 2n ** 255n)])

/** A signed transaction in its parts. */
export interface Base {
  readonly pair: KeyPair
  readonly body: Uint8Array
  readonly signature: Uint8Array
  readonly bytes: Uint8Array
}

const sign = (pair: KeyPair, body: Uint8Array): Uint8Array => signDetached(signBytes(body), pair.secretKey)
const resigned = (pair: KeyPair, body: Uint8Array): Uint8Array => encodeTx(body, pair.publicKey, sign(pair, body))

/** A body, signed. */
export const baseOfBody = (pair: KeyPair, body: Uint8Array): Base => ({
  pair,
  body,
  signature: sign(pair, body),
  bytes: resigned(pair, body),
})

/** The members of an encoded message: each with its tag, and its length or value. */
function membersOf(bytes: Uint8Array): readonly Uint8Array[] {
  const members: Uint8Array[] = []
  const endOfVarint = (at: number): number => {
    let end = at
    while ((bytes[end] ?? 0) >= 0x80) end++
    return end + 1
  }
  for (let at = 0; at < bytes.length; ) {
    const isSized = ((bytes[at] ?? 0) & 7) === 2
    const value = endOfVarint(at)
    let end = endOfVarint(value)
    if (isSized) {
      let length = 0
      for (let index = end - 1; index >= value; index--) length = length * 128 + ((bytes[index] ?? 0) & 0x7f)
      end += length
    }
    members.push(bytes.subarray(at, end))
    at = end
  }
  return members
}

/** The bytes with the varint that ends at `end` written in one byte more than it needs. */
const overlong = (bytes: Uint8Array, end: number): Uint8Array =>
  concat(bytes.subarray(0, end), Uint8Array.of((bytes[end] ?? 0) | 0x80, 0), bytes.subarray(end + 1))

/** Other encodings of the same message, all of which protobuf reads as that message, and trailing bytes. */
function encodingsOf(next: Next, bytes: Uint8Array): readonly Uint8Array[] {
  const members = membersOf(bytes)
  const one = next(Math.max(1, members.length))
  const member = members[one] ?? bytes
  const again = (given: readonly Uint8Array[]): Uint8Array => concat(...given)
  const tagEnd = member.findIndex((byte) => byte < 0x80)
  return [
    again([...members].reverse()),
    again([...members, member]),
    again([...members.slice(0, one + 1), ...members.slice(one)]),
    again([...members, number(1000 + next(300), BigInt(next(3)))]),
    again([...members, Buffer.from([0xfa, 0x3f, 0])]),
    again(members.map((given, at) => (at === one ? overlong(given, tagEnd) : given))),
    again(members.map((given, at) => (at === one ? overlong(given, tagEnd + 1) : given))),
    concat(bytes, Uint8Array.of(next(256))),
  ].filter((one) => toHex(one) !== toHex(bytes))
}

/** The body with its operation's message in other encodings. */
function operationsOf(next: Next, body: Uint8Array): readonly Uint8Array[] {
  const members = membersOf(body)
  const last = members.at(-1) as Uint8Array
  const tagEnd = last.findIndex((byte) => byte < 0x80) + 1
  let start = tagEnd
  while ((last[start] ?? 0) >= 0x80) start++
  const tag = last.subarray(0, tagEnd)
  return encodingsOf(next, last.subarray(start + 1)).map((inner) =>
    concat(...members.slice(0, -1), tag, varint(BigInt(inner.length)), inner),
  )
}

/** A key that is none, as the sender of the same operation, with a signature that a lax verifier takes. */
function forged(next: Next, { body }: Base): Uint8Array {
  const key = pick(next, BAD_KEYS)
  const members = membersOf(body)
  const from = concat(Uint8Array.of(0x12, 20), addressBytes(addressOfKey(key)))
  const own = concat(...members.map((member) => (member[0] === 0x12 ? from : member)))
  return encodeTx(own, key, concat(pick(next, [key, ...BAD_KEYS]), littleEndian(0n)))
}

/** The bytes with one of them changed, for each of them. */
const changedOf = (next: Next, bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from(bytes, (byte, at) => bytes.with(at, byte ^ (1 + next(255))))

type Kind = (next: Next, base: Base) => readonly Uint8Array[]

/** What becomes of a transaction that somebody signed, none of which anybody signed; and what strangers make up. */
export const MUTANTS: Readonly<Record<string, Kind>> = {
  'a byte changed': (next, { bytes }) => changedOf(next, bytes),
  'a byte left out or put in': (next, { bytes }) =>
    Array.from(bytes, (_, at) =>
      next(2) === 0
        ? concat(bytes.subarray(0, at), bytes.subarray(at + 1))
        : concat(bytes.subarray(0, at), randomBytes(next, 1), bytes.subarray(at)),
    ),
  'cut short': (next, { bytes }) => Array.from({ length: 20 }, () => bytes.subarray(0, next(bytes.length))),
  'another encoding': (next, { bytes }) => encodingsOf(next, bytes),
  'another encoding of the body, signed again': (next, { pair, body }) =>
    encodingsOf(next, body).map((one) => resigned(pair, one)),
  'another encoding of the operation, signed again': (next, { pair, body }) =>
    operationsOf(next, body).map((one) => resigned(pair, one)),
  'S + L': (_next, { pair, body, signature }) => {
    const s = BigInt(`0x${toHex(Uint8Array.from(signature.subarray(32)).reverse())}`)
    return Array.from({ length: 15 }, (_, times) =>
      encodeTx(body, pair.publicKey, concat(signature.subarray(0, 32), littleEndian(s + BigInt(times + 1) * ORDER))),
    )
  },
  'a key of small order or not canonical': (next, base) => Array.from({ length: 40 }, () => forged(next, base)),
  'another chain': (next, { pair, body }) => {
    const [first = body, ...rest] = membersOf(body)
    const text = pick(next, ['other', CHAIN_ID.toUpperCase(), `${CHAIN_ID} `, CHAIN_ID.slice(1), 'x'.repeat(50)])
    const chainId = concat(first.subarray(0, 1), varint(BigInt(text.length)), Buffer.from(text))
    return [resigned(pair, concat(chainId, ...rest)), resigned(pair, concat(...rest))]
  },
  'signed for another purpose': (_next, { pair, body }) =>
    ['', 'svc/tx/v2\n', 'svc/tx/v1', 'SVC/TX/V1\n'].map((domain) =>
      encodeTx(body, pair.publicKey, signDetached(concat(Buffer.from(domain), body), pair.secretKey)),
    ),
  'a key or signature of another length': (next, { pair: { publicKey }, body, signature }) =>
    [-64, -32, -1, 1, 32].flatMap((more) => {
      const sized = (bytes: Uint8Array): Uint8Array =>
        more < 0 ? bytes.subarray(0, Math.max(0, bytes.length + more)) : concat(bytes, randomBytes(next, more))
      return [encodeTx(body, sized(publicKey), signature), encodeTx(body, publicKey, sized(signature))]
    }),
  'a byte of what another kind of account signed': (next, { body }) =>
    OTHER_SIGNERS.flatMap((signer) => changedOf(next, signer.signTx(decodeBody(body) as TxBody))),
  'the other s of an Ethereum signature': (_next, { body }) => {
    const bytes = Buffer.from((OTHER_SIGNERS[0] as (typeof OTHER_SIGNERS)[number]).signTx(decodeBody(body) as TxBody))
    const [s, v] = [BigInt(`0x${bytes.subarray(-33, -1).toString('hex')}`), bytes.at(-1) as number]
    const other = Buffer.from((SECP256K1_ORDER - (s % SECP256K1_ORDER)).toString(16).padStart(64, '0'), 'hex')
    return [27, 28].map((parity) => concat(bytes.subarray(0, -33), other, Uint8Array.of(v === 0 ? v : parity)))
  },
  'somebody else': (next, { pair, body, signature }) => {
    const other = keyPairOfSeed(randomBytes(next, 32))
    return [
      encodeTx(body, other.publicKey, sign(other, body)),
      encodeTx(body, other.publicKey, signature),
      encodeTx(body, pair.publicKey, sign(other, body)),
    ]
  },
}

/** What a chain says of a transaction: code and log of CheckTx, and whether it accepts a proposal that holds it. */
export interface Verdict {
  readonly said: string
  readonly isAccepted: boolean
}

export type Judge = (chain: TestChain, bytes: Uint8Array) => Verdict

/** Asks the application. */
export const askApplication: Judge = (chain, bytes) => {
  const isAccepted = chain.propose({ txs: [bytes] }) === ProposalStatus.accept
  const { code = 0, log = '' } = chain.check(bytes)
  return { said: `${code} ${log}`, isAccepted }
}

function startChain(): TestChain {
  const chain = new TestChain()
  chain.init({
    accounts: Array.from({ length: SENDERS }, (_, at) => ({
      address: account(at + 1).address,
      balance: tokens(1_000_000),
    })),
    candidacies: [1, 2, 3].map((at) => ({ owner: account(at), key: nodeKey(at), shares: tokens(100) })),
  })
  chain.block()
  return chain
}

/** The seed of `account(number)`. */
const seedOf = (sender: number): Uint8Array => new Uint8Array(32).fill(sender).fill(0, 30)

function baseOf(next: Next, chain: TestChain): Base {
  const sender = 1 + next(SENDERS)
  const { operation } = pick(next, txEntries)
  const signer = account(sender)
  const pair = keyPairOfSeed(seedOf(sender))
  const body = encodeBody({
    chainId: CHAIN_ID,
    from: addressBytes(signer.address),
    nonce: chain.nonceOf(signer),
    operation,
    message: randomMessage(next, operation, chain, signer),
  })
  return baseOfBody(pair, body)
}

/**
 * Mutants of signed transactions: none is one that somebody signed, so each is refused by checks 1 to 3, also after
 * what it was made from has been verified and remembered. `judge`: what is asked.
 */
export function transactions({ count, seed }: CampaignOptions, judge: Judge = askApplication): Promise<CampaignReport> {
  const next = random(seed)
  let chain = startChain()
  return runCases(
    { name: 'transactions', target: 'every mutant of a signed transaction is refused', seed },
    count,
    () => {
      if (chain.height > 200) chain = startChain()
      const base = baseOf(next, chain)
      const own = judge(chain, base.bytes)
      need(!REFUSED.test(own.said) && own.isAccepted, () => `signed, and answered ${own.said}: ${toHex(base.bytes)}`)
      let ran = 0
      for (const [kind, make] of Object.entries(MUTANTS)) {
        for (const mutant of make(next, base)) {
          ran += 1
          const { said, isAccepted } = judge(chain, mutant)
          need(
            REFUSED.test(said) && !isAccepted,
            () => `${kind}: answered ${said}, accepted: ${isAccepted}: ${toHex(mutant)}, of ${toHex(base.bytes)}`,
          )
        }
      }
      chain.block({ txs: [base.bytes] })
      return ran
    },
  )
}
