import type { Target } from './load/job.ts'

const CODE_OK = Buffer.from('"code":0,')
const ANSWER_MS_MAX = 60_000

/**
 * How many transactions in the blocks `from` to `to` have code 0, from their results. The text is searched, not parsed:
 * there are many.
 */
export async function countOk({ host, port }: Target, from: number, to: number): Promise<number> {
  let count = 0
  for (let height = from; height <= to; height++) {
    const answer = await fetch(`http://${host}:${port}/block_results?height=${height}`, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    if (!answer.ok) throw new Error(`block_results of ${height}: ${answer.status}`)
    const text = Buffer.from(await answer.arrayBuffer())
    // Logs and events could hold the words, but quotes within JSON text are escaped.
    for (let at = text.indexOf(CODE_OK); at >= 0; at = text.indexOf(CODE_OK, at + CODE_OK.length)) count++
  }
  return count
}
