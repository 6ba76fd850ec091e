/**
 * V8 gives the errors of an engine that has no stack or no memory left neither a class nor a code of their own, unlike
 * other RangeErrors, which code throws for what it was given. This is the one place that knows their words.
 */
const WORDS = /call stack|allocation|memory|invalid string length/i

/** True for what V8 throws when stack or memory run out. It says nothing of what the code was about. */
export const isOutOfStackOrMemory = ({ name, message }: Partial<Error>): boolean =>
  name === 'RangeError' && WORDS.test(String(message))

/**
 * True for a throw that says something of this machine, not of state and transaction: storage, memory, stack, the
 * system. No code may come of it, or nodes would disagree; the process stops instead. Source: protocol.md §2, code
 * 1000.
 */
export function isMachineFailure(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false
  const { code } = thrown as { code?: unknown }
  if (typeof code === 'string' && /^(?:SQLITE_|E[A-Z0-9]+$|ERR_MEMORY_ALLOCATION_FAILED$)/.test(code)) return true
  return isOutOfStackOrMemory(thrown)
}
