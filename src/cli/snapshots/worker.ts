/** The thread that makes snapshots beside the chain. maker.ts starts it. */
import { parentPort, workerData } from 'node:worker_threads'
import { tables } from '../../modules/registry.ts'
import { keepNewest } from '../../store/snapshot/folder.ts'
import { writeSnapshot } from '../../store/snapshot/write.ts'
import { openSqliteReader } from '../../store/sqlite/sqliteReader.ts'
import { MAKER_FLAG, type MakerMessage, type MakerOptions, type MakerRequest } from './maker.ts'

function answer(
  request: MakerRequest,
  reader: ReturnType<typeof openSqliteReader>,
  { folder, keep }: MakerOptions,
): MakerMessage {
  const { height, flag } = request
  const beganMs = performance.now()
  try {
    const made = reader.read((state) => {
      state.height() // The first read: from here on this connection sees this state and no later one.
      const before = Atomics.compareExchange(flag, 0, MAKER_FLAG.waiting, MAKER_FLAG.begun)
      Atomics.notify(flag, 0)
      return before === MAKER_FLAG.waiting ? writeSnapshot(state, tables, folder) : undefined
    })
    if (made === undefined) return { kind: 'late', height }
    keepNewest(folder, keep)
    const { bytes, chunkHashes } = made.metadata
    return {
      kind: 'made',
      height: made.metadata.height,
      bytes,
      chunks: chunkHashes.length,
      ms: Math.round(performance.now() - beganMs),
    }
  } catch (error) {
    return { kind: 'failed', height, why: error instanceof Error ? error.message : String(error) }
  } finally {
    // The caller must not wait in vain when reading failed.
    Atomics.compareExchange(flag, 0, MAKER_FLAG.waiting, MAKER_FLAG.begun)
    Atomics.notify(flag, 0)
  }
}

if (parentPort !== null) {
  const port = parentPort
  const options = workerData as MakerOptions
  const reader = openSqliteReader({ path: options.path, tables })
  const post = (message: MakerMessage): void => port.postMessage(message)
  port.on('message', (request: MakerRequest) => post(answer(request, reader, options)))
  post({ kind: 'ready' })
}
