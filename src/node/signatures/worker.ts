/** A thread that verifies signatures ahead of the application. pool.ts starts it. */
import { workerData } from 'node:worker_threads'
import { decodeTx, type Tx } from '../../tx/envelope.ts'
import { isSignedByOwnKey } from '../../tx/signers/ed25519.ts'
import { openRing } from './ring.ts'

const ring = openRing(workerData as SharedArrayBuffer)

/**
 * The verdict on ed25519 signatures, which are nearly all. The others are left to the application: their verifier is loaded
 * asynchronously, and V8 ends the process when a thread that has such a module is ended.
 */
const verdictOf = (tx: Tx): boolean | undefined => (tx.kind === 'ed25519' ? isSignedByOwnKey(tx) : undefined)

for (;;) {
  const slot = ring.claim()
  if (slot === undefined) ring.wait()
  else {
    const tx = decodeTx(ring.read(slot))
    ring.finish(slot, 'why' in tx ? false : verdictOf(tx))
  }
}
