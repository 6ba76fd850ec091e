import { createHash } from 'node:crypto'
import { fromHex, toHex } from '../../base/bytes.ts'
import { BlockIdFlag, type CommitInfo, type PublicKey, type ValidatorUpdate } from '../types.ts'
import { RequirementError } from './requirementError.ts'

/**
 * A validator set: from each public key to its voting power. An ed25519 key is its bytes in lower-case hex; before a key
 * of another kind stands the kind, as in `secp256k1:02ab…`.
 * @example const total = [...set.values()].reduce((sum, power) => sum + power, 0)
 */
export type ValidatorSet = ReadonlyMap<string, number>

/** CometBFT's MaxTotalVotingPower is 2^63 / 8, which is above every integer that is read exactly. */
const TOTAL_POWER_MAX = Number.MAX_SAFE_INTEGER

const hash = (kind: string, bytes: Uint8Array): Uint8Array => createHash(kind).update(bytes).digest()

/** A public key as the text that names it in a ValidatorSet. Throws a RequirementError unless exactly one member is set. */
export function keyText(pubKey: PublicKey): string {
  const kinds = Object.entries(pubKey).filter(([, bytes]) => bytes !== undefined) as [string, Uint8Array][]
  const [only] = kinds
  if (only === undefined || kinds.length > 1)
    throw new RequirementError('Updating the Validator Set', `a public key has ${kinds.length} kinds, not one`)
  const [kind, bytes] = only
  return kind === 'ed25519' ? toHex(bytes) : `${kind}:${toHex(bytes)}`
}

/** The 20-byte address of a key, as CometBFT derives it. Throws for kinds other than ed25519, secp256k1 and bls12381. */
export function keyAddress(key: string): Uint8Array {
  const [bytesText = '', kind = 'ed25519'] = key.split(':').reverse()
  const bytes = fromHex(bytesText) ?? new Uint8Array(0)
  if (kind === 'secp256k1') return hash('ripemd160', hash('sha256', bytes))
  if (kind === 'ed25519' || kind === 'bls12381') return hash('sha256', bytes).subarray(0, 20)
  throw new Error(`the test chain has no addresses for keys of the kind ${kind}`)
}

/**
 * The set after `updates`. Throws a RequirementError for updates at which CometBFT stops: a key twice, a negative power, power
 * 0 for a key that is not in the set, an empty set, or too much power.
 * @example const next = updateValidators(set, response.validatorUpdates ?? [])
 */
export function updateValidators(set: ValidatorSet, updates: readonly ValidatorUpdate[]): ValidatorSet {
  const refuse = (what: string): never => {
    throw new RequirementError('Updating the Validator Set', what)
  }
  const next = new Map(set)
  const seen = new Set<string>()
  for (const { pubKey, power = 0 } of updates) {
    const key = keyText(pubKey)
    if (seen.has(key)) refuse(`the updates of one block have the key ${key} twice`)
    seen.add(key)
    if (power < 0) refuse(`an update gives the key ${key} the power ${power}`)
    if (power > 0) next.set(key, power)
    else if (!next.delete(key)) refuse(`an update gives power 0 to the key ${key}, which is not in the set`)
  }
  if (next.size === 0) refuse('the updates remove the last validator')
  const total = [...next.values()].reduce((sum, power) => sum + power, 0)
  if (total > TOTAL_POWER_MAX) refuse(`the updates lead to a total power of ${total}`)
  return next
}

/**
 * The last commit of a block whose parent had the set `set`: all voted for it but those in `absent`, who did not vote, and
 * those in `nil`, who voted for no block.
 * @example const lastCommit = commitInfo(set, ['5f…'])
 */
export function commitInfo(set: ValidatorSet, absent: readonly string[] = [], nil: readonly string[] = []): CommitInfo {
  const votes = [...set].map(([key, power]) => {
    const isAbsent = absent.includes(key)
    const flag = nil.includes(key) ? BlockIdFlag.nil : BlockIdFlag.commit
    return {
      validator: { address: keyAddress(key), power },
      signedLastBlock: !isAbsent,
      blockIdFlag: isAbsent ? BlockIdFlag.absent : flag,
    }
  })
  return { round: 0, votes }
}
