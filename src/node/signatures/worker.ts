/** A thread that verifies signatures ahead of the application. pool.ts starts it. */
import { workerData } from 'node:worker_threads'
import { decodeTx } from '../../tx/envelope.ts'
import { isSignedBySender } from '../../modules/isSignedBySender.ts'
import { openRing } from './ring.ts'

const ring = openRing(workerData as SharedArrayBuffer)

for (;;) {
  const slot = ring.claim()
  if (slot === undefined) ring.wait()
  else {
    const tx = decodeTx(ring.read(slot))
    ring.finish(slot, !('why' in tx) && isSignedBySender(tx))
  }
}
