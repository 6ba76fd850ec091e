/**
 * Rows without meaning that make a checkpoint long enough to be hit. Their pages lie between those of the state, so that
 * a checkpoint, which writes the pages in the order of their numbers, comes to a page of the state every now and then.
 */

const ROWS = 100
const PAGES_OF_ROW = 40
const PAGE_BYTES = 4096

type Exec = (sql: string) => unknown

const BYTES = PAGES_OF_ROW * PAGE_BYTES

/** Makes them in a new database, with a free page after each: the tables and rows of the state come to lie there. */
export function createBallast(exec: Exec): void {
  for (const name of ['ballast', 'gaps']) exec(`CREATE TABLE ${name} (n INTEGER PRIMARY KEY, bytes TEXT)`)
  for (let row = 0; row < ROWS; row++) {
    // SQLite's printf repeats a character so many times.
    exec(`INSERT INTO ballast (bytes) VALUES (printf('%.*c', ${BYTES}, 'a'))`)
    exec(`INSERT INTO gaps (bytes) VALUES (printf('%.*c', ${PAGE_BYTES - 100}, 'a'))`)
  }
  exec('DROP TABLE gaps')
}

/** Writes all of them with the next letter: more pages than the log takes before it is written back. */
export const writeBallast = (exec: Exec): unknown =>
  exec(`UPDATE ballast SET bytes = printf('%.*c', ${BYTES}, char(97 + (unicode(bytes) - 96) % 26))`)

/** True for a page that holds nothing else. */
export const isBallast = (page: Uint8Array): boolean => {
  const end = page.subarray(-64)
  const [first = 0] = end
  return first >= 97 && first <= 122 && end.every((byte) => byte === first)
}
