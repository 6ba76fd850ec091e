import './browser.ts'
import { expect, test } from '@jest/globals'
import type { Candidate } from '../../src/dashboard/data/validators.ts'
import { formatShare, formatTokens } from '../../src/dashboard/format.ts'
import { formatReturn, returnOf, roomOf, withMembers } from '../../src/dashboard/pages/validators/candidacy.ts'
import { TOKEN } from '../../src/base/amount.ts'

test.each([
  [0n, 0, '0'],
  [1n, 0, '<1'],
  [1n, 1, '<0.1'],
  [1n, 4, '<0.0001'],
  [TOKEN - 1n, 4, '0.9999'],
  [TOKEN + 1n, 0, '1'],
  [1_234_567n * TOKEN, 2, '1,234,567'],
])('%s base units with %s decimals are %s token', (units, decimals, text) => {
  expect(formatTokens(units, decimals)).toBe(text)
})

test('a share above 1,000 % has commas', () => {
  expect(formatShare(12_345n, 100n)).toBe('12,345 %')
})

const inflation = { supply: 20_000_000n * TOKEN, rate: 8, power: 10_000_000 }

/** A member of the set with these shares, of which `power` count. */
function member(shares: bigint, power: number, rate: string) {
  const validator = {
    owner_address: '0xa',
    pub_key: { value: 'k' },
    shares: String(shares),
    max_shares: String(100n * TOKEN),
    comp_rate: rate,
    active: 'Y',
    state: 'Validator',
  } as Candidate
  const set = [{ owner_address: '0xa', pub_key: { type: '', value: 'k' }, power, proven: true }]
  const [candidacy] = withMembers([validator], power === 0 ? [] : set, [])
  return candidacy as NonNullable<typeof candidacy>
}

test.each([
  ['inflation × supply ÷ power, when the validator keeps nothing', 1_000_000n, 1_000_000, '0', '16 %'],
  ['less the commission', 1_000_000n, 1_000_000, '0.5', '8 %'],
  ['nothing, when it keeps all', 1_000_000n, 1_000_000, '1', '–'],
  ['half, when stake_limit counts half of the shares', 1_000_000n, 500_000, '0.5', '4 %'],
  ['nothing outside the set', 1_000_000n, 0, '0.5', '–'],
  ['nothing of no shares', 0n, 1, '0.5', '–'],
])('the return is %s', (_, shares, power, rate, text) => {
  const candidacy = member(shares * TOKEN, power, rate)
  expect(formatReturn(candidacy, inflation)).toBe(text)
  expect(returnOf(candidacy, inflation)).toBe(text === '–' ? 0n : BigInt(text.slice(0, -2)) * 10_000n)
})

test('there is no room below 0', () => {
  expect(roomOf(member(99n * TOKEN, 1, '0').validator)).toBe(TOKEN)
  expect(roomOf(member(101n * TOKEN, 1, '0').validator)).toBe(0n)
})
