import type { Reader, Writer } from 'protobufjs'

/** One message class that pbjs made. */
export interface StaticMessage {
  encode(message: object, writer?: Writer): Writer
  decode(reader: Reader | Uint8Array, length?: number): Record<string, unknown>
}

/** The generated tree of packages: namespaces down to message classes. */
export interface StaticRoot {
  readonly [name: string]: StaticRoot | StaticMessage
}

/** One member of a message, as its .proto declares it. */
export interface FieldDescriptor {
  readonly name: string
  readonly id: number
  readonly type: string
  readonly repeated: boolean
  readonly optional: boolean
}

/** Messages and enums by full name, `svc.stake.Description`; a member's message type is named from its own package. */
export interface Descriptor {
  readonly [name: string]: {
    readonly fields?: readonly FieldDescriptor[]
    readonly values?: Readonly<Record<string, number>>
  }
}
