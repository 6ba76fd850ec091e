import protobuf from 'protobufjs/minimal.js'

// Without `long` protobufjs reads 64-bit members as numbers. They are exact up to 2^53 − 1; what lies above is refused
// by the codec, because a rounded number does not encode to the bytes that came (protocol.md §2, strict decoding).
// @ts-expect-error protobufjs documents null here, its types do not
protobuf.util.Long = null
protobuf.configure()

/** protobufjs, set up before any generated code loads. */
export const $protobuf = protobuf
