import { cut, show, UNKNOWN_NAME_LENGTH_MAX } from '../base/json.ts'
import { uint } from '../values/number.ts'
import { badArgument, type QueryAnswer, type QueryError } from './define.ts'

function* slice<T>(
  items: Iterable<T>,
  offset: number,
  limit: number,
  print: (item: T, at: number) => unknown,
): Generator<unknown> {
  if (limit === 0) return
  let at = 0
  for (const item of items) {
    if (at >= offset) yield print(item, at)
    if (++at >= offset + limit) return
  }
}

/**
 * The items of a list from `offset` on, at most `limit` of them; the whole list without options. `at` is the place in
 * the whole list.
 */
export function pageOf<T>(
  items: Iterable<T>,
  options: ReadonlyMap<string, string>,
  print: (item: T, at: number) => unknown,
): QueryAnswer | QueryError {
  for (const name of options.keys()) {
    if (name !== 'limit' && name !== 'offset')
      return badArgument(`${cut(name, UNKNOWN_NAME_LENGTH_MAX)}: expected limit or offset`)
  }
  const limit = options.has('limit') ? uint.parse(options.get('limit') ?? '') : Number.MAX_SAFE_INTEGER
  const offset = options.has('offset') ? uint.parse(options.get('offset') ?? '') : 0
  if (limit === undefined) return badArgument(`limit: expected a decimal integer, got ${show(options.get('limit'))}`)
  if (offset === undefined) return badArgument(`offset: expected a decimal integer, got ${show(options.get('offset'))}`)
  return { items: slice(items, offset, limit, print) }
}
