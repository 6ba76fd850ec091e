import { readFileSync, writeFileSync } from 'node:fs'

const END = '<!-- end -->'
const beginOf = (target: string): string => `<!-- written by make ${target} ARGS="--write": begin -->`

/** Where the part of a page is that `make <target>` writes. Throws when the page lacks its marks. */
function find(path: string, target: string): { readonly text: string; readonly from: number; readonly to: number } {
  const text = readFileSync(path, 'utf8')
  const mark = beginOf(target)
  const from = text.indexOf(mark) + mark.length
  const to = text.indexOf(END, from)
  if (from < mark.length || to < 0) throw new Error(`${path} lacks its marks`)
  return { text, from, to }
}

/** What `make <target>` wrote into a page. */
export function writtenPart(path: string, target: string): string {
  const { text, from, to } = find(path, target)
  return text.slice(from, to).trim()
}

/** Puts what `make <target>` wrote between its marks; the text around them is people's. */
export function writePart(path: string, target: string, part: string): void {
  const { text, from, to } = find(path, target)
  writeFileSync(path, `${text.slice(0, from)}\n\n${part}\n\n${text.slice(to)}`)
}

/**
 * Puts figures into the sentence of a page that is made of them, wherever its lines break. `sentenceOf`: makes it from
 * as many figures. Throws when the page lacks it.
 */
export function writeFigures<F extends readonly string[]>(
  path: string,
  sentenceOf: (...figures: F) => string,
  figures: F,
): void {
  const text = readFileSync(path, 'utf8')
  const pattern = sentenceOf(...(figures.map(() => '#') as readonly string[] as F))
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll('#', '[\\d.,]*\\d')
    .replaceAll(' ', '\\s+')
  if (!new RegExp(pattern).test(text)) throw new Error(`${path} lacks its sentence: ${sentenceOf(...figures)}`)
  writeFileSync(
    path,
    text.replace(new RegExp(pattern), () => sentenceOf(...figures)),
  )
}
