/** Chance. */
export const dice = Math.random() // red: plugin
