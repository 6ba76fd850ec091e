import { utf8 } from '../../base/bytes.ts'
import { Svc } from '../../client/index.ts'
import { type FieldKind, fieldTypes, type FormField } from '../../client/gen/forms.ts'
import { canonicalText, PARAMETERS } from '../../modules/params/definitions.ts'
import { parseVersion } from '../../values/library.ts'
import { uint } from '../../values/number.ts'
import type { WireValue } from '../../values/column.ts'
import type { InputType } from '../../values/valueType.ts'
import { isPointHeight, isPointTime, POINT_BLOCKS_MAX, POINT_SECONDS_MAX } from '../../values/point.ts'
import { formatCount, formatTime } from '../format.ts'

/** What the fields of a form hold, as it was typed: amounts in tokens. A field inside another is named `outer.inner`. */
export type Typing = Readonly<Record<string, string>>

/** Bytes that a text takes, which is what the chain counts. */
export const bytesOf = (given: string): number => utf8(given).length

class Refusal extends Error {}

/** What the chain would say of a value of this type. */
function problemOfType(kind: Exclude<FieldKind, 'object'>, given: string): string | undefined {
  const type: Pick<InputType<WireValue>, 'fromJson' | 'check'> = fieldTypes[kind]
  // The largest number of the wire's form says nothing to a person.
  if (kind === 'uint' && uint.parse(given) === undefined) return 'expected a whole number from 0'
  try {
    const wrong = type.check(
      type.fromJson(given, (form) => {
        throw new Refusal(`expected ${form}`)
      }),
    )
    return wrong && `expected ${wrong.expected}`
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

/** Base units of an amount that was typed in tokens; undefined when it is none. */
export function unitsOf(tokens: string): bigint | undefined {
  try {
    return Svc.fromTokens(tokens.trim())
  } catch {
    return undefined
  }
}

function problemOfAmount(given: string, isPositive: boolean): string | undefined {
  const units = unitsOf(given)
  if (units === undefined) return 'expected a number of tokens with at most 18 decimals, such as 1.5'
  return isPositive && units === 0n ? 'expected more than 0' : problemOfType('amount', units.toString())
}

function problemOfText(field: FormField, given: string): string | undefined {
  const bytes = bytesOf(given)
  if (field.bytesMax !== undefined && bytes > field.bytesMax)
    return `${formatCount(bytes)} of at most ${formatCount(field.bytesMax)} bytes: ${formatCount(bytes - field.bytesMax)} too many`
  if (field.oneOf !== undefined && !field.oneOf.includes(given)) return `expected one of ${field.oneOf.join(', ')}`
  if (field.pattern !== undefined && !new RegExp(field.pattern).test(given)) return `expected ${field.doc}`
  return undefined
}

/** What is wrong with what was typed into a field by the chain's own rules; undefined when nothing is. */
export function problemOf(field: FormField, given: string): string | undefined {
  if (field.kind === 'object') return undefined
  if (given === '') return field.optional ? undefined : 'This is needed.'
  if (field.kind === 'amount') return problemOfAmount(given, field.isPositive === true)
  return problemOfText(field, given) ?? problemOfType(field.kind, given.trim())
}

/** The fields of a form that are typed into, by their names in Typing. */
export function leavesOf(fields: readonly FormField[], within = ''): readonly (readonly [string, FormField])[] {
  return fields.flatMap((field) =>
    field.fields === undefined
      ? [[`${within}${field.name}`, field] as const]
      : leavesOf(field.fields, `${within}${field.name}.`),
  )
}

/** What is wrong with the new value of a parameter that a proposal may set; undefined when nothing is. */
export function problemOfParameter(name: string, given: string): string | undefined {
  const parameter = PARAMETERS.get(name)
  if (parameter === undefined || given === '') return undefined
  const type = parameter.proposedType ?? parameter.type
  return 'why' in canonicalText(type, given) ? `expected ${type.exactForm}` : undefined
}

/** What is wrong in a form, by the names of the fields. */
export function problemsOf(fields: readonly FormField[], typing: Typing): Readonly<Record<string, string>> {
  const problems: Record<string, string> = {}
  for (const [name, field] of leavesOf(fields)) {
    const problem = problemOf(field, typing[name] ?? '')
    if (problem !== undefined) problems[name] = problem
  }
  const named = typing['name'] ?? ''
  const isParameter = fields.find(({ name }) => name === 'name')?.oneOf?.includes(named) === true
  const ofParameter = isParameter ? problemOfParameter(named, typing['value'] ?? '') : undefined
  if (ofParameter !== undefined) problems['value'] ??= ofParameter
  if (
    typing['version'] !== undefined &&
    problems['version'] === undefined &&
    parseVersion(typing['version']) === undefined
  )
    problems['version'] = 'a number in it is too large'
  return problems
}

/** The names of the fields that say when something happens; there is no time for retiring and upgrading. */
export interface PointNames {
  readonly height: string
  readonly time: string | undefined
}

/** Which fields of an operation say when it happens; undefined where none does. */
export function pointNamesOf(names: readonly string[]): PointNames | undefined {
  const height = names.find((name) => name.endsWith('BlockHeight'))
  return height === undefined ? undefined : { height, time: names.find((name) => name.endsWith('Timestamp')) }
}

/** What is wrong with when something happens, for a transaction that comes in the block behind `newest`. */
export function problemsOfPoint(
  { height, time = '' }: PointNames,
  typing: Typing,
  newest: { readonly height: number; readonly timeMs: number },
): Readonly<Record<string, string>> {
  const [block = '', seconds = ''] = [typing[height], typing[time]]
  const own = { height: newest.height + 1, time: Math.floor(newest.timeMs / 1_000) }
  if (block !== '' && seconds !== '') return { [height]: 'give a block or a time, not both' }
  if (/^[0-9]+$/.test(block) && !isPointHeight(Number(block), own)) {
    const most = formatCount(own.height + POINT_BLOCKS_MAX)
    return { [height]: `expected a block from ${formatCount(own.height + 1)} to ${most}` }
  }
  if (/^[0-9]+$/.test(seconds) && !isPointTime(Number(seconds), own)) {
    const most = formatTime((own.time + POINT_SECONDS_MAX) * 1_000)
    return {
      [time]: `expected a time after the newest block, ${formatTime(newest.timeMs)} UTC, and before ${most} UTC`,
    }
  }
  return {}
}

/**
 * The input of an operation from what was typed. Fields that are as they are `today` are left out, and empty ones are,
 * unless they empty a text.
 */
export function inputOf(
  fields: readonly FormField[],
  typing: Typing,
  today: Typing = {},
  within = '',
): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = {}
  for (const field of fields) {
    const path = `${within}${field.name}`
    if (field.fields !== undefined) {
      const inner = inputOf(field.fields, typing, today, `${path}.`)
      if (Object.keys(inner).length > 0) input[field.name] = inner
      continue
    }
    const given = typing[path] ?? ''
    if (given === (today[path] ?? '') || (given === '' && field.kind !== 'text')) continue
    input[field.name] = field.kind === 'amount' ? String(unitsOf(given)) : field.kind === 'text' ? given : given.trim()
  }
  return input
}
