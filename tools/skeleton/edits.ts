/** How a skeleton changes files that the project has: each edit adds text, and says so when it cannot. */

/** A module or name that no skeleton can be written for, or a project in which its edits do not fit. */
export class SkeletonError extends Error {}

/** A change of a text: what is added where. Throws a SkeletonError where the text has no such line. */
export type Edit = (text: string) => string

/** Adds a line behind the last one that `pattern` matches. */
export const behindLast =
  (pattern: RegExp, added: string): Edit =>
  (text) => {
    const lines = text.split('\n')
    const last = lines.findLastIndex((line) => pattern.test(line))
    if (last < 0) throw new SkeletonError(`no line like ${pattern}`)
    lines.splice(last + 1, 0, added)
    return lines.join('\n')
  }

/** Adds lines at the end, behind an empty one. */
export const atEnd =
  (added: string): Edit =>
  (text) =>
    `${text.trimEnd()}\n\n${added}\n`
