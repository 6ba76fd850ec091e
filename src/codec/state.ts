import { type Codec, codecsOf } from './message.ts'
import { descriptor } from './gen/state.descriptor.js'
import { svc } from './gen/state.js'

/**
 * The codec of a row, by the full name of its message in proto/svc/state.proto, such as `svc.state.Account`. Rows are
 * apart from the other messages so that only the code that reads rows has to load them.
 */
export const stateCodec: <T extends object>(name: string) => Codec<T> = codecsOf(svc, descriptor)
