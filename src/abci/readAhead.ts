import { CheckTxType } from './types.ts'

// The first bytes of a CheckTx request and of its members.
const CHECK_TX = 0x42 // Request.check_tx: member 8, a message
const TX = 0x0a // RequestCheckTx.tx: member 1, bytes
const TYPE = 0x10 // RequestCheckTx.type: member 2, an enum

/** The transaction of the request between two offsets; undefined unless it is the first check of one. */
function newTxOf(packet: Buffer, from: number, to: number): Buffer | undefined {
  let at = from
  const readLength = (): number => {
    let length = 0
    for (let scale = 1; at < to; scale *= 128) {
      const byte = packet[at++] as number
      length += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
    return length
  }
  if (packet[at++] !== CHECK_TX || readLength() !== to - at || packet[at++] !== TX) return undefined
  const end = readLength() + at
  // The node leaves out a type that is 0.
  const isNew = end === to || (end + 2 === to && packet[end] === TYPE && packet[end + 1] !== CheckTxType.recheck)
  return isNew ? packet.subarray(at, end) : undefined
}

/**
 * Creates a function that must be given every packet of one connection in its order, and that hands the transactions
 * which are to be checked for the first time to `onReadAhead`. A request that spans packets is left out, and no bytes are
 * kept. What becomes of bytes that are no requests does not matter here: they are refused where they are decoded.
 */
export function createReadAhead(onReadAhead: (txs: readonly Uint8Array[]) => void): (packet: Buffer) => void {
  let rest = 0 // bytes of the last frame that are still to come
  let length = 0
  let scale = 1
  return (packet) => {
    const txs: Buffer[] = []
    let at = 0
    while (at < packet.length) {
      if (rest > 0) {
        const skipped = Math.min(rest, packet.length - at)
        at += skipped
        rest -= skipped
        continue
      }
      const byte = packet[at++] as number
      length += (byte & 0x7f) * scale
      scale *= 128
      if (byte >= 0x80) continue
      const tx = at + length <= packet.length ? newTxOf(packet, at, at + length) : undefined
      if (tx !== undefined) txs.push(tx)
      rest = length
      length = 0
      scale = 1
    }
    if (txs.length > 0) onReadAhead(txs)
  }
}
