import type { Target } from './load/job.ts'

const CODE_OK = Buffer.from('"code":0,')
const CODE = Buffer.from('"code":')
const ANSWER_MS_MAX = 60_000

function countOf(text: Buffer, part: Buffer): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** Transactions in blocks, and those among them with code 0. */
export interface Codes {
  readonly all: number
  readonly ok: number
}

/** The codes in the blocks `from` to `to`, from their results. The text is searched, not parsed: there are many. */
export async function codesOf({ host, port }: Target, from: number, to: number): Promise<Codes> {
  let [all, ok] = [0, 0]
  for (let height = from; height <= to; height++) {
    const answer = await fetch(`http://${host}:${port}/block_results?height=${height}`, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    if (!answer.ok) throw new Error(`block_results of ${height}: ${answer.status}`)
    const text = Buffer.from(await answer.arrayBuffer())
    // Logs and events could hold the words, but quotes within JSON text are escaped.
    all += countOf(text, CODE)
    ok += countOf(text, CODE_OK)
  }
  return { all, ok }
}
