import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { writtenPart } from '../../tools/reference/writtenPart.ts'
import { writesTable } from './writes.ts'

const PAGE = fileURLToPath(new URL('../../docs/threat-model.md', import.meta.url))

test('the table of docs/threat-model.md says what an operation writes for its fee: two of its rows, made again', () => {
  const [, , ...rows] = writesTable(['deactivate', 'vote']).split('\n')
  expect(rows).toHaveLength(2)
  const written = writtenPart(PAGE, 'writes').split('\n')
  expect(rows.filter((row) => !written.includes(row))).toEqual([])
})
