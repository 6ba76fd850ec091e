/** Protobuf by hand, for values that our own encoder refuses. */

/** The varint of a 64-bit integer, as Go writes it: a negative one in ten bytes. */
export function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

/** A member that is a number. */
export const number = (id: number, value: bigint): Buffer => Buffer.concat([varint(BigInt(id * 8)), varint(value)])

/** A member that is text, bytes or a message. */
export const bytes = (id: number, value: Uint8Array): Buffer =>
  Buffer.concat([varint(BigInt(id * 8 + 2)), varint(BigInt(value.length)), value])
