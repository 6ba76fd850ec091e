import { type Codec, codecsOf } from './message.ts'
import { descriptor } from './gen/history.descriptor.js'
import { history } from './gen/history.js'

/** The codec of a message of proto/history by its full name, such as `history.Block`. */
export const historyCodec: <T extends object>(name: string) => Codec<T> = codecsOf(history, descriptor)
