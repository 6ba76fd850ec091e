import { stateCodec } from '../../codec/state.ts'
import { text, u64 } from '../../store/columns.ts'
import { table } from '../../store/table.ts'

/**
 * Every value a parameter ever had, by name and the first height it is in force. Kept for ever: getParams(height) reads
 * it.
 */
export const params = table('params', {
  tag: 0x18,
  key: { name: text, height: u64 },
  row: { value: text },
  message: stateCodec('svc.state.Param'),
})

/** Hashed tables of this module. */
export const paramsTables = [params] as const
