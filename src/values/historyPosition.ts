/** A position in a history, the newest first: what is older lies behind it. Source: protocol.md §8. */
export interface HistoryPosition {
  readonly height: number
  readonly txIndex: number
}

/** A position as text: a height, or a height and an index in its block. */
export const HISTORY_POSITION = /^([0-9]{1,16})(?:\/([0-9]{1,9}))?$/

/** Reads a position. Undefined for any other text. */
export function parseHistoryPosition(given: string): HistoryPosition | undefined {
  const [, height, txIndex = '0'] = HISTORY_POSITION.exec(given) ?? []
  return Number.isSafeInteger(Number(height)) ? { height: Number(height), txIndex: Number(txIndex) } : undefined
}
