/**
 * The transactions whose signatures are verified ahead, in memory that all threads share. Every transaction is in a slot
 * of its own, and is verified by the thread that claims the slot: a worker, or the application when it is faster.
 */

/** The slots: more than the shortest signed transactions that the ABCI server reads ahead on one connection. */
export const SLOTS = 32_768
/** The longest transaction that fits into a slot. A transfer takes 189 bytes, a declaration 434. */
export const SLOT_BYTES = 512
/** How long the application waits for a worker that has begun. A verification takes about 0.04 ms. */
const CLAIMED_MS_MAX = 0.25

const SLOT = { free: 0, waiting: 1, claimed: 2, good: 3, bad: 4 } as const
/** Indexes of the counters: transactions put in so far, and taken by workers so far. Both wrap around at 2^32. */
const [HEAD, NEXT, COUNTERS] = [0, 1, 2]
const INT_BYTES = 4
const HEADER_BYTES = (COUNTERS + 2 * SLOTS) * INT_BYTES

/** The bytes of a ring. */
export const RING_BYTES: number = HEADER_BYTES + SLOTS * SLOT_BYTES

/** Opens a ring in RING_BYTES of shared memory, which are all 0 at first. One thread puts in, all others claim. */
export function openRing(memory: SharedArrayBuffer) {
  const counters = new Int32Array(memory, 0, COUNTERS)
  const states = new Int32Array(memory, COUNTERS * INT_BYTES, SLOTS)
  const lengths = new Int32Array(memory, (COUNTERS + SLOTS) * INT_BYTES, SLOTS)
  const bytes = Buffer.from(memory, HEADER_BYTES)
  let head = 0

  const slotOf = (count: number): number => count & (SLOTS - 1)

  return {
    /**
     * Puts a transaction of at most SLOT_BYTES into the next slot and returns it; undefined when the workers are behind
     * by the whole ring. A verdict that nobody has asked for is overwritten: its transaction never came to its check.
     */
    put: (tx: Uint8Array): number | undefined => {
      // A slot whose worker is stuck is left out. There are never more of them than workers.
      while (Atomics.load(states, slotOf(head)) === SLOT.claimed) head = (head + 1) | 0
      const slot = slotOf(head)
      if (Atomics.load(states, slot) === SLOT.waiting) return undefined
      bytes.set(tx, slot * SLOT_BYTES)
      lengths[slot] = tx.length
      Atomics.store(states, slot, SLOT.waiting)
      head = (head + 1) | 0
      return slot
    },
    /** Lets the workers know of everything that was put in. */
    announce: (): void => {
      Atomics.store(counters, HEAD, head)
      Atomics.notify(counters, HEAD)
    },
    /** True when the slot holds exactly these bytes. */
    holds: (slot: number, tx: Uint8Array): boolean =>
      lengths[slot] === tx.length &&
      bytes.compare(tx, 0, tx.length, slot * SLOT_BYTES, slot * SLOT_BYTES + tx.length) === 0,
    /**
     * Frees a slot: true or false is a worker's verdict. With undefined the caller has to verify the signature, because
     * no worker has begun or one does not finish.
     */
    take: (slot: number): boolean | undefined => {
      const found = Atomics.compareExchange(states, slot, SLOT.waiting, SLOT.free)
      if (found === SLOT.waiting) return undefined
      if (found === SLOT.claimed) Atomics.wait(states, slot, SLOT.claimed, CLAIMED_MS_MAX)
      const verdict = Atomics.load(states, slot)
      if (verdict !== SLOT.good && verdict !== SLOT.bad) return undefined
      Atomics.store(states, slot, SLOT.free)
      return verdict === SLOT.good
    },
    /** Claims the next slot for a worker; undefined when there is nothing to do. */
    claim: (): number | undefined => {
      for (;;) {
        const next = Atomics.load(counters, NEXT)
        if (next === Atomics.load(counters, HEAD)) return undefined
        if (Atomics.compareExchange(counters, NEXT, next, (next + 1) | 0) !== next) continue
        const slot = slotOf(next)
        if (Atomics.compareExchange(states, slot, SLOT.waiting, SLOT.claimed) === SLOT.waiting) return slot
      }
    },
    /** A copy of the transaction in a claimed slot. */
    read: (slot: number): Buffer =>
      Buffer.from(bytes.subarray(slot * SLOT_BYTES, slot * SLOT_BYTES + (lengths[slot] ?? 0))),
    /** Ends a claim with its verdict, or without one: then the caller has to verify the signature. */
    finish: (slot: number, isSigned: boolean | undefined): void => {
      Atomics.store(states, slot, isSigned === undefined ? SLOT.free : isSigned ? SLOT.good : SLOT.bad)
      Atomics.notify(states, slot)
    },
    /** Blocks a worker until there is something to do. */
    wait: (): void => {
      const next = Atomics.load(counters, NEXT)
      Atomics.wait(counters, HEAD, next)
    },
  }
}
