import { expect, test } from '@jest/globals'
import { toHex, u64be } from '../../../src/base/bytes.ts'
import { sha256 } from '../../../src/base/sha256.ts'
import { EMPTY_HASH, innerHash, leafHash, nodeOf, sha256Text } from '../../../src/store/tree/node.ts'
import {
  decodePage,
  encodePage,
  LEAVES_KEPT_MAX,
  nodeAt,
  pageOf,
  type Path,
  PATH_LENGTH_MAX,
} from '../../../src/store/tree/page.ts'
import { proveKey } from '../../../src/store/tree/proof.ts'
import { fromLatin1, toLatin1 } from '../../../src/store/sorted.ts'
import { byKeyHash, type LeafChange, rootOf, updateTree } from '../../../src/store/tree/tree.ts'
import { random } from '../model.ts'

const keyOf = (n: number): Uint8Array => u64be(n)

/** A tree in memory that takes batches of (key, value or nothing) and keeps its pages as bytes. */
function makeTree() {
  const pages = new Map<Path, Uint8Array>()
  const read: Path[] = []
  const update = (changes: readonly LeafChange[]): Uint8Array => {
    read.length = 0
    const made = updateTree((path) => {
      read.push(path)
      const bytes = pages.get(path)
      return bytes === undefined ? undefined : decodePage(bytes)
    }, changes)
    for (const [path, page] of made.pages) {
      if (page === undefined) pages.delete(path)
      else pages.set(path, Uint8Array.from(encodePage(page)))
    }
    return made.root
  }
  const apply = (batch: ReadonlyMap<number, Uint8Array | undefined>): Uint8Array => {
    const changes = [...batch].map(([n, value]) => {
      const keyHash = sha256Text(keyOf(n))
      return { keyHash, hash: value === undefined ? undefined : leafHash(keyHash, value) }
    })
    return update(changes.sort(byKeyHash))
  }
  return { pages, read, apply, update }
}

test.each([1, 2, 3, 4])(
  'after random batches the root is that of the definition, and the pages are those of a tree built at once (seed %i)',
  (seed) => {
    const next = random(seed)
    const tree = makeTree()
    const rows = new Map<number, Uint8Array>()
    for (let batch = 0; batch < 60; batch++) {
      const changes = new Map<number, Uint8Array | undefined>()
      const keys = batch % 20 < 10 ? 400 : 40 // grows, then shrinks to few
      for (let at = next(30); at >= 0; at--) {
        const n = next(400)
        changes.set(n, n >= keys || next(3) === 0 ? undefined : u64be(next(1000)))
      }
      if (batch % 20 === 19) for (const n of rows.keys()) changes.set(n, undefined)
      for (const [n, value] of changes) {
        if (value === undefined) rows.delete(n)
        else rows.set(n, value)
      }
      const root = tree.apply(changes)
      expect(toHex(root)).toBe(toHex(rootOf([...rows].map(([n, value]) => [keyOf(n), value] as const))))
      expect(new Set(tree.read).size).toBe(tree.read.length)
      const fresh = makeTree()
      fresh.apply(rows)
      expect([...tree.pages].sort()).toEqual([...fresh.pages].sort())
    }
  },
)

test('three leaves give the root worked out by hand', () => {
  const hash = (...parts: Uint8Array[]): Uint8Array => sha256(Buffer.concat(parts))
  const leaf = (n: number): Uint8Array => hash(Uint8Array.of(0), sha256(keyOf(n)), sha256(keyOf(n)))
  // The first bits of sha256(u64be(n)) for n = 0, 2, 5 say where each stands.
  const bits = (n: number): string =>
    [...sha256(keyOf(n))]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
      .slice(0, 12)
  const fold = (keys: readonly number[], depth: number): Uint8Array => {
    if (keys.length === 0) return new Uint8Array(32)
    if (keys.length === 1) return leaf(keys[0] as number)
    return hash(
      Uint8Array.of(1),
      fold(
        keys.filter((n) => bits(n)[depth] === '0'),
        depth + 1,
      ),
      fold(
        keys.filter((n) => bits(n)[depth] === '1'),
        depth + 1,
      ),
    )
  }
  const rows = [0, 2, 5].map((n) => [keyOf(n), keyOf(n)] as const)
  expect(toHex(rootOf(rows))).toBe(toHex(fold([0, 2, 5], 0)))
  expect(toHex(rootOf(rows.slice(0, 1)))).toBe(toHex(leaf(0)))
  expect(toHex(rootOf([]))).toBe('00'.repeat(32))
})

const leavesFrom = (first: number, count: number): string =>
  Array.from({ length: count }, (_, at) => sha256Text(u64be(first + at)) + sha256Text(u64be(first + at + 1000))).join(
    '',
  )

test('a page is read back as it was written: nothing, a leaf, some leaves, leaves elsewhere', () => {
  const page = pageOf(
    Array.from({ length: 16 }, (_, slot) => {
      if (slot % 4 === 0) return null
      return slot % 4 === 3
        ? { hash: sha256Text(u64be(slot)), leaves: '' }
        : nodeOf(leavesFrom(slot, slot % 4 === 1 ? 1 : slot), 0)
    }),
  )
  expect(decodePage(encodePage(page))).toEqual(page)
  const full = pageOf(Array.from({ length: 16 }, (_, slot) => nodeOf(leavesFrom(16 * slot, LEAVES_KEPT_MAX), 0)))
  expect(encodePage(full).length).toBe(25_120)
  const top = nodeAt(full, 1)
  expect(full.every((node, place) => place === 0 || node !== undefined)).toBe(true)
  expect(nodeAt(decodePage(encodePage(full)), 1)).toEqual(top)
})

test('keys whose hashes begin alike for longer than a path have no page that is deeper, however many they are', () => {
  // 18 digits.
  const begin = '\x12\x34\x56\x78\x9a\xbc\xde\xf0\x10'
  const keyHashes = Array.from(
    { length: 3 * LEAVES_KEPT_MAX },
    (_, n) => begin + sha256Text(u64be(n)).slice(begin.length),
  )
  const changes = (from: number, to: number, isGone = false): LeafChange[] =>
    keyHashes
      .slice(from, to)
      .map((keyHash, at) => ({ keyHash, hash: isGone ? undefined : sha256Text(u64be(from + at)) }))
      .sort(byKeyHash)
  const above = (leaves: readonly LeafChange[], depth: number): string => {
    if (leaves.length < 2) return leaves[0]?.hash ?? EMPTY_HASH
    const isRight = ({ keyHash }: LeafChange): boolean => (keyHash.charCodeAt(depth >> 3) & (0x80 >> (depth % 8))) !== 0
    return innerHash(
      above(
        leaves.filter((leaf) => !isRight(leaf)),
        depth + 1,
      ),
      above(leaves.filter(isRight), depth + 1),
    )
  }
  const tree = makeTree()
  expect(toLatin1(tree.update(changes(0, keyHashes.length)))).toBe(above(changes(0, keyHashes.length), 0))
  expect(Math.max(...[...tree.pages.keys()].map((path) => path.length))).toBe(PATH_LENGTH_MAX)
  expect(tree.pages.size).toBe(1 + PATH_LENGTH_MAX)
  expect(toLatin1(tree.update(changes(2, keyHashes.length, true)))).toBe(above(changes(0, 2), 0))
  expect([...tree.pages.keys()]).toEqual([''])
})

test('a missing page is told, not taken for an empty one', () => {
  const tree = makeTree()
  tree.apply(new Map(Array.from({ length: 1000 }, (_, n) => [n, keyOf(n)])))
  const deep = [...tree.pages.keys()].find((path) => path.length === 1) as Path
  tree.pages.delete(deep)
  expect(() => tree.apply(new Map(Array.from({ length: 1000 }, (_, n) => [n, keyOf(n + 1)])))).toThrow(
    `lacks its page ${deep}`,
  )
})

test('a block that changes nothing writes no page', () => {
  const tree = makeTree()
  const root = tree.apply(new Map([[1, u64be(1)]]))
  const bytes = tree.pages.get('')
  expect(tree.apply(new Map())).toEqual(root)
  expect(tree.pages.get('')).toBe(bytes)
})

test.each([
  ['left', 0x0f],
  ['right', 0xf0],
] as const)(
  'the neighbour of a missing key on its %s is found below pages of the first and last digits',
  (side, byte) => {
    const tree = makeTree()
    const keyHashes = Array.from(
      { length: 2 * LEAVES_KEPT_MAX },
      (_, n) => String.fromCharCode(byte) + sha256Text(u64be(n)).slice(1),
    ).sort()
    tree.update(keyHashes.map((keyHash) => ({ keyHash, hash: sha256Text(u64be(7)) })))
    const readPage = (path: Path) => {
      const bytes = tree.pages.get(path)
      return bytes === undefined ? undefined : decodePage(bytes)
    }
    // Its hash begins with 0xaf.
    const proof = proveKey(readPage, keyOf(0), (keyHash) => ({ key: fromLatin1(keyHash), value: u64be(7) }))
    expect(toHex(sha256(keyOf(0)))).toMatch(/^af/)
    const nearest = keyHashes.at(side === 'left' ? -1 : 0) as string
    expect(proof).toMatchObject({ nonexist: { key: keyOf(0), [side]: { key: fromLatin1(nearest) } } })
  },
)
