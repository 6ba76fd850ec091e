import { readFileSync } from 'node:fs'

/** One field of a message of proto/svc. */
interface Field {
  readonly name: string
  readonly number: number
  /** A scalar type, or the full name of a message. */
  readonly type: string
  /** It is told apart whether the field is there: `optional`, a message, or a member of a oneof. */
  readonly hasPresence: boolean
  readonly isRepeated: boolean
}

type Value = string | number | boolean | Message

/** A message as the model holds it: bytes as lower-case hex, integers as numbers, what is not there left out. */
export interface Message {
  readonly [name: string]: Value | readonly Value[]
}

const VARINTS = ['bool', 'uint32', 'uint64', 'int64']
const SCALARS = ['bytes', 'string', ...VARINTS]
const messages = new Map<string, readonly Field[]>()

for (const file of ['accounts', 'delegation', 'governance', 'stake', 'state', 'tx']) {
  const text = readFileSync(new URL(`../../../proto/svc/${file}.proto`, import.meta.url), 'utf8').replace(/\/\/.*/g, '')
  for (const [, name, body = ''] of text.matchAll(/message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}/g)) {
    const fields: Field[] = []
    const lines = body.matchAll(/(optional |repeated )?([\w.]+) (\w+) = (\d+);/g)
    for (const [, label, type = '', snake = '', number] of lines) {
      const isScalar = SCALARS.includes(type)
      fields.push({
        name: snake.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        number: Number(number),
        type: isScalar || type.includes('.') ? type : `svc.${file}.${type}`,
        hasPresence: !isScalar || label !== undefined,
        isRepeated: label === 'repeated ',
      })
    }
    messages.set(`svc.${file}.${name}`, fields)
  }
}

/** The fields of a message by its full name. */
export function fieldsOf(type: string): readonly Field[] {
  const fields = messages.get(type)
  if (fields === undefined) throw new Error(`proto/svc has no message ${type}`)
  return fields
}

function varint(value: number): string {
  let rest = BigInt(value)
  let hex = ''
  do {
    const byte = Number(rest & 0x7fn)
    rest >>= 7n
    hex += (rest > 0n ? byte | 0x80 : byte).toString(16).padStart(2, '0')
  } while (rest > 0n)
  return hex
}

function encodeValue({ type }: Field, value: Value): string {
  if (VARINTS.includes(type)) return varint(Number(value))
  const payload =
    type === 'bytes'
      ? (value as string)
      : type === 'string'
        ? Buffer.from(value as string).toString('hex')
        : encode(type, value as Message)
  return varint(payload.length / 2) + payload
}

/** A message as proto3 writes it, in hex: fields in order, and no default unless presence is told apart. */
export function encode(type: string, message: Message): string {
  let hex = ''
  for (const field of fieldsOf(type)) {
    const value = message[field.name]
    if (value === undefined || (!field.hasPresence && (value === '' || value === 0 || value === false))) continue
    const tag = varint(field.number * 8 + (VARINTS.includes(field.type) ? 0 : 2))
    for (const one of [value].flat() as Value[]) hex += tag + encodeValue(field, one)
  }
  return hex
}

/** Reads a message; throws where the bytes end too early or hold what is not told by proto/svc. */
export function decode(type: string, bytes: Buffer): Message {
  let at = 0
  const readVarint = (): number => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined || shift > 63n) throw new Error('a number has no end')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('a number is too large')
    return Number(value)
  }
  const read: Record<string, Message[string]> = {}
  const keep = ({ name, isRepeated }: Field, value: Value): void => {
    read[name] = isRepeated ? [...((read[name] ?? []) as Value[]), value] : value
  }
  while (at < bytes.length) {
    const tag = readVarint()
    const field = fieldsOf(type).find(({ number }) => number === Math.floor(tag / 8))
    if (field === undefined) throw new Error('an unknown field')
    if (tag % 8 === 0) {
      const value = readVarint()
      keep(field, field.type === 'bool' ? value !== 0 : value)
      continue
    }
    const end = tag % 8 === 2 ? readVarint() + at : Number.POSITIVE_INFINITY
    if (end > bytes.length) throw new Error('a field has no end')
    const payload = bytes.subarray(at, end)
    at = end
    keep(
      field,
      field.type === 'bytes'
        ? payload.toString('hex')
        : field.type === 'string'
          ? payload.toString('utf8')
          : decode(field.type, payload),
    )
  }
  for (const { name, type: kind, hasPresence, isRepeated } of fieldsOf(type))
    if (isRepeated) read[name] ??= []
    else if (!hasPresence) read[name] ??= kind === 'bool' ? false : VARINTS.includes(kind) ? 0 : ''
  return read
}

/** Reads a message from hex; throws also where it is not what `encode` writes of it. */
export function decodeCanonical(type: string, hex: string): Message {
  const message = decode(type, Buffer.from(hex, 'hex'))
  if (encode(type, message) !== hex) throw new Error('not canonical')
  return message
}
