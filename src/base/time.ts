/** Unix seconds, whole. Source: protocol.md §1. */
export type Seconds = number

/** Whole seconds of a time in ms, rounded down. */
export const secondsOf = (timeMs: number): Seconds => Math.floor(timeMs / 1000)

// Days since 1970-01-01 to year, month, day in the proleptic Gregorian calendar, in integers: the state machine has no
// Date.
function civil(days: number): readonly [year: number, month: number, day: number] {
  const shifted = days + 719468
  const era = Math.floor(shifted / 146097)
  const dayOfEra = shifted - era * 146097
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36524) + Math.floor(dayOfEra / 146096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1]
}

/** ISO 8601 UTC to the second: `2026-11-20T10:00:00Z`. */
export function printTime(seconds: Seconds): string {
  const days = Math.floor(seconds / 86400)
  const rest = seconds - days * 86400
  const two = (value: number): string => String(value).padStart(2, '0')
  const [year, month, day] = civil(days)
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}Z`
}
