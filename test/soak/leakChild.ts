/**
 * A process that leaks, for the soak to report: it keeps so many MB more every hour, given as its argument, and leaves
 * files open.
 */
import { openSync } from 'node:fs'

const EVERY_MS = 50
const HOUR_MS = 3_600_000
const OPEN_MAX = 500
const kept: Buffer[] = []
const bytes = Math.ceil((Number(process.argv[2]) * 1e6 * EVERY_MS) / HOUR_MS)

setInterval(() => {
  kept.push(Buffer.alloc(bytes, 1))
  if (kept.length <= OPEN_MAX) openSync('/dev/null', 'r')
}, EVERY_MS)
process.send?.('leaks')
// It dies with whoever started it.
process.once('disconnect', () => process.exit())
