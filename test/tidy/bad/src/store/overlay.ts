/** Integer-like names first. */
export const names = Object.keys({ a: 1 }) // red: plugin

/** Chance. */
export const dice = Math.random() // red: plugin

/** A fraction. */
export const half = 0.5 // red: plugin
