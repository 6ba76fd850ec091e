/**
 * An operation that did not come off: the program prints the line and exits with status 1. `answer`: what `--json`
 * prints on stdout.
 */
export class Failed extends Error {
  override readonly name = 'Failed'
  readonly answer: unknown
  constructor(message: string, answer?: unknown) {
    super(message)
    this.answer = answer ?? { error: { message } }
  }
}

/** True when `error` is a Failed. */
export const isFailed = (error: unknown): error is Failed =>
  (error as { name?: unknown } | null | undefined)?.name === 'Failed'
