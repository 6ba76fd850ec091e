import type { random } from '../chain/support.ts'

/** A whole number of 0 to below the one given. */
export type Next = ReturnType<typeof random>

/** So many bytes at random. */
export const randomBytes = (next: Next, length: number): Uint8Array => Uint8Array.from({ length }, () => next(256))

/** One of these. */
export const pick = <T>(next: Next, values: readonly T[]): T => values[next(values.length)] as T

/** The bytes with some flipped, cut, doubled or put in. */
export function mutated(next: Next, bytes: Uint8Array): Uint8Array {
  let out = Uint8Array.from(bytes)
  for (let changes = 1 + next(4); changes > 0; changes--) {
    const at = next(out.length + 1)
    switch (next(5)) {
      case 0:
        out = out.slice(0, at)
        break
      case 1:
        out = Uint8Array.of(...out.slice(0, at), ...randomBytes(next, 1 + next(8)), ...out.slice(at))
        break
      case 2:
        out = Uint8Array.of(...out, ...out.slice(at))
        break
      default:
        if (at < out.length) out[at] = next(2) === 0 ? next(256) : (out[at] as number) ^ (1 << next(8))
    }
  }
  return out
}
