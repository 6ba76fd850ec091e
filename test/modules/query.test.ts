import { expect, test } from '@jest/globals'
import { defineQuery, queryOfPath } from '../../src/modules/query.ts'
import { field } from '../../src/tx/fields.ts'
import { uint } from '../../src/values/number.ts'

const ofPath = (path: string) => defineQuery({ path, doc: '', input: { of: field(uint) }, result: uint, run: () => 1 })

test('a path without arguments comes before one that an argument would match, whatever their order', () => {
  const entries = [ofPath('/accounts/<address>'), ofPath('/accounts/richest'), ofPath('/accounts/richest/<limit>')]
  for (const listed of [entries, [...entries].reverse()])
    expect(
      ['/accounts/richest', '/accounts/richesT', '/accounts/', '/accounts/richest/1', '/accounts', '/accounts/x/1'].map(
        (path) => queryOfPath(path, listed)?.path,
      ),
    ).toEqual([
      '/accounts/richest',
      '/accounts/<address>',
      '/accounts/<address>',
      '/accounts/richest/<limit>',
      undefined,
      undefined,
    ])
})
