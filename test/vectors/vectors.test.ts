import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { OPERATION_MESSAGES } from '../../src/codec/svc.ts'
import { tables } from '../../src/modules/registry.ts'
import { UNSCRIPTED } from './cases.ts'
import { makeVectors, printVectors, VECTORS_PATH } from './make.ts'
import { buildGoProgram } from '../support/goProgram.ts'
import { tempFolder } from '../support/tempFolder.ts'

const text = readFileSync(VECTORS_PATH, 'utf8')
interface Vectors {
  readonly messages: readonly { readonly operation: string }[]
  readonly rows: readonly { readonly table: string }[]
  readonly script: { readonly blocks: readonly { readonly outcomes: readonly (readonly [string, number, string])[] }[] }
}
const golden = JSON.parse(text) as Vectors

const { path: folder, remove } = tempFolder('vectors')
const reader = join(folder, 'reader')
beforeAll(() => {
  buildGoProgram(join(import.meta.dirname, 'go-chain'), reader)
})
afterAll(() => {
  remove()
})

test('messages, transactions, rows and app hashes are byte for byte those of the golden file', () => {
  const made = JSON.parse(printVectors(makeVectors())) as Record<string, unknown>
  for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, unknown>))
    expect(made[name]).toEqual(value)
})

test('the golden file covers each operation and each hashed table, and its script each operation with success but upgrade', () => {
  const operations = new Set(golden.messages.map(({ operation }) => operation))
  const missing = [...OPERATION_MESSAGES.keys()].filter((operation) => !operations.has(operation))
  // `npm run vectors` adds them; it must change no line that is there.
  expect(missing).toEqual([])
  expect(new Set(golden.rows.map(({ table }) => table))).toEqual(
    new Set(tables.filter(({ hashed }) => hashed).map(({ name }) => name)),
  )
  const done = new Set(
    golden.script.blocks.flatMap(({ outcomes }) =>
      outcomes.filter(([, code]) => code === 0).map(([operation]) => operation),
    ),
  )
  const scripted = [...OPERATION_MESSAGES.keys()].filter((operation) => !UNSCRIPTED.includes(operation))
  expect(scripted.filter((operation) => !done.has(operation))).toEqual(['proposeUpgradeProgram'])
})

const readByGo = (file: string): string =>
  execFileSync(reader, [file, join(import.meta.dirname, '../../proto/svc')], { encoding: 'utf8' })

test('a program in Go that knows the protos and the documents only makes the same bytes, signatures and roots', () => {
  const vectors = golden.messages.length + golden.rows.length
  expect(readByGo(VECTORS_PATH)).toMatch(new RegExp(`^${vectors} vectors and a state of [0-9]+ rows agree$`, 'm'))
})
