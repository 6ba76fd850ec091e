import type { StateReader } from '../../store/state.ts'
import { badArgument, defineQuery } from '../define.ts'
import { valuesInForce } from './keeper.ts'

/** The system parameters object of the interface: integers as Number, ratios and the address as String. */
export function printParams(state: StateReader, height: number): Record<string, unknown> {
  const printed: Record<string, unknown> = {}
  for (const { name, type, value } of valuesInForce(state, height)) printed[name] = type.toJson(value)
  return printed
}

/**
 * The parameters in force in the requested block, the head by default. Source: interface, getParams; protocol.md §8.
 */
export const queryParams = defineQuery({
  path: '/governance/params',
  doc: 'The system parameters in force in the block of the requested height (the head when 0).',
  run: ({ state, height, requestedHeight }) =>
    requestedHeight < 0 || requestedHeight > height
      ? badArgument(`height: expected 0 to the head ${height}, got ${requestedHeight}`)
      : { data: printParams(state, requestedHeight === 0 ? height : requestedHeight) },
})
