/** A position in a history, the newest first: what is older lies behind it. Source: protocol.md §8. */
export interface HistoryPosition {
  readonly height: number
  readonly place: number
}

/** A position as text: a height, or a height and a place in its block. */
export const HISTORY_POSITION = /^([0-9]{1,16})(?:\/([0-9]{1,9}))?$/

/** Reads a position. Undefined for any other text. */
export function parseHistoryPosition(text: string): HistoryPosition | undefined {
  const [, height, place = '0'] = HISTORY_POSITION.exec(text) ?? []
  return Number.isSafeInteger(Number(height)) ? { height: Number(height), place: Number(place) } : undefined
}
