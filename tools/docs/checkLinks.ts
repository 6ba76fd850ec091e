/** Finds the links of a built site that lead nowhere. It opens no page of another host. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

interface BuiltPage {
  readonly links: readonly string[]
  readonly ids: ReadonlySet<string>
}

const withoutEntities = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')

const attributes = (html: string, name: string): readonly string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) => withoutEntities(value))

function readPage(path: string): BuiltPage {
  const html = readFileSync(path, 'utf8')
  return { links: [...attributes(html, 'href'), ...attributes(html, 'src')], ids: new Set(attributes(html, 'id')) }
}

/** Why an address of another host is not one, or undefined. */
function badExternal(link: string): string | undefined {
  if (!URL.canParse(link)) return 'is no address'
  const { protocol, hostname } = new URL(link)
  if (protocol !== 'https:') return `has the scheme ${protocol}`
  return hostname.includes('.') ? undefined : 'names no public host'
}

/**
 * Each link of the site in `folder`, built for `base`, that leads to no file or to no anchor of one, and each that leaves
 * the site by anything but https. One line for each.
 */
export function brokenLinks(folder: string, base: string): readonly string[] {
  const files = globSync('**/*.html', { cwd: folder }).sort()
  const pages = new Map(files.map((file) => [file, readPage(join(folder, file))]))
  const problem = (file: string, link: string): string | undefined => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return badExternal(link)
    const [address = '', anchor] = link.split('#')
    if (address.startsWith('/') && !address.startsWith(base)) return `is not below ${base}`
    const decoded = decodeURIComponent(address)
    const path = address === '' ? file : address.startsWith('/') ? decoded.slice(base.length) : beside(file, decoded)
    const target = path === '' || path.endsWith('/') ? `${path}index.html` : path
    if (!existsSync(join(folder, target))) return 'leads to no file'
    if (anchor === undefined || anchor === '') return undefined
    return pages.get(target)?.ids.has(decodeURIComponent(anchor)) === true ? undefined : 'leads to no anchor'
  }
  return [...pages].flatMap(([file, { links }]) =>
    [...new Set(links)].flatMap((link) => {
      const why = problem(file, link)
      return why === undefined ? [] : [`${file}: ${link} ${why}`]
    }),
  )
}

const beside = (file: string, link: string): string => posix.join(posix.dirname(file), link)
