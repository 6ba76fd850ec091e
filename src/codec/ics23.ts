/** Proofs of ICS-23 with its SmtSpec: their bytes, and what they prove. */
import { compareBytes, concat, equalBytes } from '../base/bytes.ts'
import { sha256 } from '../base/sha256.ts'
import { type Codec, codecsOf } from './message.ts'
import { descriptor } from './gen/ics23.descriptor.js'
import { ics23 } from './gen/ics23.js'

/** The codec of an ICS-23 proof. */
export const commitmentProofCodec: Codec<object> = codecsOf(ics23, descriptor)('ics23.CommitmentProof')

interface LeafOp {
  readonly hash: number
  readonly prehashKey: number
  readonly prehashValue: number
  readonly length: number
  readonly prefix: Uint8Array
}

/** One step of a proof, from a node to the one above. */
export interface InnerOp {
  readonly hash: number
  readonly prefix: Uint8Array
  readonly suffix: Uint8Array
}

/** Proves that `key` has `value`; `leaf` may be missing in bytes that somebody sent. */
export interface Existence {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly leaf?: LeafOp
  readonly path: readonly InnerOp[]
}

interface Proof {
  readonly exist?: Existence
  readonly nonexist?: { readonly left?: Existence; readonly right?: Existence }
}

// SmtSpec of cosmos/ics23: what a leaf and an inner node of our tree look like.
const SHA256 = 1
const NO_PREFIX = 0
const LEAF_PREFIX = 0
const CHILD_BYTES = 32
const DEPTH_MAX = 256
const EMPTY_CHILD = new Uint8Array(CHILD_BYTES)

/** What is wrong with a proof. Never leaves this file: verdicts are values. */
class Refusal extends Error {}

function demand(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refusal(reason)
}

function checkInner({ hash, prefix, suffix }: InnerOp): void {
  demand(hash === SHA256, `an inner node is hashed by ${hash}, not by sha256`)
  demand(prefix[0] !== LEAF_PREFIX, 'an inner node begins as a leaf does')
  demand(
    prefix.length >= 1 && prefix.length <= 1 + CHILD_BYTES,
    `the prefix of an inner node has ${prefix.length} bytes`,
  )
  demand(suffix.length % CHILD_BYTES === 0, `the suffix of an inner node has ${suffix.length} bytes`)
}

/** Throws unless the proof has the form of SmtSpec and its nodes lead to `root`. */
function checkExistence({ key, value, leaf, path }: Existence, root: Uint8Array): void {
  demand(leaf !== undefined, 'the proof has no leaf')
  demand(
    leaf.hash === SHA256 &&
      leaf.prehashKey === SHA256 &&
      leaf.prehashValue === SHA256 &&
      leaf.length === NO_PREFIX &&
      leaf.prefix[0] === LEAF_PREFIX,
    'the leaf is not hashed as the leaves of this tree are',
  )
  demand(path.length <= DEPTH_MAX, `the path has ${path.length} nodes, more than ${DEPTH_MAX}`)
  for (const inner of path) checkInner(inner)
  demand(key.length > 0, 'the leaf has no key')
  demand(value.length > 0, 'the leaf has no value')
  const hash = path.reduce(
    (child, { prefix, suffix }) => sha256(concat(prefix, child, suffix)),
    sha256(concat(leaf.prefix, sha256(key), sha256(value))),
  )
  demand(equalBytes(hash, root), 'the proof leads to another app hash')
}

/** Which child of its parent a path comes from: 0 left, 1 right; undefined when the padding fits neither. */
function placeOf({ prefix, suffix }: InnerOp): 0 | 1 | undefined {
  if (prefix.length === 1 && suffix.length === CHILD_BYTES) return 0
  return prefix.length === 1 + CHILD_BYTES && suffix.length === 0 ? 1 : undefined
}

/** True when nothing stands left of the path: each step is a left child, or its left sibling is empty. */
const isLeftMost = (path: readonly InnerOp[]): boolean =>
  path.every((step) => {
    const place = placeOf(step)
    return place === 0 || (place === 1 && equalBytes(step.prefix.subarray(1), EMPTY_CHILD))
  })

/** True when nothing stands right of the path. */
const isRightMost = (path: readonly InnerOp[]): boolean =>
  path.every((step) => {
    const place = placeOf(step)
    return place === 1 || (place === 0 && equalBytes(step.suffix, EMPTY_CHILD))
  })

/**
 * True when no leaf stands between two paths of one tree: they part at one node, and each keeps to the other's side
 * below it.
 */
function areNeighbours(left: readonly InnerOp[], right: readonly InnerOp[]): boolean {
  for (let up = 1; ; up++) {
    const [onLeft, onRight] = [left.at(-up), right.at(-up)]
    if (onLeft === undefined || onRight === undefined) return false
    if (equalBytes(onLeft.prefix, onRight.prefix) && equalBytes(onLeft.suffix, onRight.suffix)) continue
    return (
      placeOf(onLeft) === 0 &&
      placeOf(onRight) === 1 &&
      isRightMost(left.slice(0, -up)) &&
      isLeftMost(right.slice(0, -up))
    )
  }
}

/**
 * Decodes a proof. A batch or a compressed proof, which our trees never have, has neither `exist` nor
 * `nonexist`.
 */
function read(bytes: Uint8Array): Proof {
  try {
    return commitmentProofCodec.decode(bytes) as Proof
  } catch {
    throw new Refusal('the proof is no ics23.CommitmentProof')
  }
}

function verdict(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

/**
 * Why `proof` (an `ics23.CommitmentProof`) does not prove that the tree of `root` holds `value` under `key`; undefined
 * when it does. Source: VerifyMembership of github.com/cosmos/ics23 v0.11.0 with SmtSpec, whose verdicts it gives for
 * every single proof; batches and compressed proofs are refused.
 *
 * @example
 * const why = whyNotMember(appHash, proof, balances.keyOf({ owner: 'alice' }), value)
 * if (why !== undefined) throw new Error(why)
 */
export function whyNotMember(
  root: Uint8Array,
  proof: Uint8Array,
  key: Uint8Array,
  value: Uint8Array,
): string | undefined {
  return verdict(() => {
    const { exist } = read(proof)
    demand(exist !== undefined, 'the proof does not say that the row exists')
    demand(equalBytes(exist.key, key), 'the proof is of another row')
    demand(equalBytes(exist.value, value), 'the proof is of another value')
    checkExistence(exist, root)
  })
}

/**
 * Why `proof` does not prove that the tree of `root` holds nothing under `key`; undefined when it does: the leaves on
 * both sides of sha256(key) are proven, and nothing stands between them. Source: VerifyNonMembership, as above.
 *
 * @example
 * const why = whyNotAbsent(appHash, proof, balances.keyOf({ owner: 'bob' }))
 * if (why !== undefined) throw new Error(why)
 */
export function whyNotAbsent(root: Uint8Array, proof: Uint8Array, key: Uint8Array): string | undefined {
  return verdict(() => {
    const { nonexist } = read(proof)
    demand(nonexist !== undefined, 'the proof does not say that the row is absent')
    const { left, right } = nonexist
    const place = sha256(key)
    demand(
      left === undefined || compareBytes(sha256(left.key), place) < 0,
      'the left neighbour does not stand left of the key',
    )
    demand(
      right === undefined || compareBytes(sha256(right.key), place) > 0,
      'the right neighbour does not stand right of the key',
    )
    if (left !== undefined) checkExistence(left, root)
    if (right !== undefined) checkExistence(right, root)
    demand(left !== undefined || right !== undefined, 'the proof has no neighbours')
    if (left === undefined) demand(isLeftMost(right?.path ?? []), 'something stands left of the right neighbour')
    else if (right === undefined) demand(isRightMost(left.path), 'something stands right of the left neighbour')
    else demand(areNeighbours(left.path, right.path), 'something stands between the neighbours')
  })
}
