import type { Writer } from 'protobufjs'
import { descriptor } from '../codec/gen/abci.descriptor.js'
import { $protobuf } from '../codec/setup.ts'
import { abciError } from './error.ts'
import { RequestReader } from './requestReader.ts'
import type { Shape } from './shape.ts'
import { shapeOf } from './shape.ts'
import type { AbciRequest, AbciResponse, RequestKind } from './types.ts'

/**
 * One decoded request. `kind` is undefined where the node asks for something this server does not know; then `field` is
 * its number.
 */
export type DecodedRequest =
  | { readonly kind: RequestKind; readonly request: AbciRequest }
  | { readonly kind: undefined; readonly field: number }

type ReplyKind = RequestKind | 'exception'

const LENGTH_DELIMITED = 2
const requests = new Map<number, { kind: RequestKind; shape: Shape }>()
const replies = new Map<string, { tag: number; shape: Shape }>()
for (const { id, name, type } of descriptor['abci.Request']?.fields ?? []) {
  requests.set(id, { kind: name as RequestKind, shape: shapeOf(type) })
}
for (const { id, name, type } of descriptor['abci.Response']?.fields ?? []) {
  replies.set(name, { tag: id * 8 + LENGTH_DELIMITED, shape: shapeOf(type) })
}

/** Every request kind that the server knows. */
export const requestKinds: readonly RequestKind[] = [...requests.values()].map(({ kind }) => kind)

/**
 * The request in one frame. The frame must hold exactly one value, as every ABCI client writes it. No value of a member
 * is refused here: see RequestReader. Errors: `undecodable` for bytes that are no such request.
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

/** Replies on their way out: frames one behind the other in one buffer. */
export interface ReplyBuffer {
  /** Adds one reply. Throws a TypeError on a response no message can hold; the buffer is then as it was. */
  put<K extends RequestKind>(kind: K, response: AbciResponse<K>): void
  /** Adds an exception, the reply to what cannot be served. */
  putException(error: string): void
  /** Bytes held. */
  size(): number
  /** Everything held, which the buffer then gives up. */
  take(): Uint8Array
}

/** An empty reply buffer. */
export function createReplyBuffer(): ReplyBuffer {
  let writer: Writer | undefined

  const add = (kind: ReplyKind, response: object): void => {
    const entry = replies.get(kind)
    if (entry === undefined) throw new TypeError(`no reply ${kind}`)
    if (typeof response !== 'object' || response === null)
      throw new TypeError(`${kind}: expected a response, got ${String(response)}`)
    entry.shape.check(response)
    writer ??= $protobuf.Writer.create()
    entry.shape.message.encode(response, writer.fork().uint32(entry.tag).fork()).ldelim().ldelim()
  }

  return {
    put: add,
    putException: (error) => add('exception', { error }),
    size: () => writer?.pos ?? 0,
    take: () => {
      const bytes = writer?.finish(true) ?? new Uint8Array(0)
      writer = undefined
      return bytes
    },
  }
}
