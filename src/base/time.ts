/** Unix seconds, whole. Source: protocol.md §1. */
export type Seconds = number

/** Whole seconds of a time in ms, rounded down. */
export const secondsOf = (timeMs: number): Seconds => Math.floor(timeMs / 1000)

/** ISO 8601 UTC to the second: `2026-11-20T10:00:00Z`. */
export const printTime = (seconds: Seconds): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
