import { type Address, parseAddress } from '../../values/address.ts'
import { equalBytes, fromBase64, fromHex } from '../../base/bytes.ts'
import { SvcProofError } from '../errors.ts'
import { stateTables } from '../gen/rows.ts'
import type { VerifyOptions } from '../types.ts'
import type { Call, Target, Transport } from '../transport.ts'
import { verifiedHeader } from './header.ts'
import { whyNotAbsent, whyNotMember } from '../../codec/ics23.ts'
import { printRow, stateKey } from './rows.ts'

/**
 * The header that proves a row, as the light client verified it. `hash` and `app_hash` are upper-case hex.
 *
 * @example
 * const row = await svc.verified.getBalance(owner)
 * const header: VerifiedHeader = row.header
 * console.log(`proven by block ${header.height} of ${header.time}`)
 */
export interface VerifiedHeader {
  readonly chain_id: string
  readonly height: number
  /** The time of the block in RFC 3339, which says how old the answer is. */
  readonly time: string
  readonly hash: string
  readonly app_hash: string
}

/**
 * A row of the state at the end of block `height`, proven by the app hash in the header of the block after it.
 *
 * @example
 * const row: VerifiedRow = await svc.verified.getProof('params', 'max_vals/0')
 * if (row.data === null) console.log('it is proven that there is no such row')
 */
export interface VerifiedRow {
  readonly verified: true
  readonly height: number
  readonly header: VerifiedHeader
  readonly table: string
  /** Key and members as proto/svc/state.proto names them; null when it is proven that there is no such row. */
  readonly data: Readonly<Record<string, unknown>> | null
}

/** Who is asked: the gateway for row and proof, which nobody believes, and the light client for the header. */
export interface Sources extends Pick<Target, 'light' | 'fetch' | 'chainId'> {
  readonly transport: Transport
}

/** A row that is asked for: by its key, or a candidacy by the address that owns it. */
export interface WantedRow {
  readonly table: string
  readonly key: string
  readonly owner: Address | undefined
}

/** Names a row as `svc_getProof` takes it, where 32 bytes are all of a key in any base64. */
export function wantedRow(table: string, key: string): WantedRow {
  // `/` separates the parts of a key, and base64 of a key that is one part may hold it too.
  const isOnePart = Object.keys(stateTables.get(table)?.key ?? {}).length === 1
  const named = isOnePart ? key.replaceAll('+', '-').replaceAll('/', '_') : key
  return { table, key: named, owner: table === 'candidacies' ? parseAddress(named) : undefined }
}

/** The call of the gateway that answers with a row and its proof. */
export const proofCall = ({ table, key }: WantedRow): Call => ({ method: 'svc_getProof', params: [table, key] })

/** A row and its proof, as the gateway claims them. */
export interface ClaimedRow {
  readonly height: number
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly proof: Uint8Array
}

/** Reads what the gateway answers to `proofCall`. Throws an SvcProofError for an answer of another form. */
export function readClaim(answer: unknown): ClaimedRow {
  const { height, ...texts } = (answer ?? {}) as Readonly<Record<string, unknown>>
  const bytesOf = (member: string): Uint8Array => {
    const text = texts[member]
    const bytes = typeof text === 'string' ? fromBase64(text) : undefined
    if (bytes === undefined) throw new SvcProofError(`the gateway's answer has no bytes in ${member}`)
    return bytes
  }
  if (typeof height !== 'number' || !Number.isSafeInteger(height + 1) || height < 0) {
    throw new SvcProofError("the gateway's answer has no height")
  }
  return { height, key: bytesOf('key'), value: bytesOf('value'), proof: bytesOf('proof') }
}

const CANDIDACY_KEY_BYTES = 9

/**
 * Returns the key that the answer must be about. When the row is asked for by its owner, the gateway finds the id, which
 * is trusted only once the row shows that owner.
 */
function expectedKey({ table, key, owner }: WantedRow, claim: ClaimedRow): Uint8Array {
  if (owner === undefined) {
    const expected = stateKey(table, key)
    if (expected === undefined)
      throw new SvcProofError(`there can be no row ${JSON.stringify(key)} in the table ${JSON.stringify(table)}`)
    return expected
  }
  if (
    claim.key.length !== CANDIDACY_KEY_BYTES ||
    claim.key[0] !== stateTables.get(table)?.tag ||
    claim.value.length === 0
  ) {
    throw new SvcProofError(`the gateway's answer is no candidacy of ${owner}`)
  }
  return claim.key
}

/** Throws an SvcProofError unless the claim is about the row that is wanted; returns the key of that row. */
export function checkedKey(wanted: WantedRow, claim: ClaimedRow): Uint8Array {
  const expected = expectedKey(wanted, claim)
  if (!equalBytes(claim.key, expected)) throw new SvcProofError("the gateway's answer is about another row")
  return expected
}

/** How old a verified answer may be unless `maxAgeMs` says otherwise: longer than any usual pause between blocks. */
const MAX_AGE_MS = 300_000

/**
 * Throws an SvcProofError for a header that is too old, or has no time, because a gateway could return a state that was
 * right long ago.
 */
function checkAge({ height, time }: VerifiedHeader, maxAgeMs: number): void {
  const ageMs = Date.now() - Date.parse(time)
  if (ageMs <= maxAgeMs) return // false for a time that is none
  const seconds = Math.round(ageMs / 1000)
  const age = Number.isNaN(ageMs)
    ? 'which is no time'
    : `${seconds} s ago: older than the ${maxAgeMs / 1000} s of maxAgeMs`
  throw new SvcProofError(`the header of block ${height} is of ${time}, ${age}`)
}

/** The light client that is asked; throws an SvcProofError when there is none. */
export function lightOf({ light }: Sources): string {
  if (light === undefined) throw new SvcProofError('there is no light client to ask: new Svc({ url, light })')
  return light
}

/** The verified header that proves the rows of `height`: of the client's chain, and no older than `maxAgeMs`. */
export async function headerAfter(height: number, sources: Sources, options: VerifyOptions): Promise<VerifiedHeader> {
  const header = await verifiedHeader({ ...sources, light: lightOf(sources) }, height + 1, options)
  const { chain_id } = header
  if (chain_id !== (sources.chainId ?? chain_id)) throw new SvcProofError(`the header is of the chain ${chain_id}`)
  checkAge(header, options.maxAgeMs ?? MAX_AGE_MS)
  return header
}

/** The row of a claim, once its proof leads to the app hash of the header. Throws an SvcProofError when it does not. */
export function verifyClaim(wanted: WantedRow, claim: ClaimedRow, header: VerifiedHeader): VerifiedRow {
  const { table, owner } = wanted
  const key = checkedKey(wanted, claim)
  const root = fromHex(header.app_hash) as Uint8Array
  const isThere = claim.value.length > 0
  const why = isThere ? whyNotMember(root, claim.proof, key, claim.value) : whyNotAbsent(root, claim.proof, key)
  if (why !== undefined) throw new SvcProofError(`${why} (height ${claim.height}, header ${header.height})`)
  const data = isThere ? printRow(table, key, claim.value) : null
  if (owner !== undefined && data?.['owner_address'] !== owner) {
    throw new SvcProofError(`the row that the gateway found is owned by ${String(data?.['owner_address'])}`)
  }
  return { verified: true, height: claim.height, header, table, data }
}

/**
 * Resolves with a row as of the gateway's head, proven: the light client has verified the header after that head, the
 * proof leads from its app hash to the row, the row is the one that was asked for, and the header is no older than
 * `maxAgeMs`. Rejects with SvcProofError at whatever does not hold, or when the header is not there after `timeoutMs`;
 * with SvcRpcError when the gateway refuses or does not answer.
 */
export async function proveRow(
  sources: Sources,
  table: string,
  key: string,
  options: VerifyOptions,
): Promise<VerifiedRow> {
  lightOf(sources)
  const wanted = wantedRow(table, key)
  const claim = readClaim(await sources.transport.ask(proofCall(wanted), options.signal))
  // What is about another row is refused before anybody waits for a header.
  checkedKey(wanted, claim)
  return verifyClaim(wanted, claim, await headerAfter(claim.height, sources, options))
}
