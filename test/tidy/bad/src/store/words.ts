/** The store of a chain that knows validators. */ // red: storeWords
/** Rows. */
export const rows = 1
