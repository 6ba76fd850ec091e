/** How a skeleton changes files that the project has: each edit adds text, and says so when it cannot. */

/** A module or name that no skeleton can be written for, or a project in which its edits do not fit. */
export class SkeletonError extends Error {}

/** A change of a text: what is added where. Throws a SkeletonError where the text has no such line or list. */
export type Edit = (text: string) => string

/** Adds lines behind the last line that `pattern` matches, or before it. */
export const besideLast =
  (side: 'behind' | 'before', pattern: RegExp, added: string): Edit =>
  (text) => {
    const lines = text.split('\n')
    const last = lines.findLastIndex((line) => pattern.test(line))
    if (last < 0) throw new SkeletonError(`no line like ${pattern}`)
    lines.splice(side === 'behind' ? last + 1 : last, 0, added)
    return lines.join('\n')
  }

/** Adds a line at the end of the list or object that the line `head` opens. */
export const inList =
  (head: RegExp, added: string): Edit =>
  (text) => {
    const start = text.search(head)
    const end = text.slice(start).search(/\n[\]}]/)
    if (start < 0 || end < 0) throw new SkeletonError(`no list that begins like ${head}`)
    return `${text.slice(0, start + end)}\n${added}${text.slice(start + end)}`
  }

/** Adds a line at the start. */
export const ahead =
  (added: string): Edit =>
  (text) =>
    `${added}\n${text}`

/** Adds lines at the end, behind an empty one. */
export const atEnd =
  (added: string): Edit =>
  (text) =>
    `${text.trimEnd()}\n\n${added}\n`

/** A member more in a one-line list of texts. */
export const inTexts =
  (name: string, added: string): Edit =>
  (text) => {
    const list = new RegExp(`(export const ${name} = \\[[^\\]]*)\\] as const`)
    if (!list.test(text)) throw new SkeletonError(`no list ${name}`)
    return text.replace(list, `$1, '${added}'] as const`)
  }
