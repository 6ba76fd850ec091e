/**
 * Loaded by `--import` into each process whose memory a campaign watches: at a signal, every thread collects its garbage and
 * gives back the memory that it kept for more. What the process still has is in use, or is kept by the allocator.
 */
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import { COLLECT } from './garbage.ts'

const others = new BroadcastChannel('collect')
others.unref()

const collect = (): void => void globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })

if (isMainThread)
  process.on(COLLECT, () => {
    others.postMessage(undefined)
    collect()
  })
else others.onmessage = collect
