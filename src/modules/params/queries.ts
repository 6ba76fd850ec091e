import type { StateReader } from '../../store/state.ts'
import { badArgument, defineQuery, type QueryAnswer, type QueryContext, type QueryError } from '../define.ts'
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
  run: paramsAt,
})

function paramsAt({ state, height, requestedHeight }: QueryContext): QueryAnswer | QueryError {
  if (requestedHeight < 0 || requestedHeight > height)
    return badArgument(`height: expected 0 to the head ${height}, got ${requestedHeight}`)
  if (height === 0) return { data: {} } // before the first block nothing is in force
  return { data: printParams(state, requestedHeight === 0 ? height : requestedHeight) }
}
