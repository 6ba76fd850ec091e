/** What the page writes numbers, amounts, times and hashes like. Amounts never pass through a float. */
import { parseRatio, printRatio } from '../base/amount.ts'
import { Svc } from '../client/index.ts'

/**
 * True for the digits of a number that can be shown as one. Strangers may write more digits: the client converts no
 * amount of more than 60, and the time to group them grows with the square of their number.
 */
export const isWholeNumber = (text: string): boolean => /^[0-9]{1,60}$/.test(text)

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')

/** A whole number with commas: `1,234,567`. */
export const formatCount = (count: number | bigint): string => grouped(String(count))

/** An amount in base units as tokens with at most `decimals` decimals, rounded down: `1,234.5`. */
export function formatTokens(units: string | bigint, decimals = 4): string {
  const [whole = '0', fraction = ''] = Svc.toTokens(units).split('.')
  const shown = fraction.slice(0, decimals).replace(/0+$/, '')
  if (whole === '0' && shown === '' && /[1-9]/.test(fraction))
    return decimals === 0 ? '<1' : `<0.${'0'.repeat(decimals - 1)}1`
  return shown === '' ? grouped(whole) : `${grouped(whole)}.${shown}`
}

/** An amount in base units as tokens, exactly and with its sign: what a file has. */
export const exactTokens = (units: string | bigint): string =>
  BigInt(units) < 0n ? `-${Svc.toTokens(-BigInt(units))}` : Svc.toTokens(units)

/** A part of a whole in per cent with two decimals at most, rounded to the nearest: `33.33 %`, and `<0.01 %`. */
export function formatShare(part: bigint | number, whole: bigint | number): string {
  if (BigInt(whole) === 0n) return '0 %'
  const hundredths = (BigInt(part) * 20_000n + BigInt(whole)) / (2n * BigInt(whole))
  if (hundredths === 0n && BigInt(part) > 0n) return '<0.01 %'
  const text = `${formatCount(hundredths / 100n)}.${String(hundredths % 100n).padStart(2, '0')}`.replace(/\.?0+$/, '')
  return `${text} %`
}

/** A ratio in per cent: `12.5 %`. */
export const formatRatio = (ratio: string): string => `${printRatio((parseRatio(ratio) ?? 0n) * 100n)} %`

/** The beginning and the end of a hash, an address or a key. */
export const shorten = (text: string, left = 8, right = 6): string =>
  text.length <= left + right + 1 ? text : `${text.slice(0, left)}…${text.slice(-right)}`

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
]

/** A time span of whole seconds in its largest units, two of them or fewer: `3 d 4 h`, `12 s`. */
export function formatSpan(seconds: number, units = 2): string {
  let rest = Math.max(0, Math.round(seconds))
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest %= size
    if (count > 0) parts.push(`${count} ${unit}`)
    else if (parts.length > 0) break
    if (parts.length === units) break
  }
  return parts.length === 0 ? '0 s' : parts.join(' ')
}

/** How long ago or ahead a time in ms is: `12 s ago`, `in 3 d 4 h`. */
export function formatAgo(timeMs: number, nowMs: number): string {
  const seconds = Math.round((timeMs - nowMs) / 1000)
  if (seconds > 0) return `in ${formatSpan(seconds)}`
  return seconds > -1 ? 'just now' : `${formatSpan(-seconds)} ago`
}

/** True for a time in ms that a Date holds: strangers may name later ones. */
export const isDate = (timeMs: number): boolean => !Number.isNaN(new Date(timeMs).getTime())

/** A time in UTC to the second: `2026-11-20 10:00:00`; a dash for one that no Date holds. */
export const formatTime = (timeMs: number): string =>
  isDate(timeMs) ? new Date(timeMs).toISOString().slice(0, -'.000Z'.length).replace('T', ' ') : '–'
