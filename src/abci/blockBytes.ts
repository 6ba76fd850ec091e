/**
 * The bytes that a transaction of `length` bytes takes in a block: its own, one tag, and its length as a varint.
 * CometBFT counts `maxTxBytes` in the same way.
 * @example const fits = used + bytesInBlock(tx.length) <= maxTxBytes
 */
export function bytesInBlock(length: number): number {
  let varint = 1
  for (let rest = length; rest >= 128; rest = Math.floor(rest / 128)) varint++
  return 1 + varint + length
}
