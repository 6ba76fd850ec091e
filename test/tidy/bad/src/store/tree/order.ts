// The order of names matters in src/store where rows are walked.
/** Integer-like names first. */
export const names = Object.keys({ a: 1 }) // red: plugin
