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

/** 64-bit integers at the edges of what Go and JavaScript hold. */
export const NUMBERS: readonly bigint[] = [
  0n,
  1n,
  -1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
  -(2n ** 53n),
]

/** Bytes where text is expected: most are not UTF-8. */
export const TEXTS: readonly Buffer[] = [
  [],
  [0],
  [0xff],
  [0x2f, 0xff, 0xfe],
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  Array<number>(100).fill(0xfe),
].map((one) => Buffer.from(one))

/** Members that no message has, of each type of the wire. */
export const UNKNOWN: Buffer = Buffer.concat([
  number(1000, 5n),
  bytes(1001, Buffer.alloc(9)),
  Buffer.from([0xd5, 0x3e, 1, 2, 3, 4]),
  Buffer.from([0xd1, 0x3e, 1, 2, 3, 4, 5, 6, 7, 8]),
])
