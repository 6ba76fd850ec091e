import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { fromBase64 } from '../../src/base/bytes.ts'
import { whyNotAbsent, whyNotMember } from '../../src/codec/ics23.ts'

interface Vector {
  readonly name: string
  readonly root: string
  readonly key: string
  readonly value?: string
  readonly proof: string
  readonly verdict: 'ok' | 'refused'
  readonly flips?: Readonly<Record<string, string>>
}

type Claim = Record<'root' | 'key' | 'proof', Uint8Array> & { value?: Uint8Array }

// Made by cosmos/ics23 v0.11.0; test/ics23 holds the file against the library.
const vectors = JSON.parse(
  readFileSync(join(import.meta.dirname, '../ics23/vectors.json'), 'utf8'),
) as readonly Vector[]

const bytes = (text: string): Uint8Array => fromBase64(text) as Uint8Array
const claimOf = ({ root, key, value, proof }: Vector): Claim => ({
  root: bytes(root),
  key: bytes(key),
  proof: bytes(proof),
  ...(value === undefined ? {} : { value: bytes(value) }),
})
const why = ({ root, key, value, proof }: Claim): string | undefined =>
  value === undefined ? whyNotAbsent(root, proof, key) : whyNotMember(root, proof, key, value)

/** The verdicts when one bit of each byte of a member is flipped, as the file has them. */
const flipped = (claim: Claim, member: keyof Claim): string =>
  Array.from(claim[member] as Uint8Array, (_, at) => {
    const changed = Uint8Array.from(claim[member] as Uint8Array)
    changed[at] = (changed[at] as number) ^ (1 << (at % 8))
    return why({ ...claim, [member]: changed }) === undefined ? 'y' : 'n'
  }).join('')

describe('the verdicts of cosmos/ics23', () => {
  test(`are ours for ${vectors.length} proofs`, () => {
    expect(vectors.length).toBeGreaterThan(300)
    expect(vectors.map((vector) => [vector.name, why(claimOf(vector)) === undefined ? 'ok' : 'refused'])).toEqual(
      vectors.map(({ name, verdict }) => [name, verdict]),
    )
  })

  test('are ours when a bit of any byte of root, key, value or proof is flipped', () => {
    const cases = vectors.flatMap((vector) =>
      Object.entries(vector.flips ?? {}).map(([member, said]) => [vector, member, said] as const),
    )
    expect(cases.reduce((sum, [, , said]) => sum + said.length, 0)).toBeGreaterThan(3000)
    expect(
      cases.map(([vector, member]) => [vector.name, member, flipped(claimOf(vector), member as keyof Claim)]),
    ).toEqual(cases.map(([vector, member, said]) => [vector.name, member, said]))
  })
})

test('each refusal says what is wrong', () => {
  const told = (name: string): string | undefined => why(claimOf(vectors.find((one) => one.name === name) as Vector))
  expect(
    Object.fromEntries(
      [
        "another member's key, tree of 5",
        "another member's value, tree of 5",
        "another tree's root, tree of 5",
        'no proof, tree of 5',
        'a proof cut short, tree of 5',
        'a member said to be absent, tree of 5',
        'leaf hash 2',
        'inner hash 0',
        'inner prefix of 1 times 0',
        'inner prefix of 34 times 1',
        'inner suffix of 31',
        'path of 257',
        'no leaf',
        'a key of gap 2 between 0 and 2, tree of 5',
        'a key of gap 0 between 5 and 1, tree of 5',
        'a key of gap 5 between 3 and 5, tree of 5',
        'absent in the empty tree, tree of 5',
      ].map((name) => [name, told(name)]),
    ),
  ).toEqual({
    "another member's key, tree of 5": 'the proof is of another row',
    "another member's value, tree of 5": 'the proof is of another value',
    "another tree's root, tree of 5": 'the proof leads to another app hash',
    'no proof, tree of 5': 'the proof does not say that the row exists',
    'a proof cut short, tree of 5': 'the proof is no ics23.CommitmentProof',
    'a member said to be absent, tree of 5': 'the proof does not say that the row is absent',
    'leaf hash 2': 'the leaf is not hashed as the leaves of this tree are',
    'inner hash 0': 'an inner node is hashed by 0, not by sha256',
    'inner prefix of 1 times 0': 'an inner node begins as a leaf does',
    'inner prefix of 34 times 1': 'the prefix of an inner node has 34 bytes',
    'inner suffix of 31': 'the suffix of an inner node has 31 bytes',
    'path of 257': 'the path has 257 nodes, more than 256',
    'no leaf': 'the proof has no leaf',
    'a key of gap 2 between 0 and 2, tree of 5': 'something stands between the neighbours',
    'a key of gap 0 between 5 and 1, tree of 5': 'something stands left of the right neighbour',
    'a key of gap 5 between 3 and 5, tree of 5': 'something stands right of the left neighbour',
    'absent in the empty tree, tree of 5': 'the proof has no neighbours',
  })
})
