import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The checkout. */
export const root = join(import.meta.dirname, '../..')

/** One Markdown page of the project. `path` is relative to the checkout. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** One block of code of a page. `info`: what follows its opening fence, such as `sh`. */
export interface CodeBlock {
  readonly path: string
  readonly line: number
  readonly info: string
  readonly code: string
  /** The text of the page above it. */
  readonly above: string
}

const FENCED = /^( *)```(.*)\n([\s\S]*?)^\1```$/gm

/** Every page that people write, README files of folders too. */
export const pages: readonly Page[] = globSync('**/*.md', {
  cwd: root,
  exclude: ['**/node_modules/**', 'dist/**', '.cache/**', 'coverage/**', 'src/*/gen/**'],
})
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** The text of a page with blank lines in place of its blocks of code. */
export const proseOf = (text: string): string => text.replace(FENCED, (block) => block.replace(/[^\n]/g, ''))

/** Every block of code of every page. */
export const codeBlocks: readonly CodeBlock[] = pages.flatMap(({ path, text }) =>
  [...text.matchAll(FENCED)].map(({ index, 2: info = '', 3: code = '' }) => ({
    path,
    line: text.slice(0, index).split('\n').length,
    info: info.trim(),
    code,
    above: text.slice(0, index),
  })),
)
