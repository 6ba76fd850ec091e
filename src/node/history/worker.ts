/** The thread that writes the index of histories, apart from the event loop on which consensus runs. thread.ts starts it. */
import { parentPort, workerData } from 'node:worker_threads'
import { type JournaledBlock, openJournal } from '../../store/index.ts'
import { historyBlockCodec } from './block.ts'
import { openHistoryWriter, prepareHistory } from './file.ts'
import type { HistoryWorkerMessage, HistoryWorkerOptions } from './thread.ts'

/** The bytes of the journal that one transaction of the index takes, about. */
const BATCH_BYTES = 4 * 1024 * 1024

/** 64 MiB would index blocks up to a tenth faster, and the application would use half as much memory again. */
const CACHE_KIB = 8 * 1024

const { statePath, path, chainId } = workerData as HistoryWorkerOptions
const post = (message: HistoryWorkerMessage): void => parentPort?.postMessage(message)
const journal = openJournal(statePath)
const unusable = prepareHistory(path, chainId)
if (unusable !== undefined) post({ kind: 'unusable', why: unusable })
const index = openHistoryWriter(path, CACHE_KIB)

/**
 * Cuts what the blocks may not tell any more: a block was rolled back, or the state was taken away. What is still in the
 * journal is taken again, because a block that was rolled back and executed again may have come to other results.
 */
function cut(): void {
  const { head, lowest } = journal.span()
  index.cutAbove(lowest === undefined ? head : Math.min(head, lowest - 1))
}

/** The blocks of a batch behind its last gap: a node without histories journals none of what it commits. */
function behindGap(batch: readonly JournaledBlock[]): readonly JournaledBlock[] {
  const first = batch.findLastIndex(({ height }, at) => at > 0 && batch[at - 1]?.height !== height - 1)
  return first < 0 ? batch : batch.slice(first)
}

/**
 * Takes what the journal has behind the index, and says after each batch that it is not needed there. Returns the height
 * up to which it is not.
 */
function take(): number {
  for (let begunBehind = 0; ; ) {
    const last = Math.max(begunBehind, index.span()?.last ?? 0)
    const blocks = behindGap(journal.above(last, BATCH_BYTES))
    if (blocks.length === 0) return last
    const decoded = blocks.map(({ height, block }) => [height, historyBlockCodec.decode(block)] as const)
    if (index.add(decoded)) {
      post({ kind: 'indexed', doneTo: blocks.at(-1)?.height ?? last })
      continue
    }
    // After state sync, or a file that was put here, blocks are missing in between: a history has no gap.
    const height = blocks[0]?.height ?? 0
    post({ kind: 'begunAnew', height })
    index.clear()
    begunBehind = height - 1 // or the blocks before the gap would be taken again
  }
}

parentPort?.on('message', (retainHeight: number) => {
  let doneTo = take()
  // Blocks go on meanwhile.
  while (index.cutBelow(retainHeight)) doneTo = take()
  post({ kind: 'done', doneTo })
})
cut()
post({ kind: 'done', doneTo: take() })
