/** The thread that makes snapshots beside the chain. maker.ts starts it. */
import { parentPort, workerData } from 'node:worker_threads'
import { tables } from '../../modules/registry.ts'
import { keepNewest, openSqliteReader, writeSnapshot } from '../../store/index.ts'
import { MAKER_FLAG, type MakerMessage, type MakerOptions, type MakerRequest } from './maker.ts'

const { path, folder, keep } = workerData as MakerOptions
const reader = openSqliteReader({ path, tables })
const post = (message: MakerMessage): void => parentPort?.postMessage(message)

/** Lets the caller continue. Returns false when it had given up. */
function begin(flag: MakerRequest['flag']): boolean {
  const before = Atomics.compareExchange(flag, 0, MAKER_FLAG.waiting, MAKER_FLAG.begun)
  Atomics.notify(flag, 0)
  return before === MAKER_FLAG.waiting
}

function answer({ height, flag }: MakerRequest): MakerMessage {
  const beganMs = performance.now()
  try {
    const made = reader.read((state) => {
      state.height() // The first read: from here on this connection sees this state and no later one.
      return begin(flag) ? writeSnapshot(state, tables, folder) : undefined
    })
    if (made === undefined) return { kind: 'late', height }
    keepNewest(folder, keep)
    const { height: madeHeight, bytes, chunkHashes } = made.metadata
    const ms = Math.round(performance.now() - beganMs)
    return { kind: 'made', height: madeHeight, bytes, chunks: chunkHashes.length, ms }
  } catch (error) {
    return { kind: 'failed', height, why: error instanceof Error ? error.message : String(error) }
  } finally {
    begin(flag) // The caller must not wait in vain when reading failed.
  }
}

parentPort?.on('message', (request: MakerRequest) => post(answer(request)))
post({ kind: 'ready' })
