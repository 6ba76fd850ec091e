/** What the chain can be asked: each query is declared once, and its path, method, schema and client come from that. */
import type { TxError } from '../base/txError.ts'
import { cut, show, UNKNOWN_NAME_LENGTH_MAX } from '../base/json.ts'
import type { StateReader } from '../store/state.ts'
import { field, fieldNames, type Fields, optional, type ValuesOf } from '../tx/fields.ts'
import { uint } from '../values/number.ts'
import { listOf, objectSchema, type Shape, type ShapeValue } from '../values/shape.ts'
import type { JsonSchema, PathText, ValueType } from '../values/valueType.ts'
import { kernelErrors } from './errors.ts'

/** What a query sees: one committed height. */
export interface QueryContext {
  readonly state: StateReader
  /** The head. 0 before the first block. */
  readonly height: number
  /** The height the request names; 0 when it names none. */
  readonly requestedHeight: number
  /** The value of `compute`, computed once for each head and `name`: what several queries of a head share. */
  readonly once: <T>(name: string, compute: () => T) => T
}

/** Thrown while a query is read or answered, to refuse it with `error`, whose log says which path or argument it is. */
export class QueryRefusal extends Error {
  override readonly name = 'QueryRefusal'
  readonly error: TxError

  constructor(error: TxError) {
    super(error.log)
    this.error = error
  }
}

/**
 * A list that is answered: its items are made as they are printed. With a `total`, the number of items of the whole list,
 * the answer is an object of both.
 */
export interface Listed<T> {
  readonly items: Iterable<T>
  readonly total?: number | undefined
}

/** What a query answers. */
export type QueryAnswer = { readonly data: unknown } | Listed<unknown>

/** What is said of every query. */
interface Described<I extends Fields> {
  /** JSON-RPC method of the gateway; none where only the path is asked. */
  readonly method?: string
  /** Function of the client, under web3.svc: the method's name without svc_ unless given. */
  readonly call?: string
  /** The path of abci_query. Each `<…>` stands for a required field of the input, in order; the others stand behind `?`. */
  readonly path: string
  /** One sentence for the docs. */
  readonly doc: string
  readonly input: I
  /** How many fields of the method's input may be given by position: all unless given. */
  readonly positional?: number
  /** What a height in the request does; none where the method takes no height. */
  readonly height?: 'ignored' | 'honoured'
  /** True for a list, which `/batch` refuses (protocol.md §8). Those of the state are also paced. */
  readonly isList?: true
  /** True where the method answers the members of `data` beside the height. */
  readonly isFlat?: true
  /** True where options make the answer say how many elements there are. */
  readonly isCounted?: true
}

/** One query. */
export interface QueryEntry extends Described<Fields> {
  /** JSON Schema of `data`. */
  readonly schema: JsonSchema
  /** Throws a QueryRefusal. */
  readonly answer: (context: QueryContext, input: Readonly<Record<string, unknown>>) => QueryAnswer
}

/** Declares a query with one answer, which `run` returns as values in memory. */
export const defineQuery = <const I extends Fields, S extends Shape<never>>({
  result,
  run,
  ...described
}: Described<I> & {
  readonly result: S
  readonly run: (context: QueryContext, input: ValuesOf<I>) => ShapeValue<S>
}): QueryEntry => ({
  ...described,
  schema: result.schema,
  answer: (context, input) => ({ data: result.toJson(run(context, input as ValuesOf<I>) as never) }),
})

/** Declares a query of a list, whose elements `run` returns as values in memory; each is printed when it is its turn. */
export const defineListQuery = <const I extends Fields, S extends Shape<never>>({
  item,
  run,
  ...described
}: Described<I> & {
  readonly item: S
  readonly run: (context: QueryContext, input: ValuesOf<I>) => Listed<ShapeValue<S>>
}): QueryEntry => ({
  ...described,
  isList: true,
  schema: listOf(item).schema,
  answer: (context, input) => {
    const { items, total } = run(context, input as ValuesOf<I>)
    return { items: printed(items, item as Shape<unknown>), total }
  },
})

function* printed<T>(items: Iterable<T>, item: Shape<T>): Generator<unknown> {
  for (const one of items) yield item.toJson(one)
}

/** The options that cut a page of a list. */
export const page = {
  limit: optional(field(uint, 'most elements to answer; all when left out')),
  offset: optional(field(uint, 'elements to leave out at the start; 0 when left out')),
}

/** At most `limit` items of a list from `offset` on, by default all. `at` is the index in the whole list. */
export function* pageOf<T, R>(
  items: Iterable<T>,
  { limit = Number.MAX_SAFE_INTEGER, offset = 0 }: ValuesOf<typeof page>,
  make: (item: T, at: number) => R,
): Generator<R> {
  if (limit === 0) return
  let at = 0
  for (const item of items) {
    if (at >= offset) yield make(item, at)
    if (++at >= offset + limit) return
  }
}

function inPath({ valueType }: Fields[string]): PathText<unknown> {
  const type = valueType as ValueType<unknown>
  return type.inPath ?? { form: type.exactForm, parse: (text) => type.parse(text), print: (value) => type.print(value) }
}

const isArgument = (part: string): boolean => part.startsWith('<')

const required = (input: Fields): readonly string[] => fieldNames(input).filter((name) => !input[name]?.optional)

function readOptions(search: string): ReadonlyMap<string, string> {
  const parts = search.split('&').filter((part) => part !== '')
  return new Map(
    parts.map((part): [string, string] => {
      const at = part.indexOf('=')
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
    }),
  )
}

/** The names of what a query takes behind `?`, as an error says them. */
function knownOptions(names: readonly string[]): string {
  if (names.length === 0) return 'no option'
  return names.length === 1 ? String(names[0]) : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}

/**
 * The query that serves a path; undefined when none does. A path without arguments comes before one that an argument
 * would match: `/accounts/richest` is no address.
 */
export function queryOfPath(path: string, entries: readonly QueryEntry[]): QueryEntry | undefined {
  const parts = path.split('/')
  const isOf = (entry: QueryEntry): boolean => {
    const pattern = entry.path.split('/')
    return pattern.length === parts.length && pattern.every((part, at) => isArgument(part) || part === parts[at])
  }
  return entries.find((entry) => entry.path === path) ?? entries.find(isOf)
}

/** The input of a query in its path and in what stands behind `?`. Throws a QueryRefusal that names what is malformed. */
export function readPath(entry: QueryEntry, path: string, search: string): Readonly<Record<string, unknown>> {
  const read = (name: string, shown: string, text: string): unknown => {
    const { form, parse } = inPath(entry.input[name] as Fields[string])
    const value = parse(text)
    if (value === undefined)
      throw new QueryRefusal(kernelErrors.badArgument(`${shown}: expected ${form}, got ${show(text)}`))
    return value
  }
  const values: Record<string, unknown> = {}
  const pattern = entry.path.split('/')
  const names = required(entry.input)
  let next = 0
  for (const [at, text] of path.split('/').entries()) {
    const part = pattern[at] as string
    if (!isArgument(part)) continue
    const name = names[next++] as string
    values[name] = read(name, part.slice(1, -1), text)
  }
  const options = fieldNames(entry.input).filter((name) => !names.includes(name))
  for (const [name, text] of readOptions(search)) {
    if (!options.includes(name))
      throw new QueryRefusal(
        kernelErrors.badArgument(`${cut(name, UNKNOWN_NAME_LENGTH_MAX)}: expected ${knownOptions(options)}`),
      )
    values[name] = read(name, name, text)
  }
  return values
}

/** The path that asks a query for `input`. */
export function printPath({ path, input }: QueryEntry, values: Readonly<Record<string, unknown>>): string {
  const textOf = (name: string): string => inPath(input[name] as Fields[string]).print(values[name])
  const names = required(input)
  const options = fieldNames(input).filter((name) => !names.includes(name) && values[name] !== undefined)
  let at = 0
  const parts = path.split('/').map((part) => (isArgument(part) ? textOf(names[at++] as string) : part))
  const search = options.map((name) => `${name}=${textOf(name)}`)
  return search.length === 0 ? parts.join('/') : `${parts.join('/')}?${search.join('&')}`
}

/** JSON Schema of what a method answers: the height of the head and `data`, or its members. */
export function answerSchema({ schema, isFlat, isCounted }: QueryEntry): JsonSchema {
  const height = uint.schema
  if (!isFlat) return objectSchema({ height, data: schema, ...(isCounted && { total: uint.schema }) }, ['total'])
  const { title, properties } = schema as { title: string; properties: Readonly<Record<string, JsonSchema>> }
  return { title, ...objectSchema({ height, ...properties }) }
}
