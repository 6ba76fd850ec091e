import { readFileSync, statSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { findKey, type MultisigFile, namesByAddress } from '../keys/files.ts'
import type { TxEntry } from '../modules/define.ts'
import { digestOfBody } from '../modules/isSignedBySender.ts'
import { txEntryOf } from '../modules/registry.ts'
import { Failed, UserError } from '../node/errors.ts'
import {
  type Draft,
  finishDraft,
  memberAddress,
  missingSignatures,
  multisigOf,
  parseDraft,
  printDraft,
  signDraft,
  signersOf,
} from '../tx/draft.ts'
import { encodeBody, type TxBody } from '../tx/envelope.ts'
import { checkFields, type Fields, printFields, typedFieldsOf } from '../tx/fields.ts'
import { encodeMultisig, type Part } from '../tx/multisig.ts'
import { isSignedByMember } from '../tx/signers/multisig.ts'
import { typedDataOf } from '../tx/typedData.ts'
import { addressOf } from '../values/address.ts'
import { amount } from '../values/number.ts'
import { printTokens } from './amounts.ts'
import { askSigner } from './keySigner.ts'
import {
  assertNothingMissing,
  commonOptions,
  type FlagsOf,
  keystoreFrom,
  keystoreOption,
  option,
  passwordOption,
  settingOf,
} from './options.ts'
import { formatFields, note, printAnswer, say, writeResult } from './output.ts'
import { confirm } from './secrets.ts'

/** A draft of the largest transaction, with every signature, is shorter. */
const DRAFT_BYTES_MAX = 262_144

const entryOf = ({ operation }: TxBody): TxEntry => {
  const entry = txEntryOf.get(operation)
  if (entry === undefined) throw new Failed(`this release does not know the operation ${operation}`)
  return entry
}

/** True for a signature in a draft that its member made of what the draft holds. */
function isGood(draft: Draft, { member, signature }: Part): boolean {
  const { bodyBytes, body, publicKey } = draft
  const account = multisigOf(draft)
  const key = account?.members[member] ?? publicKey ?? body.from
  const signed = { bodyBytes, digest: () => digestOfBody(body) }
  if (account === undefined && memberAddress(key) !== addressOf(body.from)) return false
  return isSignedByMember(signed, key, signature)
}

/** Reads a draft that somebody may have sent. Throws a Failed that names the file, also for a signature of something else. */
export function readDraft(path: string): Draft {
  let text: string
  try {
    if (statSync(path).size > DRAFT_BYTES_MAX) throw new Failed(`${path}: expected at most ${DRAFT_BYTES_MAX} bytes`)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Failed) throw error
    throw new Failed(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'no reason given'}`)
  }
  const draft = parseDraft(text)
  if ('why' in draft) throw new Failed(`${path}: ${draft.why}`)
  const bad = draft.parts.find((part) => !isGood(draft, part))
  if (bad === undefined) return draft
  const { [bad.member]: member = draft.body.from } = multisigOf(draft)?.members ?? []
  throw new Failed(`${path}: the signature of ${memberAddress(member)} is not one of this transaction`)
}

/** Writes a draft to a file, or to stdout for `-`. */
function writeDraft(path: string, draft: Draft): void {
  const text = printDraft(draft)
  if (path === '-') say(text)
  else writeResult(path, `${text}\n`)
}

/** The draft of a body that nobody has signed. `account`: the one that it is from, when it has several keys. */
export function writeUnsigned(path: string, body: TxBody, account: MultisigFile['account'] | undefined): void {
  const multisig = account && encodeMultisig(account)
  const draft: Draft = { bodyBytes: encodeBody(body), body, multisig, parts: [] }
  writeDraft(path, draft)
  note(
    `${path === '-' ? 'the transaction' : path} needs ${missingSignatures(draft)} of ${account?.members.length ?? 1} signatures: ` +
      'svcd tx sign FILE --from NAME adds one',
  )
}

/** Prints the EIP-712 typed data of a body, as `eth_signTypedData_v4` takes it. */
export const printTypedData = (body: TxBody): void =>
  say(JSON.stringify(typedDataOf(typedFieldsOf(entryOf(body).input), body), undefined, 2))

/** The fields of a message as people read them: amounts in tokens. */
function inWords(fields: Fields, printed: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(printed).map(([name, value]) => {
      const { type, fields: inner } = fields[name] as Fields[string]
      if (inner !== undefined) {
        const within = inWords(inner, value as Readonly<Record<string, unknown>>)
        // That it is given may have an effect by itself.
        return [name, Object.keys(within).length === 0 ? 'given, without members' : within]
      }
      return [name, type === amount.name ? printTokens(String(value)) : value]
    }),
  )
}

type NameOf = (address: string) => string

/** An address with the name that the folder has for it. */
function namesIn(folder: string): NameOf {
  const names = namesByAddress(folder)
  return (address) => (names.has(address) ? `${names.get(address)} (${address})` : address)
}

/** The names of those that have signed a draft, and of those that may. */
function namesOfSigners(draft: Draft, nameOf: NameOf) {
  const all = signersOf(draft)
  const named = (hasSigned: boolean): readonly string[] =>
    all.filter((one) => one.hasSigned === hasSigned).map(({ address }) => nameOf(address))
  return { signed: named(true), left: named(false) }
}

/**
 * What a draft does, in words that are decoded from the bytes that are signed. Throws a Failed for a body that the chain
 * would refuse, since its fields cannot be shown as what they are.
 */
function describe(draft: Draft, nameOf: NameOf): string {
  const { body } = draft
  const { operation, doc, input } = entryOf(body)
  const why = checkFields(input, body.message)
  if (why !== undefined) throw new Failed(`the chain would refuse this transaction: ${why}`)
  const { signed, left } = namesOfSigners(draft, nameOf)
  const fields = inWords(input, printFields(input, body.message))
  return [
    doc,
    formatFields({
      operation,
      ...fields,
      chain: body.chainId,
      from: nameOf(addressOf(body.from)),
      nonce: String(body.nonce),
      signed: signed.join(', ') || 'by nobody yet',
      missing: `${missingSignatures(draft)}, of ${left.join(', ') || 'nobody'}`,
    }),
  ].join('\n')
}

/** The options of `svcd tx sign`. */
export const signOptions = [
  ...commonOptions,
  keystoreOption,
  passwordOption,
  option('--from <account>', 'the key that signs, by name or address', { env: 'SVCD_FROM' }),
  option('--yes', 'do not ask'),
] as const

/** Shows what a draft does, asks, and adds the signature of a key to its file. */
export async function signFile(path: string, flags: FlagsOf<typeof signOptions>): Promise<void> {
  const { passwordFile, yes, json } = flags
  const from = settingOf(flags, 'from') ?? ''
  if (from === '') assertNothingMissing([{ flag: '--from', meaning: 'the key that signs, by name or address' }])
  const folder = keystoreFrom(flags)
  const draft = readDraft(path)
  const nameOf = namesIn(folder)
  const key = findKey(folder, from)
  // Their styles are those of stdout.
  note(stripVTControlCharacters(describe(draft, nameOf)))
  if (!(await confirm(`Sign this as ${nameOf(key.keystore.address)}?`, yes))) throw new Failed('nothing was signed')
  const signed = await signDraft(draft, await askSigner(key, passwordFile))
  if ('why' in signed) throw new Failed(signed.why)
  writeDraft(path, signed)
  const missing = missingSignatures(signed)
  printAnswer(json, { path, signer: key.keystore.address, missing }, () =>
    missing === 0 ? `signed; svcd tx send ${path} sends it` : `signed; ${missing} more must sign it`,
  )
}

/**
 * The bytes of a draft that enough have signed, for a chain. Throws a Failed for one of another chain, and while
 * signatures are missing.
 */
export function finished(draft: Draft, chainId: string, folder: string): Uint8Array {
  if (draft.body.chainId !== chainId)
    throw new Failed(`the transaction is for the chain ${draft.body.chainId}, and the gateway is of ${chainId}`)
  const bytes = finishDraft(draft)
  if (bytes !== undefined) return bytes
  const { signed, left } = namesOfSigners(draft, namesIn(folder))
  throw new Failed(
    `${missingSignatures(draft)} signature(s) missing: signed by ${signed.join(', ') || 'nobody'}; ` +
      `${left.join(', ')} may still sign it with svcd tx sign`,
  )
}

/** Throws a UserError for an account of several keys, which signs in steps. */
export function refuseMultisig({ name, account: { threshold } }: MultisigFile): never {
  throw new UserError(
    `${name} is an account of several keys: write the transaction with --unsigned FILE, have ${threshold} of its members ` +
      'sign it with svcd tx sign FILE --from NAME, and send it with svcd tx send FILE',
  )
}
