/**
 * V8 gives the errors of an engine that has no stack or no memory left neither a class nor a code of their own, unlike
 * other RangeErrors, which code throws for what it was given. This is the one place that knows their words.
 */
const WORDS = /call stack|allocation|memory|invalid string length/i

/** True for what V8 throws when stack or memory run out. It says nothing of what the code was about. */
export const isOutOfStackOrMemory = ({ name, message }: Partial<Error>): boolean =>
  name === 'RangeError' && WORDS.test(String(message))
