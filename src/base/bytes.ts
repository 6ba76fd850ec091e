/** Bytes as text and back, and their order, in Node and in browsers. */

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** A Buffer on the same memory. Node only. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

const isNode = typeof Buffer !== 'undefined'

/** Lower-case hex without a prefix. */
export function toHex(bytes: Uint8Array): string {
  return isNode
    ? asBuffer(bytes).toString('hex')
    : [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

// The value of each hex digit by its character code. Every other code has a value above 15, and so have those beyond it.
const NO_DIGIT = 0xff
const DIGITS = new Uint8Array(0x80).fill(NO_DIGIT)
for (const digit of '0123456789abcdefABCDEF') DIGITS[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** The bytes of hex text in any letter case; undefined unless it is an even number of hex digits. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 === 1) return undefined
  const bytes = new Uint8Array(text.length / 2)
  for (let index = 0; index < bytes.length; index++) {
    const high = DIGITS[text.charCodeAt(2 * index)] ?? NO_DIGIT
    const low = DIGITS[text.charCodeAt(2 * index + 1)] ?? NO_DIGIT
    if ((high | low) > 15) return undefined
    bytes[index] = high * 16 + low
  }
  return bytes
}

/** Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  if (isNode) return asBuffer(bytes).toString('base64')
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}

/** The bytes of padded base64; undefined for what `toBase64` would not have written, so one value has one text. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (isNode) {
    const read = Buffer.from(text, 'base64')
    return read.toString('base64') === text ? new Uint8Array(read) : undefined
  }
  if (!BASE64.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  return toBase64(bytes) === text ? bytes : undefined
}

const utf8Encoder = new TextEncoder()
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 of `text`. */
export function utf8(text: string): Uint8Array {
  return utf8Encoder.encode(text)
}

/** Text of UTF-8 bytes; undefined when they are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8Decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** All parts, one after the other, in a new array. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    all.set(part, offset)
    offset += part.length
  }
  return all
}

/** Negative, 0 or positive when `a` sorts before, with or after `b`: byte by byte, and a prefix before what it starts. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const difference = (a[index] as number) - (b[index] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** True when both hold the same bytes. Its running time depends on them, so use it for public data only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0
}

/** `value` as 8 bytes, most significant first, so that byte order is numeric order. `value`: 0 to 2^53 − 1. */
export function u64be(value: number): Uint8Array {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`u64be: expected 0 to 2^53 - 1, got ${value}`)
  const low = value >>> 0
  const high = (value - low) / 0x1_0000_0000
  return Uint8Array.of(high >> 24, high >> 16, high >> 8, high, low >> 24, low >> 16, low >> 8, low)
}
