/** Where the links of the Markdown files lead on the site. In the files themselves they lead from file to file. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileOf, sitePages } from './navigation.ts'

const root = join(import.meta.dirname, '../..')

const routes: ReadonlyMap<string, string> = new Map(
  sitePages.flatMap(({ route, source }) => (source === undefined ? [] : [[source, route] as const])),
)

/** The headings of README that stand on the page of the first steps. */
export const FIRST_STEPS: readonly string[] = ['Start', 'A tour']
const FIRST_STEPS_ANCHORS = ['start', 'a-tour']

/** The route of the page that shows a file or folder as it is. */
export const sourceRoute = (path: string): string => `/source/${path.replace(/\/$/, '')}`

const FENCED = /^( *)```.*\n[\s\S]*?^\1```$/gm

/** Calls `change` for each part of a page that is no block of code, and puts the page together again. */
export function mapProse(text: string, change: (prose: string) => string): string {
  let result = ''
  let at = 0
  for (const { index, 0: block } of text.matchAll(FENCED)) {
    result += change(text.slice(at, index)) + block
    at = index + block.length
  }
  return result + change(text.slice(at))
}

/**
 * The target of a link in the file `from`, as a page of the site writes it. A file that is no page is added to
 * `shown`: the site shows it as it is. Throws when there is no such file.
 */
export function siteLink(from: string, target: string, shown: Set<string>): string {
  // Of another host, or of the site itself.
  if (/^(?:[a-z]+:|\/)/.test(target)) return target
  const [file = '', anchor] = target.split('#')
  if (file === '') return target
  const path = normalize(join(dirname(from), decodeURIComponent(file))).replace(/\/$/, '')
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (path.startsWith('docs/assets/')) return `/${path.slice('docs/'.length)}`
  if (path === 'README.md' && FIRST_STEPS_ANCHORS.includes(anchor ?? '')) return `/first-steps.md${hash}`
  const route = routes.get(path) ?? routes.get(`${path}/README.md`)
  if (route !== undefined) return `/${fileOf(route)}${hash}`
  if (!existsSync(join(root, path))) throw new Error(`${from}: no file ${target}`)
  shown.add(path)
  return `${sourceRoute(path)}.md`
}

/** A page's text with its links as the site needs them, and its images too. */
export const withSiteLinks = (from: string, text: string, shown: Set<string>): string =>
  mapProse(text, (prose) =>
    prose.replace(/\]\(([^()\s]+)\)/g, (_, target: string) => `](${siteLink(from, target, shown)})`),
  )

/** True for a folder of the checkout. */
export const isFolder = (path: string): boolean => statSync(join(root, path)).isDirectory()
