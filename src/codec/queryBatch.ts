import { fromUtf8, utf8 } from '../base/bytes.ts'
import { parseJson } from '../base/json.ts'

/** The most paths in one batch, which is answered in one piece. Source: protocol.md §8, `/batch`. */
export const BATCH_PATHS_MAX = 16

/** The answer to one path of a batch. */
export type PathAnswer = { readonly data: unknown } | { readonly code: number; readonly log: string }

/** The `data` of an abci_query to `/batch`. */
export const encodePaths = (paths: readonly string[]): Uint8Array => utf8(JSON.stringify(paths))

/** The paths in `data`; undefined unless it is a JSON array of 1 to BATCH_PATHS_MAX texts. */
export function decodePaths(data: Uint8Array): readonly string[] | undefined {
  const paths = parseJson(fromUtf8(data) ?? '')
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > BATCH_PATHS_MAX) return undefined
  return paths.every((path) => typeof path === 'string') ? paths : undefined
}
