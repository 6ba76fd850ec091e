import { type Codec, codecsOf } from './message.ts'
import { descriptor } from './gen/state.descriptor.js'
import { svc } from './gen/state.js'

/**
 * The codec of one row message of proto/svc/state.proto: `svc.state.Account`. Apart from the other messages: clients
 * have no rows.
 */
export const stateCodec: <T extends object>(name: string) => Codec<T> = codecsOf(svc, descriptor)
