import type { QueryRequest } from '../abci/types.ts'
import { badArgument, type QueryError } from '../modules/define.ts'

/** Most characters of a query's path. The longest that is served has about 200. */
export const QUERY_PATH_MAX = 1000

/** Most bytes of a query's data. What is served is 16 paths. */
export const QUERY_DATA_BYTES_MAX = 65_536

/**
 * Why a query is refused before its path is looked at; undefined when it is not. Strangers write these requests over
 * CometBFT's RPC: a height is any int64, read as ±(2^53 − 1) where it lies beyond, and bytes of the path that are not
 * UTF-8 are read as U+FFFD.
 */
export function whyNotServed({ path, data, height }: QueryRequest, head: number): QueryError | undefined {
  if (path.length > QUERY_PATH_MAX)
    return badArgument(`path: expected at most ${QUERY_PATH_MAX} characters, got ${path.length}`)
  if (path.includes('\ufffd')) return badArgument(`path: expected UTF-8, got ${JSON.stringify(path.slice(0, 80))}`)
  if (height < 0 || height > head) return badArgument(`height: expected 0 to the head ${head}, got ${height}`)
  if (data.length > QUERY_DATA_BYTES_MAX)
    return badArgument(`data: expected at most ${QUERY_DATA_BYTES_MAX} bytes, got ${data.length}`)
  return undefined
}
