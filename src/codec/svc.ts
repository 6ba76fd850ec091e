import { type Codec, codecsOf } from './message.ts'
import { descriptor } from './gen/svc.descriptor.js'
import { svc } from './gen/svc.js'

/**
 * The codec of a message of proto/svc by its full name, such as `svc.stake.DeclareCandidacy`. Throws when there is no
 * such message.
 */
export const svcCodec: <T extends object>(name: string) => Codec<T> = codecsOf(svc, descriptor)

/** The operations that a transaction can hold, which are the members of TxBody's oneof: name to message name. */
export const OPERATION_MESSAGES: ReadonlyMap<string, string> = new Map(
  (descriptor['svc.tx.TxBody']?.fields ?? [])
    .filter((field) => field.type.includes('.'))
    .map((field) => [field.name, field.type]),
)
