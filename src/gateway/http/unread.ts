import type { Socket } from 'node:net'
import type { Piece } from '../rpc/envelope.ts'
import { ANSWER_OVERHEAD_BYTES } from './limits.ts'

/** Counts what waits to be read on all connections. */
export type Unread = ReturnType<typeof createUnread>

/**
 * Counts the bytes of answers that wait to be read, one that many share once. Beyond `bytesMax` the connection of the oldest
 * one is closed: callers who do not read make room for those who do.
 */
export function createUnread(bytesMax: number) {
  const answers = new Map<object, { socket: Socket; pieces: readonly Piece[]; own: number; onCut: () => void }>()
  // How many answers share each piece.
  const holders = new Map<Uint8Array, number>()
  let bytes = 0
  const hold = (shared: Uint8Array): void => {
    const count = holders.get(shared) ?? 0
    if (count === 0) bytes += shared.length
    holders.set(shared, count + 1)
  }
  const letGo = (shared: Uint8Array): void => {
    const count = holders.get(shared) ?? 1
    if (count > 1) holders.set(shared, count - 1)
    else if (holders.delete(shared)) bytes -= shared.length
  }
  const remove = (key: object): void => {
    const answer = answers.get(key)
    if (answer === undefined) return
    answers.delete(key)
    bytes -= answer.own
    for (const piece of answer.pieces) if (typeof piece !== 'string') letGo(piece)
  }
  const makeRoom = (): void => {
    for (const [oldest, { socket, onCut }] of answers) {
      if (bytes <= bytesMax) return
      remove(oldest)
      onCut()
      socket.destroy()
    }
  }
  return {
    /**
     * Counts an answer until `remove(key)` is called or its connection ends. `onCut` is called before the connection is
     * closed to make room.
     */
    add: (key: object, socket: Socket, pieces: readonly Piece[], onCut = (): void => undefined): void => {
      if (socket.destroyed) return
      let own = ANSWER_OVERHEAD_BYTES
      for (const piece of pieces) {
        if (typeof piece === 'string') own += piece.length
        else hold(piece)
      }
      bytes += own
      answers.set(key, { socket, pieces, own, onCut })
      // To begin a loop costs as much as the entries that are gone.
      if (bytes > bytesMax) makeRoom()
    },
    remove,
    /** An answer that waits behind another one on its connection gets no event when that connection ends. */
    removeAll: (socket: Socket): void => {
      for (const [key, answer] of answers) if (answer.socket === socket) remove(key)
    },
  }
}
