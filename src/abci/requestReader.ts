import { $protobuf } from '../codec/setup.ts'

// What protobufjs declares; src/codec/setup.ts turns it off, and what is read is a number.
type Long = ReturnType<typeof $protobuf.BufferReader.prototype.int64>

const saturated = (value: Long): Long =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value as unknown as number)) as unknown as Long

/**
 * Reads every message that Go writes, whatever its members hold: strangers choose some of them, and CometBFT ends
 * itself when a request is refused. A 64-bit integer beyond ±(2^53 − 1) is read as that bound, which lies above every
 * height and every chunk that there can be. Bytes of a text that are not UTF-8 are read as U+FFFD, which is in no path
 * that is served. Members that are not known are skipped.
 */
export class RequestReader extends $protobuf.BufferReader {
  override discardUnknown = true

  override int64(): Long {
    return saturated(super.int64())
  }

  override uint64(): Long {
    return saturated(super.uint64())
  }

  override stringVerify(): string {
    return this.string()
  }
}
