import { Worker } from 'node:worker_threads'

/** Options of `startWorkerThread`. */
export interface WorkerThreadOptions<Reply> {
  /** The `.ts` file that the thread runs, which is a `.js` file in the published package. */
  readonly file: URL
  /** The thread's start data. */
  readonly workerData: unknown
  /** What the system calls the thread, in at most 15 characters. */
  readonly name?: string
  /** The most heap memory that the thread may use, in MiB. If it needs more, the thread ends, not the node. */
  readonly heapMibMax?: number
  /**
   * Whether the thread sends a message as soon as it has loaded. It is not ended before: a thread that is ended while it
   * loads SQLite takes the process with it, as the addon aborts when it can no longer make objects.
   */
  readonly tellsLoaded?: boolean
  /** The pause between the end of a failed thread and the start of the next one, in ms. */
  readonly restartMs: number
  readonly onMessage: (message: Reply) => void
  /** Called when the thread has failed: through a bug, by running out of memory, by `fail`, or because it cannot start. */
  readonly onFailed: (error: Error) => void
  /** Called when the next thread has been started after a failure. */
  readonly onRestarted?: () => void
}

/** A worker thread that is replaced when it fails. It never keeps the process alive. */
export interface WorkerThread<Request> {
  /** Sends a message to the thread. It is lost while there is none. */
  readonly post: (message: Request) => void
  readonly fail: (error: Error) => void
  /** Ends the thread at once, or once it has loaded when it tells that. No callback is called afterwards. */
  readonly close: () => Promise<void>
}

/** Starts a worker thread that runs until `close()`. One that cannot start, for want of threads or memory, has failed. */
export function startWorkerThread<Request, Reply>({
  file,
  workerData,
  name,
  heapMibMax,
  tellsLoaded = false,
  restartMs,
  onMessage,
  onFailed,
  onRestarted,
}: WorkerThreadOptions<Reply>): WorkerThread<Request> {
  const path = import.meta.url.endsWith('.ts') ? file : new URL(file.href.replace(/\.ts$/, '.js'))
  const resourceLimits = heapMibMax === undefined ? {} : { maxOldGenerationSizeMb: heapMibMax }
  let worker: Worker | undefined
  let isClosed = false
  let loaded: Promise<unknown> = Promise.resolve()
  let ended = Promise.resolve()

  const onExit = (): void => fail(new Error('the thread has ended'))
  const start = (): void => {
    let next: Worker
    try {
      next = new Worker(path, { workerData, resourceLimits, ...(name !== undefined && { name }) })
    } catch (error) {
      // The system has no thread to give. The callbacks come later, as those of a thread do: the caller of the first
      // start, which may be in the middle of a block, does not have this thread yet.
      setImmediate(fail, error as Error)
      return
    }
    worker = next
    if (tellsLoaded) loaded = new Promise((resolve) => next.once('message', resolve).once('exit', resolve))
    next.on('message', onMessage).on('error', fail).once('exit', onExit).unref()
  }
  const stop = async (last: Worker): Promise<void> => {
    last.off('message', onMessage).off('error', fail).off('exit', onExit)
    last.on('error', () => undefined) // An error without a listener would end the process.
    last.ref()
    await loaded
    await last.terminate()
  }
  const end = (): Promise<void> => {
    if (worker !== undefined) ended = stop(worker)
    worker = undefined
    return ended
  }
  const fail = (error: Error): void => {
    if (isClosed) return
    void end()
    onFailed(error)
    // The next thread starts only when this one has ended, so there are never two.
    void ended.finally(() => {
      setTimeout(() => {
        if (isClosed) return
        start()
        if (worker !== undefined) onRestarted?.()
      }, restartMs).unref()
    })
  }

  start()
  return {
    post: (message) => worker?.postMessage(message),
    fail,
    close: () => {
      isClosed = true
      return end()
    },
  }
}
