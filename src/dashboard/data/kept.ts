/** What the browser keeps for this page: JSON, for good or for as long as the tab is open. */
type Place = 'localStorage' | 'sessionStorage'

/** What is kept under a key. Other programs at this address may have written it; undefined where there is nothing. */
export function readKept(place: Place, key: string): unknown {
  try {
    return JSON.parse(globalThis[place].getItem(key) ?? 'null') ?? undefined
  } catch {
    // A browser that keeps nothing for this page, or text that is no JSON.
    return undefined
  }
}

/** Keeps a value. Where the browser keeps nothing, it lasts as long as the page. */
export function keep(place: Place, key: string, value: unknown): void {
  try {
    globalThis[place].setItem(key, JSON.stringify(value))
  } catch {
    // It is full, or the reader does not want it.
  }
}
