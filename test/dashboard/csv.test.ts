import './browser.ts'
import { expect, test } from '@jest/globals'
import { csvText } from '../../src/dashboard/parts/csv.ts'
import { exactTokens } from '../../src/dashboard/format.ts'

const rowOf = (...values: readonly (string | number | bigint)[]): string => csvText([], [values]).split('\r\n')[1] ?? ''

test('csv: an amount below 0 is a number, and what a spreadsheet would run is marked as text', () => {
  expect(rowOf(exactTokens(-1_500_000_000_000_000_000n), exactTokens('2000000000000000000'), -3)).toBe('-1.5,2,-3')
  expect(rowOf('=1+1', '-1+1', '+1', '@x', '-', '-1e5', '\t=1')).toBe("'=1+1,'-1+1,'+1,'@x,'-,'-1e5,'\t=1")
})
