import protobuf, { type BufferReader, type Writer } from 'protobufjs/minimal.js'

// Without `long`, protobufjs reads 64-bit members as numbers, which are exact up to 2^53 − 1. The canonical check
// refuses anything larger, because a rounded number does not encode to the bytes that came (protocol.md §2).
// @ts-expect-error null is documented by protobufjs, but not in its types
protobuf.util.Long = null
protobuf.configure()

/** protobufjs, configured before any generated code loads. */
export const $protobuf = protobuf

/** A reader of protobufjs as it is without `long`: its 64-bit integers are numbers. */
export interface Reader extends Omit<BufferReader, 'int64' | 'uint64' | 'stringVerify'> {
  int64(): number
  uint64(): number
  stringVerify(): string
}

/** Reads a Buffer. */
export const Reader = protobuf.BufferReader as unknown as new (bytes: Uint8Array) => Reader

/** One message class that pbjs generated. */
export interface StaticMessage {
  encode(message: object, writer?: Writer): Writer
  decode(reader: Reader | Uint8Array, length?: number): Record<string, unknown>
}

/** The generated tree of packages, from namespaces down to message classes. */
export interface StaticRoot {
  readonly [name: string]: StaticRoot | StaticMessage
}

/** One member of a message, as its .proto file declares it. */
export interface FieldDescriptor {
  readonly name: string
  readonly id: number
  readonly type: string
  readonly repeated?: boolean
  readonly optional?: boolean
}

/**
 * Messages and enums by full name, such as `ics23.LeafOp`. The type of a member is named relative to the
 * message's package.
 */
export interface Descriptor {
  readonly [name: string]: {
    readonly fields?: readonly FieldDescriptor[]
    readonly values?: Readonly<Record<string, number>>
  }
}
