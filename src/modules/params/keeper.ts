import { concat, u64be } from '../../base/bytes.ts'
import { stateCodec } from '../../codec/state.ts'
import type { State, StateReader } from '../../store/state.ts'
import { type RowOf, table } from '../../store/table.ts'
import { uint } from '../../values/number.ts'
import { record, type Shape } from '../../values/shape.ts'
import { text } from '../../values/text.ts'
import { kernelErrors } from '../errors.ts'
import { defineListQuery, defineQuery, page, pageOf, type QueryEntry, QueryRefusal } from '../query.ts'
import { canonicalText, PARAMETERS, type Parameter, type Params, type ParamValue } from './definitions.ts'

/** The names of the parameters, in the interface's order. */
export const PARAMETER_NAMES: readonly string[] = [...PARAMETERS.keys()]

/** Every value a parameter ever had, by name and first height in force; kept for ever, for getParams(height). */
export const params = table('params', {
  tag: 0x18,
  key: { name: text, height: uint },
  row: { value: text },
  message: stateCodec('svc.state.Param'),
  // For queries alone.
  indexes: { byHeight: (row) => concat(u64be(row.height), text.toKey(row.name)) },
})

/** The parameters with their values in force in block `height`, in the interface's order. Bound: all approved changes. */
export function* valuesInForce(
  state: StateReader,
  height: number,
): Iterable<Parameter & { readonly value: ParamValue }> {
  const newestOf = new Map<string, string>()
  for (const row of state.scan(params)) if (row.height <= height) newestOf.set(row.name, row.value) // by name, then height
  for (const [name, parameter] of PARAMETERS) {
    const newest = newestOf.get(name)
    if (newest === undefined) continue // before InitChain
    const value = parameter.type.parse(newest)
    if (value === undefined) throw new Error(`params: ${name} cannot be ${newest}`)
    yield { ...parameter, value }
  }
}

/** The parameters in force in block `height`. */
export function paramsInForce(state: StateReader, height: number): Params {
  const members = [...valuesInForce(state, height)].map(({ member, value }) => [member, value] as const)
  if (members.length < PARAMETERS.size) throw new Error(`params: some have no value at height ${height}`)
  return Object.fromEntries(members) as never
}

/** The value that comes into force in block `height`, if one does. */
export const changeAt = (state: StateReader, name: string, height: number): string | undefined =>
  state.get(params, { name, height })?.value

/** Puts a canonical value in force from block `height` on; a later call for the same block wins. */
export function putParam(state: State, name: string, height: number, value: string): void {
  state.put(params, { name, height, value })
}

/**
 * Every value in force in some block up to `height` with the first height of each, the newest first. Bound: approved
 * changes of that parameter.
 */
export function* valueChanges(state: StateReader, name: string, height: number): Iterable<RowOf<typeof params>> {
  for (const row of state.scan(params, { prefix: text.toKey(name), reverse: true })) if (row.height <= height) yield row
}

/** The canonical text of a value that somebody proposes, or why there is none. Source: protocol.md §6. */
export function readValue(name: string, value: string): { readonly text: string } | { readonly why: string } {
  const parameter = PARAMETERS.get(name)
  if (parameter === undefined) {
    return {
      why: `name: expected one of ${PARAMETER_NAMES.join(', ')}, got ${JSON.stringify(name.slice(0, 60))}`,
    }
  }
  const read = canonicalText(parameter.proposedType ?? parameter.type, value)
  return 'why' in read ? { why: `value of ${name}: ${read.why}` } : read
}

/** The system parameters object of the interface: integers as Number, ratios and the address as String. */
const systemParameters = record(
  'SystemParameters',
  Object.fromEntries([...PARAMETERS].map(([name, { type }]): [string, Shape<ParamValue>] => [name, type])),
)

const byName = (values: ReturnType<typeof valuesInForce>): Readonly<Record<string, ParamValue>> =>
  Object.fromEntries([...values].map(({ name, value }) => [name, value]))

/** The system parameters object at a height. */
export const printParams = (state: StateReader, height: number): Readonly<Record<string, unknown>> =>
  systemParameters.toJson(byName(valuesInForce(state, height))) as Readonly<Record<string, unknown>>

/** The parameters in force in the requested block, the head by default. Source: interface, getParams; protocol.md §8. */
const queryParams = defineQuery({
  method: 'svc_queryParams',
  call: 'governance.getParams',
  path: '/governance/params',
  doc: 'The system parameters in force in the block of a height.',
  input: {},
  height: 'honoured',
  result: systemParameters,
  run: ({ state, height, requestedHeight }) => {
    if (requestedHeight > height)
      throw new QueryRefusal(
        kernelErrors.badArgument(`height: expected 0 to the head ${height}, got ${requestedHeight}`),
      )
    // Before the first block nothing is in force.
    const inForce = height === 0 ? [] : valuesInForce(state, requestedHeight === 0 ? height : requestedHeight)
    return byName(inForce)
  },
})

/** Every value that a parameter was given, the newest first; those of genesis are in force from height 0. */
const queryParamsHistory = defineListQuery({
  method: 'svc_getParamsHistory',
  call: 'governance.getParamsHistory',
  path: '/governance/params-history',
  doc: 'Every value that a system parameter was given, the newest first; those of genesis are in force from height 0.',
  input: page,
  positional: 0,
  item: record('ParameterChange', { height_in_force: uint, name: text, value: text }),
  run: ({ state }, given) => ({
    items: pageOf(state.scan(params, { index: 'byHeight', reverse: true }), given, ({ height, name, value }) => ({
      height_in_force: height,
      name,
      value,
    })),
  }),
})

/** Queries of this module. */
export const paramsQueries: readonly QueryEntry[] = [queryParams, queryParamsHistory]
