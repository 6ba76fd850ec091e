import type { Shortfall } from '../base/txError.ts'

const FORM = /^\{"account":"0x[0-9a-f]{40}","needed":"\d{1,60}","fee":"\d{1,60}","available":"\d{1,60}"\}$/

/** A shortfall as the application tells it beside the log. Source: protocol.md §2. */
export const encodeShortfall = ({ account, needed, fee, available }: Shortfall): string =>
  JSON.stringify({ account, needed, fee, available })

/** The shortfall in such a text; undefined for any other text. */
export const decodeShortfall = (text: string): Shortfall | undefined =>
  FORM.test(text) ? (JSON.parse(text) as Shortfall) : undefined
