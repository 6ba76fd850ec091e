import { useState } from 'preact/hooks'

/** What a button or a form runs, one at a time: whether it runs now, and the error that ended the last one. */
export function useRun() {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error>()
  const run = async (job: () => unknown): Promise<void> => {
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await job()
    } catch (thrown) {
      setError(thrown as Error)
    }
    setBusy(false)
  }
  return { isBusy, error, run }
}
