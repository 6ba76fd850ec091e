import type { Writer } from 'protobufjs'
import { descriptor } from '../codec/gen/abci.descriptor.js'
import { abci } from '../codec/gen/abci.js'
import { type Shape, shapesOf } from '../codec/message.ts'
import { $protobuf, Reader } from '../codec/protobuf.ts'
import { abciError } from './frame.ts'
import type { AbciRequest, RequestKind } from './types.ts'

/** One decoded request. For a kind that this server does not know, `kind` is undefined and `field` its number. */
export type DecodedRequest =
  | { readonly kind: RequestKind; readonly request: AbciRequest }
  | { readonly kind: undefined; readonly field: number }

/** The kind of a reply: that of its request, or an exception for what cannot be served. */
export type ReplyKind = RequestKind | 'exception'

const LENGTH_DELIMITED = 2
const shapeOf = shapesOf(abci, descriptor, { implicit: true })
const requests = new Map<number, { kind: RequestKind; shape: Shape }>()
const replies = new Map<string, { tag: number; shape: Shape }>()
for (const { id, name, type } of descriptor['abci.Request']?.fields ?? []) {
  requests.set(id, { kind: name as RequestKind, shape: shapeOf(`abci.${type}`) })
}
for (const { id, name, type } of descriptor['abci.Response']?.fields ?? []) {
  replies.set(name, { tag: id * 8 + LENGTH_DELIMITED, shape: shapeOf(`abci.${type}`) })
}

/** The request kinds that the server knows. */
export const requestKinds: readonly RequestKind[] = [...requests.values()].map(({ kind }) => kind)

const saturated = (value: number): number => Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value))

/**
 * Reads every message that Go writes, whatever its members hold. Strangers choose some of them, and CometBFT stops when
 * a request is refused. A 64-bit integer beyond ±(2^53 − 1) is read as that bound, which is above every height and every
 * chunk. Text that is not UTF-8 is read with U+FFFD, which occurs in no path that is served. Unknown members are
 * skipped.
 */
class RequestReader extends Reader {
  override discardUnknown = true

  override int64(): number {
    return saturated(super.int64())
  }

  override uint64(): number {
    return saturated(super.uint64())
  }

  override stringVerify(): string {
    return this.string()
  }
}

/**
 * Decodes the request in one frame, which must hold exactly one, as every ABCI client writes it. No value of a member is
 * refused (see RequestReader). Throws `undecodable` for bytes that are not a request.
 */
export function decodeRequest(frame: Buffer): DecodedRequest {
  if (frame.length === 0) return { kind: undefined, field: 0 }
  let kind: RequestKind | undefined
  try {
    const reader = new RequestReader(frame)
    const tag = reader.uint32()
    const length = reader.uint32()
    const entry = requests.get(tag >>> 3)
    kind = entry?.kind
    const isOne = (tag & 7) === LENGTH_DELIMITED && tag >>> 3 !== 0 && reader.pos + length === frame.length
    if (!isOne) throw new Error('the frame is not one request')
    if (entry === undefined) return { kind: undefined, field: tag >>> 3 }
    return { kind: entry.kind, request: entry.shape.read(entry.shape.message.decode(reader, length)) }
  } catch (error) {
    throw abciError('undecodable', `undecodable ${kind ?? ''} request: ${(error as Error).message}`.replace('  ', ' '))
  }
}

/** Throws a TypeError, which names the kind and the member, for a response that no message can hold. */
export function checkReply(kind: ReplyKind, response: unknown): asserts response is object {
  if (typeof response !== 'object' || response === null)
    throw new TypeError(`${kind}: expected a response, which is an object, got ${String(response)}`)
  replies.get(kind)?.shape.check(response, `${kind}: `)
}

/** Creates an empty buffer, which collects encoded replies, one frame after the other. */
export function createReplyBuffer() {
  let writer: Writer | undefined

  return {
    /** Adds one reply. Throws a TypeError for a response that no message can hold, and then leaves the buffer as it was. */
    put: (kind: ReplyKind, response: unknown): void => {
      const entry = replies.get(kind)
      if (entry === undefined) throw new TypeError(`no reply ${kind}`)
      checkReply(kind, response)
      writer ??= $protobuf.Writer.create()
      entry.shape.message.encode(response, writer.fork().uint32(entry.tag).fork()).ldelim().ldelim()
    },
    /** The number of bytes collected. */
    size: (): number => writer?.pos ?? 0,
    /** Removes and returns all bytes collected. */
    take: (): Uint8Array => {
      const bytes = writer?.finish(true) ?? new Uint8Array(0)
      writer = undefined
      return bytes
    },
  }
}

/** The frame of a request, its length first, as a node writes it. */
export function encodeRequest(kind: RequestKind, request: AbciRequest): Uint8Array {
  const [id, { shape }] = [...requests].find(([, entry]) => entry.kind === kind) as [number, { shape: Shape }]
  const writer = $protobuf.Writer.create()
    .fork()
    .uint32(id * 8 + LENGTH_DELIMITED)
    .fork()
  return shape.message.encode(request, writer).ldelim().ldelim().finish()
}

/** Decodes the reply in one frame. Throws for bytes that are no reply. */
export function decodeReply(frame: Buffer): { readonly kind: string; readonly response: object } {
  const reader = new RequestReader(frame)
  const tag = reader.uint32()
  const found = [...replies].find(([, entry]) => entry.tag === tag)
  if (found === undefined) throw abciError('undecodable', `no reply has the tag ${tag}`)
  const [kind, { shape }] = found
  return { kind, response: shape.read(shape.message.decode(reader, reader.uint32())) }
}
