/**
 * What a placeholder may become: anything JSON can write. JSON's strings, numbers, booleans and lists of strings are
 * TOML's too.
 */
export type TemplateValues = Readonly<Record<string, unknown>>

/**
 * `text` with each `{{name}}` replaced by its value written as JSON (which is TOML for strings, numbers and booleans).
 * Throws on a placeholder without a value and on a value without a placeholder: both are a slip between template and
 * code.
 */
export const fillTemplate = (text: string, values: TemplateValues): string => {
  const unused = new Set(Object.keys(values))
  const filled = text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const json = JSON.stringify(values[name])
    if (json === undefined) throw new Error(`template: no value for {{${name}}}`)
    unused.delete(name)
    return json
  })
  if (unused.size > 0) throw new Error(`template: no placeholder for ${[...unused].join(', ')}`)
  return filled
}

type Scalar = string | number | boolean

const sectionAt = (lines: readonly string[], section: string): { start: number; end: number } | undefined => {
  const isHeader = (line: string) => /^\s*\[/.test(line)
  const start =
    section === '' ? 0 : lines.findIndex((line) => line.trim().replace(/\s*#.*$/, '') === `[${section}]`) + 1
  if (start === 0 && section !== '') return undefined
  const next = lines.findIndex((line, i) => i >= start && isHeader(line))
  return { start, end: next === -1 ? lines.length : next }
}

/**
 * The TOML `text` with some keys set, everything else as it was, comments and order included: a person's edits live on.
 * Names are `key` or `section.key`; a key or section that is missing is added. Only one-line scalar values are
 * replaced.
 */
export const setTomlValues = (text: string, values: Readonly<Record<string, Scalar>>): string => {
  const lines = text.split('\n')
  for (const [name, value] of Object.entries(values)) {
    const dot = name.lastIndexOf('.')
    const key = name.slice(dot + 1)
    const section = dot === -1 ? '' : name.slice(0, dot)
    const line = `${key} = ${JSON.stringify(value)}`
    const at = sectionAt(lines, section)
    if (at === undefined) {
      lines.push(`[${section}]`, line, '')
      continue
    }
    const found = lines.findIndex((one, i) => i >= at.start && i < at.end && one.split('=')[0]?.trim() === key)
    if (found === -1) lines.splice(at.start, 0, line)
    else lines[found] = line
  }
  return lines.join('\n')
}
