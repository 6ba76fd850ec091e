import { concat, toHex } from '../../base/bytes.ts'
import { commitmentProofCodec, type Existence, type InnerOp } from '../../codec/ics23.ts'
import { EMPTY_HASH, type Hash, HASH_BYTES, isLeaf, LEAF_LENGTH, type Node, sha256Text } from './node.ts'
import { isPaged, nibble, nodeAt, type Page, pageBelow, type Path, childOf, CHILDREN } from './page.ts'
import { fromLatin1 } from '../sorted.ts'
import type { ReadPage } from './tree.ts'

type ExistenceProof = Required<Existence>

/**
 * Proves that a key has its value, or that it has none: then by the proofs of its neighbours by sha256(key), as far as
 * there are any. It has the fields of ics23's CommitmentProof, which `encodeProof` encodes.
 */
export type CommitmentProof =
  | { readonly exist: ExistenceProof }
  | { readonly nonexist: { readonly key: Uint8Array; readonly left?: ExistenceProof; readonly right?: ExistenceProof } }

/**
 * The bytes of a proof, an `ics23.CommitmentProof`: the `data` of a proof op in the answer to `abci_query`.
 *
 * @example
 * const proof = store.prove(balances, { owner: 'alice' })
 * const ops = proof === undefined ? [] : [{ type: 'ics23:smt', key: balances.keyOf({ owner: 'alice' }), data: encodeProof(proof) }]
 */
export const encodeProof = (proof: CommitmentProof): Uint8Array => commitmentProofCodec.encode(proof)

/** Looks up the key and value of a leaf by the sha256 of its key. */
type LeafRow = (keyHash: Hash) => { readonly key: Uint8Array; readonly value: Uint8Array }

// The enum values of ics23: SHA256 is 1, NO_PREFIX and NO_HASH are 0. Together this is its SmtSpec.
const SHA256 = 1
const NO_PREFIX = 0
const LEAF = {
  hash: SHA256,
  prehashKey: SHA256,
  prehashValue: SHA256,
  length: NO_PREFIX,
  prefix: Uint8Array.of(0),
}
const INNER = Uint8Array.of(1)
const NOTHING = new Uint8Array(0)

/** The page below a node at `path`: the stored one, or one made of the leaves that the node keeps. */
function pageAt(readPage: ReadPage, path: Path, node: Node): Page {
  const page = isPaged(node) ? readPage(path) : pageBelow(node, path.length)
  if (page === undefined) throw new Error(`the stored tree lacks its page ${path}`)
  return page
}

/** The pages from the root to the one that `keyHash` ends in. */
function pagesTo(readPage: ReadPage, keyHash: Hash): Page[] {
  const path = toHex(fromLatin1(keyHash))
  const pages: Page[] = []
  for (let page = readPage(''); page !== undefined; ) {
    pages.push(page)
    const depth = pages.length
    const node = childOf(page, nibble(keyHash, depth - 1))
    page = node === null || isLeaf(node) ? undefined : pageAt(readPage, path.slice(0, depth), node)
  }
  return pages
}

function opsIn(page: Page, child: number): InnerOp[] {
  const ops: InnerOp[] = []
  for (let position = CHILDREN + child; position > 1; position >>= 1) {
    const sibling = nodeAt(page, position ^ 1)
    if (sibling === null && isLeaf(nodeAt(page, position) as Node)) continue // a lone leaf rises as it is
    const hash = fromLatin1(sibling?.hash ?? EMPTY_HASH)
    ops.push(
      position % 2 === 1
        ? { hash: SHA256, prefix: concat(INNER, hash), suffix: NOTHING }
        : { hash: SHA256, prefix: INNER, suffix: hash },
    )
  }
  return ops
}

function existence(readPage: ReadPage, keyHash: Hash, rowOf: LeafRow): ExistenceProof {
  const pages = pagesTo(readPage, keyHash)
  const path: InnerOp[] = []
  for (let depth = pages.length - 1; depth >= 0; depth--)
    path.push(...opsIn(pages[depth] as Page, nibble(keyHash, depth)))
  return { ...rowOf(keyHash), leaf: LEAF, path }
}

/** The key hash of the first leaf below a node (`step` 1), or of the last one (`step` -1). */
function outermost(readPage: ReadPage, path: Path, node: Node, step: 1 | -1): Hash {
  if (!isPaged(node)) return node.leaves.slice(step === 1 ? 0 : -LEAF_LENGTH).slice(0, HASH_BYTES)
  const page = pageAt(readPage, path, node)
  const children = Array.from({ length: CHILDREN }, (_, index) => (step === 1 ? index : CHILDREN - 1 - index))
  const child = children.find((index) => childOf(page, index) !== null)
  if (child === undefined) throw new Error(`the stored tree has nothing in its page ${path}`)
  return outermost(readPage, path + child.toString(16), childOf(page, child) as Node, step)
}

/** The nearest leaf whose key hash is above (`step` 1) or below (`step` -1) `keyHash`, which is in no leaf. */
function neighbour(readPage: ReadPage, keyHash: Hash, step: 1 | -1): Hash | undefined {
  const pages = pagesTo(readPage, keyHash)
  const path = toHex(fromLatin1(keyHash))
  const stop = step === 1 ? CHILDREN : -1
  for (let depth = pages.length - 1; depth >= 0; depth--) {
    const page = pages[depth] as Page
    const own = nibble(keyHash, depth)
    const node = childOf(page, own)
    const leafHere = node !== null && isLeaf(node) ? node.leaves.slice(0, HASH_BYTES) : keyHash
    if (step === 1 ? leafHere > keyHash : leafHere < keyHash) return leafHere
    for (let child = own + step; child !== stop; child += step) {
      const next = childOf(page, child)
      if (next !== null) return outermost(readPage, path.slice(0, depth) + child.toString(16), next, step)
    }
  }
  return undefined
}

/**
 * Proves that the tree of `readPage` holds `key`, or that it does not. Undefined for an empty tree, for which ics23 has
 * no proof. Verifiers check it with ics23's SmtSpec.
 */
export function proveKey(readPage: ReadPage, key: Uint8Array, rowOf: LeafRow): CommitmentProof | undefined {
  const keyHash = sha256Text(key)
  const pages = pagesTo(readPage, keyHash)
  if (pages.length === 0) return undefined
  const last = pages.length - 1
  if (childOf(pages[last] as Page, nibble(keyHash, last))?.leaves.startsWith(keyHash))
    return { exist: existence(readPage, keyHash, rowOf) }
  const left = neighbour(readPage, keyHash, -1)
  const right = neighbour(readPage, keyHash, 1)
  return {
    nonexist: {
      key,
      ...(left === undefined ? {} : { left: existence(readPage, left, rowOf) }),
      ...(right === undefined ? {} : { right: existence(readPage, right, rowOf) }),
    },
  }
}
