import { BATCH_PATHS_MAX } from '../codec/queryBatch.ts'

interface Waiting<A> {
  readonly path: string
  readonly done: (answer: A) => void
  readonly failed: (error: unknown) => void
}

/**
 * Asks for paths that come within one turn of the event loop together, BATCH_PATHS_MAX at most: under load a question
 * costs the node and the application a part of what one path alone does. `askAll` answers in the order of the paths, an
 * Error for a path that fails.
 */
export function askTogether<A>(
  askAll: (paths: readonly string[]) => Promise<readonly (A | Error)[]>,
): (path: string) => Promise<A> {
  let waiting: Waiting<A>[] = []
  const send = async (asked: readonly Waiting<A>[]): Promise<void> => {
    try {
      const answers = await askAll(asked.map(({ path }) => path))
      for (const [at, { done, failed }] of asked.entries()) {
        const answer = answers[at]
        if (answer === undefined) failed(new Error(`the node answered ${answers.length} of ${asked.length} paths`))
        else if (answer instanceof Error) failed(answer)
        else done(answer)
      }
    } catch (error) {
      for (const { failed } of asked) failed(error)
    }
  }
  const sendAll = (): void => {
    const asked = waiting
    waiting = []
    for (let at = 0; at < asked.length; at += BATCH_PATHS_MAX) void send(asked.slice(at, at + BATCH_PATHS_MAX))
  }
  return (path) =>
    new Promise((done, failed) => {
      if (waiting.push({ path, done, failed }) === 1) setImmediate(sendAll)
    })
}
