import { createHash } from 'node:crypto'

/** Base units of one token. Source: protocol.md §1. */
export const TOKEN = 10n ** 18n
const AMOUNT_MAX = 10n ** 36n

const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex')

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The address of an ed25519 key in hex. */
export const addressOf = (pubKey: string): string => `0x${sha256(bytesOf(pubKey)).slice(0, 40)}`

/** Bytes in hex as base64 text: how keys and proposal ids are printed. */
export const base64 = (hex: string): string => bytesOf(hex).toString('base64')

/** An amount in base units; undefined for text that is none. */
export function parseAmount(text: string): bigint | undefined {
  if (!/^(0|[1-9][0-9]{0,36})$/.test(text)) return undefined
  const amount = BigInt(text)
  return amount <= AMOUNT_MAX ? amount : undefined
}

/** A ratio × 10^18; undefined for text that is none. */
export function parseRatio(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(0|1)(?:\.([0-9]{1,18}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(18, '0'))
}

/** A ratio without trailing zeros. */
export function printRatio(ratio: bigint): string {
  const digits = ratio.toString().padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0*$/, '')
}

/** The text of an address in lower case; undefined for text that is none. */
export const parseAddress = (text: string): string | undefined =>
  /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : undefined

/** amount × ratio, rounded down. */
export const portion = (amount: bigint, ratio: bigint): bigint => (amount * ratio) / TOKEN

/** amount × ratio, rounded up: the self-stake. */
export const portionUp = (amount: bigint, ratio: bigint): bigint => (amount * ratio + TOKEN - 1n) / TOKEN

/** amount × factor / divisor, rounded up. */
export const quotientUp = (amount: bigint, factor: bigint, divisor: bigint): bigint =>
  (amount * factor + divisor - 1n) / divisor

export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)
