/** Accounts of several keys. They have no secret, so the browser keeps them. Source: protocol.md §13. */
import { compareBytes, fromBase64, toBase64, fromUtf8, utf8 } from '../../base/bytes.ts'
import { type Draft, type NotADraft, parseDraft, printDraft } from '../../tx/draft.ts'
import { encodeBody } from '../../tx/envelope.ts'
import {
  decodeMultisig,
  encodeMultisig,
  faultOf,
  type Multisig,
  multisigAddress,
  parseMember,
} from '../../tx/multisig.ts'
import { type Address, addressBytes, parseAddress } from '../../values/address.ts'
import { keep, readKept } from '../data/kept.ts'
import { createStore } from '../data/store.ts'
import { linkTo, urlSafe } from '../route.ts'
import { DraftMade } from './act.ts'
import { addSigner, keySignerOf, openAccount, removeAccount } from './wallet.ts'

/** An account of several keys. */
export interface Several extends Multisig {
  readonly address: Address
  readonly bytes: Uint8Array
}

const KEPT = 'svcd-several'

function severalOf(bytes: Uint8Array): Several | undefined {
  const multisig = decodeMultisig(bytes)
  return 'why' in multisig ? undefined : { ...multisig, bytes, address: multisigAddress(bytes) }
}

function readSeveral(): readonly Several[] {
  const all: unknown = readKept('localStorage', KEPT)
  return (Array.isArray(all) ? all : []).flatMap(
    (text) => severalOf(fromBase64(String(text)) ?? new Uint8Array(0)) ?? [],
  )
}

/** The accounts of several keys that this browser keeps. */
export const several = createStore(readSeveral())

// Another tab of this browser has changed them.
addEventListener('storage', ({ key }) => key === KEPT && several.set(readSeveral()))

function keepAll(all: readonly Several[]): void {
  several.set(all)
  keep(
    'localStorage',
    KEPT,
    all.map(({ bytes }) => toBase64(bytes)),
  )
}

/** Forgets an account, which can be made again from its members. */
export function forgetSeveral(address: string): void {
  keepAll(readSeveral().filter((one) => one.address !== address))
  removeAccount(address)
}

/** Lets an account act. What it is asked to sign becomes a draft, which its members sign. */
export function openSeveral({ address, bytes, threshold, members }: Several): void {
  const from = addressBytes(address)
  const signTx = (given: Omit<Draft['body'], 'from'>): Uint8Array => {
    const body = { ...given, from }
    throw new DraftMade(linkOfDraft({ bodyBytes: encodeBody(body), body, multisig: bytes, parts: [] }))
  }
  addSigner({ address, signTx }, { origin: 'several', note: `${threshold} of ${members.length}` })
}

/** The member that a reader wrote. The address of a key that is open stands for the key: addresses are Ethereum's. */
const memberOf = (text: string): Uint8Array | undefined =>
  keySignerOf(parseAddress(text) ?? '')?.member ?? parseMember(text)

/** True for an account that the page knows to be of no single key, or to have an ed25519 key that is not here. */
const isKeyless = (address: Address): boolean =>
  keySignerOf(address) === undefined &&
  (openAccount(address) !== undefined || readSeveral().some((one) => one.address === address))

/** Makes an account, keeps it and lets it act. Returns why it cannot be. */
export function makeSeveral(threshold: number, texts: readonly string[]): string | undefined {
  const members: Uint8Array[] = []
  for (const text of texts) {
    const address = parseAddress(text)
    // It would count as an account of Ethereum, for which nobody could ever sign.
    if (address !== undefined && isKeyless(address))
      return `${address} is no account of Ethereum: name its public key, or its members`
    const member = memberOf(text)
    if (member === undefined)
      return `expected an address of Ethereum or the base64 of a public key, got ${text.slice(0, 60)}`
    members.push(member)
  }
  members.sort(compareBytes)
  const fault = faultOf({ threshold, members })
  if (fault !== undefined) return fault
  const made = severalOf(encodeMultisig({ threshold, members })) as Several
  keepAll([...readSeveral().filter(({ address }) => address !== made.address), made])
  openSeveral(made)
  return undefined
}

/** The link that passes a draft on. It stands behind `#`, which no browser sends to a server. */
export const linkOfDraft = (draft: Draft): string => linkTo(['sign', urlSafe(toBase64(utf8(printDraft(draft))))])

/** The draft in such a link. */
export function draftOfLink(part: string): Draft | NotADraft {
  const base64 = part.replaceAll('-', '+').replaceAll('_', '/')
  const bytes = fromBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, '='))
  return bytes === undefined
    ? { why: 'the link is cut off or has a letter too many' }
    : parseDraft(fromUtf8(bytes) ?? '')
}
