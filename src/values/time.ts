import { printTime, type Seconds } from '../base/time.ts'
import type { Shape } from './shape.ts'

/** A time in the answers of the chain: ISO 8601 UTC to the second; '' where there is none. */
export const time: Shape<Seconds | ''> = {
  schema: { type: 'string' },
  toJson: (seconds) => (seconds === '' ? '' : printTime(seconds)),
}
