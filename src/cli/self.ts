import { fileURLToPath } from 'node:url'

/** The words that start this very svcd, wherever it is installed. */
export const SVCD_WORDS: readonly string[] = [process.execPath, fileURLToPath(new URL('./svcd.js', import.meta.url))]
