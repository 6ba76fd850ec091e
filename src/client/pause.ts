/** How long a call waits for a block unless told otherwise, in ms. */
export const WAIT_MS = 60_000

/** Between two looks for a block, in ms. */
export const POLL_MS = 250

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((done, failed) => {
    const give = (): void => {
      clearTimeout(timer)
      failed(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', give)
      done()
    }, ms)
    signal?.addEventListener('abort', give, { once: true })
  })
}
