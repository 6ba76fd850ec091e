import { expect, test } from '@jest/globals'
import { toHex, u64be } from '../../src/base/bytes.ts'
import { sha256 } from '../../src/base/hash.ts'
import { leafHash, sha256Text } from '../../src/store/node.ts'
import { decodePage, encodePage, nodeAt, pageOf, type Path } from '../../src/store/page.ts'
import { rootOf } from '../../src/store/root.ts'
import { byKeyHash, type LeafChange, updateTree } from '../../src/store/tree.ts'
import { random } from './model.ts'

const keyOf = (n: number): Uint8Array => u64be(n)

/** A tree in memory that takes batches of (key, value or nothing) and keeps its pages as bytes. */
function makeTree() {
  const pages = new Map<Path, Uint8Array>()
  const read: Path[] = []
  const apply = (batch: ReadonlyMap<number, Uint8Array | undefined>): Uint8Array => {
    const changes: LeafChange[] = [...batch]
      .map(([n, value]) => {
        const keyHash = sha256Text(keyOf(n))
        return { keyHash, hash: value === undefined ? undefined : leafHash(keyHash, value) }
      })
      .sort(byKeyHash)
    read.length = 0
    const update = updateTree((path) => {
      read.push(path)
      const bytes = pages.get(path)
      return bytes === undefined ? undefined : decodePage(bytes)
    }, changes)
    for (const [path, page] of update.pages) {
      if (page === undefined) pages.delete(path)
      else pages.set(path, Uint8Array.from(encodePage(page)))
    }
    return update.root
  }
  return { pages, read, apply }
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

test('a page is read back as it was written, in at most 1,028 bytes', () => {
  const hash = (n: number): string => sha256Text(u64be(n))
  const page = pageOf(Array.from({ length: 16 }, (_, slot) =>
    slot % 3 === 0 ? null : { hash: hash(slot), keyHash: slot % 3 === 1 ? undefined : hash(slot + 50) },
  ))
  expect(decodePage(encodePage(page))).toEqual(page)
  const full = pageOf(Array.from({ length: 16 }, (_, slot) => ({ hash: hash(slot), keyHash: hash(slot + 50) })))
  expect(encodePage(full).length).toBe(1028)
  const top = nodeAt(full, 1)
  expect(full.every((node, place) => place === 0 || node !== undefined)).toBe(true)
  expect(nodeAt(decodePage(encodePage(full)), 1)).toEqual(top)
})

test('a missing page is told, not taken for an empty one', () => {
  const tree = makeTree()
  tree.apply(new Map(Array.from({ length: 200 }, (_, n) => [n, keyOf(n)])))
  const deep = [...tree.pages.keys()].find((path) => path.length === 1) as Path
  tree.pages.delete(deep)
  expect(() => tree.apply(new Map(Array.from({ length: 200 }, (_, n) => [n, keyOf(n + 1)])))).toThrow(`lacks its page ${deep}`)
})
