import { type Codec, codecsOf } from './message.ts'
import { descriptor } from './gen/svc.descriptor.js'
import { svc } from './gen/svc.js'

/**
 * The codec of one message of proto/svc by its full name: `svc.stake.DeclareCandidacy`. Throws when there is no such
 * message.
 */
export const svcCodec: <T extends object>(name: string) => Codec<T> = codecsOf(svc, descriptor)

/** The members of TxBody's oneof, which are the operations a transaction can hold: operation name to message name. */
export const OPERATION_MESSAGES: ReadonlyMap<string, string> = new Map(
  (descriptor['svc.tx.TxBody']?.fields ?? [])
    .filter((field) => field.type.includes('.'))
    .map((field) => [field.name, field.type]),
)
