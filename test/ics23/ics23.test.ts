import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { commitmentProofCodec, whyNotAbsent, whyNotMember } from '../../src/codec/ics23.ts'
import { openMemoryStore } from '../support/memoryStore.ts'
import { createOverlay } from '../../src/store/overlay.ts'
import { openSqliteReader } from '../../src/store/sqlite/sqliteReader.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqliteStore.ts'
import type { CommittedState, Store } from '../../src/store/store.ts'
import { random } from '../store/model.ts'
import { absences, tables } from '../store/tables.ts'
import { buildGoProgram, runGoProgram } from '../support/goProgram.ts'
import { tempFolder } from '../support/tempFolder.ts'

interface Line {
  readonly root: string
  readonly key: string
  readonly value?: string
  readonly proof: string
  readonly expect: 'ok' | 'refused'
}

const { path: folder, remove } = tempFolder('ics23')
const verifier = join(folder, 'verify')

beforeAll(() => {
  buildGoProgram(import.meta.dirname, verifier)
})
afterAll(() => {
  remove()
})

const bytes = (hex: string): Uint8Array => fromHex(hex) as Uint8Array

/** The verdict of the client's own verifier. */
function ours({ root, key, value, proof }: Line): 'ok' | 'refused' {
  const why =
    value === undefined
      ? whyNotAbsent(bytes(root), bytes(proof), bytes(key))
      : whyNotMember(bytes(root), bytes(proof), bytes(key), bytes(value))
  return why === undefined ? 'ok' : 'refused'
}

/** The verdicts of the Go verifier. The client's must be the same: it is held against it on every line here. */
function judge(lines: readonly Line[]): string[] {
  const { stdout } = spawnSync(verifier, {
    input: lines.map((line) => JSON.stringify(line)).join('\n'),
    maxBuffer: 1 << 28,
    encoding: 'utf8',
  })
  const verdicts = stdout.trim().split('\n')
  expect(lines.map(ours)).toEqual(verdicts)
  return verdicts
}

/** What the state claims about one key, as a verifier gets it. */
function claim(state: CommittedState, candidacyId: number): Line {
  const key = absences.keyOf({ candidacyId })
  const row = state.get(absences, { candidacyId })
  const proof = commitmentProofCodec.encode(state.prove(absences, { candidacyId }) as object)
  return {
    root: toHex(state.appHash()),
    key: toHex(key),
    ...(row === undefined ? {} : { value: toHex(absences.encode(row)) }),
    proof: toHex(proof),
    expect: 'ok',
  }
}

function fill(store: Store, size: number): void {
  const overlay = createOverlay(store)
  for (let id = 0; id < size; id++) overlay.put(absences, { candidacyId: id * 2, count: id + 1 })
  store.commit(store.prepare(overlay), { height: store.height() + 1, timeMs: 1, chainId: 'test', transactions: 0 })
}

const flip = (hex: string, at: number, by: number): string => {
  const bytes = Buffer.from(hex, 'hex')
  bytes[at] = (bytes[at] as number) ^ by
  return bytes.toString('hex')
}

test('vectors.json is what the Go program writes today', () => {
  const written = runGoProgram(import.meta.dirname, './vectors')
  expect(written === readFileSync(join(import.meta.dirname, 'vectors.json'), 'utf8')).toBe(true)
})

test('proofs of trees of 1 to 1,000 keys, of present and absent keys, are accepted by the Go verifier', () => {
  const lines: Line[] = []
  const sizes = [...Array.from({ length: 40 }, (_, at) => at + 1), 64, 100, 257, 500, 1000]
  for (const size of sizes) {
    const store = openMemoryStore({ tables })
    fill(store, size)
    for (let id = 0; id < 2 * size; id += size > 100 ? 7 : 1) lines.push(claim(store, id))
  }
  expect(judge(lines)).toEqual(lines.map(() => 'ok'))
})

test('absent keys left of all and right of all are proven with one neighbour', () => {
  const store = openMemoryStore({ tables })
  fill(store, 20)
  const kinds = new Map<string, Line>()
  for (let id = 1; id < 2000; id += 2) {
    const proof = store.prove(absences, { candidacyId: id })
    if (proof === undefined || !('nonexist' in proof)) throw new Error('expected a proof of absence')
    kinds.set(
      `${proof.nonexist.left === undefined ? 'none' : 'left'} ${proof.nonexist.right === undefined ? 'none' : 'right'}`,
      claim(store, id),
    )
  }
  expect([...kinds.keys()].sort()).toEqual(['left none', 'left right', 'none right'])
  expect(judge([...kinds.values()])).toEqual(['ok', 'ok', 'ok'])
})

test('absent keys at the edges of a page are proven with neighbours in the pages beside it', () => {
  const size = 1000
  const store = openMemoryStore({ tables })
  fill(store, size)
  const hashOf = (id: number): string => toHex(sha256(absences.keyOf({ candidacyId: id })))
  const present = Array.from({ length: size }, (_, at) => hashOf(2 * at)).sort()
  const lines = new Map<string, Line>()
  for (let id = 1; lines.size < 15; id += 2) {
    const hash = hashOf(id)
    const right = present.find((one) => one > hash)?.charAt(0)
    const left = present.findLast((one) => one < hash)?.charAt(0)
    if (left !== undefined && right !== undefined && left !== right) lines.set(left, claim(store, id))
  }
  expect(judge([...lines.values()])).toEqual(new Array(15).fill('ok'))
})

/**
 * What a verifier relies on: a proof of absence repeats the key that is asked for, and verifiers go by the one asked.
 */
function relied(proof: string): string | undefined {
  try {
    const decoded = commitmentProofCodec.decode(Buffer.from(proof, 'hex')) as { nonexist?: { key: Uint8Array } }
    return toHex(
      commitmentProofCodec.encode(
        decoded.nonexist === undefined ? decoded : { nonexist: { ...decoded.nonexist, key: new Uint8Array(0) } },
      ),
    )
  } catch {
    return undefined
  }
}

test('a proof with any byte of root, key, value or proof changed is refused', () => {
  const store = openMemoryStore({ tables })
  fill(store, 50)
  const next = random(4)
  const lines: Line[] = []
  for (const id of [0, 40, 98, 1, 33, 301]) {
    const line = claim(store, id)
    const changed = (member: 'root' | 'key' | 'value' | 'proof', at: number): Line => ({
      ...line,
      [member]: flip(line[member] as string, at, 1 << next(8)),
      expect: 'refused',
    })
    for (let at = 0; at < line.proof.length / 2; at++) {
      const one = changed('proof', at)
      if (relied(one.proof) !== relied(line.proof)) lines.push(one)
    }
    for (let at = 0; at < 32; at++) lines.push(changed('root', at))
    // Another absent key in the same gap is rightly proven absent: of a proof of absence, present keys are the ones to
    // refuse.
    if (line.value === undefined)
      for (let present = 0; present < 100; present += 2)
        lines.push({ ...line, key: toHex(absences.keyOf({ candidacyId: present })), expect: 'refused' })
    else for (let at = 0; at < line.key.length / 2; at++) lines.push(changed('key', at))
    if (line.value !== undefined) for (let at = 0; at < line.value.length / 2; at++) lines.push(changed('value', at))
    lines.push(
      line.value === undefined
        ? { ...line, value: '0801', expect: 'refused' }
        : { key: line.key, root: line.root, proof: line.proof, expect: 'refused' },
    )
  }
  expect(lines.length).toBeGreaterThan(2000)
  expect(judge(lines)).toEqual(lines.map(() => 'refused'))
})

test('after many blocks and a restart the store on disk and its readers prove what they hold', () => {
  const path = join(folder, 'state.db')
  const next = random(5)
  for (let run = 0; run < 3; run++) {
    const store = openSqliteStore({ path, tables, pagesCached: 8 })
    for (let block = 0; block < 8; block++) {
      const overlay = createOverlay(store)
      for (let at = 0; at < 60; at++) {
        if (next(3) === 0) overlay.remove(absences, { candidacyId: next(300) })
        else overlay.put(absences, { candidacyId: next(300), count: 1 + next(9) })
      }
      store.commit(store.prepare(overlay), { height: store.height() + 1, timeMs: 1, chainId: 'test', transactions: 0 })
    }
    const reader = openSqliteReader({ path, tables })
    const lines = reader.read((state) => Array.from({ length: 300 }, (_, id) => claim(state, id)))
    expect(judge(lines)).toEqual(lines.map(() => 'ok'))
    expect(claim(store, 3)).toEqual(lines[3])
    reader.close()
    store.close()
  }
})

test('an empty tree has no proof, and a proof reads back as it was written', () => {
  const store = openMemoryStore({ tables })
  expect(store.prove(absences, { candidacyId: 1 })).toBeUndefined()
  fill(store, 9)
  const proof = store.prove(absences, { candidacyId: 4 }) as { exist: { value: Uint8Array } }
  const back = commitmentProofCodec.decode(commitmentProofCodec.encode(proof)) as { exist: { value: Uint8Array } }
  expect(toHex(back.exist.value)).toBe(toHex(proof.exist.value))
  expect(toHex(commitmentProofCodec.encode(back))).toBe(toHex(commitmentProofCodec.encode(proof)))
})
