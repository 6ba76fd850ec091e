import { stateCodec } from '../../codec/state.ts'
import { uint } from '../../values/number.ts'
import { text } from '../../values/text.ts'
import { table } from '../../store/table.ts'

/**
 * Every value a parameter ever had, by name and the first height it is in force. Kept for ever: getParams(height) reads
 * it.
 */
export const params = table('params', {
  tag: 0x18,
  key: { name: text, height: uint },
  row: { value: text },
  message: stateCodec('svc.state.Param'),
})

/** Hashed tables of this module. */
export const paramsTables = [params] as const
