import { ERROR_LINES_MAX, ERROR_LINES_MS } from './http/limits.ts'
import type { DefectLog } from './rpc/errors.ts'

/**
 * Bounds the errors of a log: a call may end with one, and callers decide how often they call. Those beyond
 * ERROR_LINES_MAX in ERROR_LINES_MS are left out, and one line then says how many.
 */
export function boundErrors(log: DefectLog): DefectLog {
  let count = 0
  const end = (): void => {
    const leftOut = count - ERROR_LINES_MAX
    count = 0
    if (leftOut > 0) log.error({ leftOut }, 'more errors than are logged')
  }
  return {
    error: (about, message) => {
      if (count === 0) setTimeout(end, ERROR_LINES_MS).unref()
      if (++count <= ERROR_LINES_MAX) log.error(about, message)
    },
  }
}
