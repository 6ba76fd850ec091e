/** VitePress's settings. tools/docs/stage.ts writes the pages that it reads. */
import { join } from 'node:path'
import { fileOf, sections } from '../navigation.ts'
import { slugOf } from '../slug.ts'

const cache = join(import.meta.dirname, '../../../.cache/docs')

const sidebar = sections.map(({ title, pages, isCollapsed = false }) => ({
  text: title,
  ...(isCollapsed ? { collapsed: true } : {}),
  items: pages.map((page) => ({ text: page.title, link: page.route })),
}))

/** Pages for who changes svcd: found by their links, they would only hide what a reader searches for. */
const unsearched = new Set([
  ...sections.filter(({ isCollapsed }) => isCollapsed).flatMap(({ pages }) => pages.map(({ route }) => fileOf(route))),
  fileOf('/changelog'),
])

// `--base` of the command line comes too late for the head.
const { DOCS_BASE: base = '/' } = process.env

/** The settings of the site. */
export default {
  base,
  title: 'svcd',
  description: 'A staking and governance blockchain: its client, its JSON-RPC methods, its protocol and how to run it',
  lang: 'en',
  srcDir: join(cache, 'pages'),
  cacheDir: join(cache, 'vite'),
  outDir: join(cache, 'site'),
  metaChunk: true,
  markdown: {
    // An address in a text is one to type, such as that of a devnet.
    linkify: false,
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
  },
  head: [['link', { rel: 'icon', href: `${base}logo.svg` }]],
  themeConfig: {
    logo: { src: '/logo.svg', alt: '' },
    nav: [
      { text: 'First steps', link: '/first-steps' },
      { text: 'Client', link: '/client' },
      { text: 'Methods', link: '/reference/methods' },
      { text: 'Operations', link: '/operations' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Playground', link: '/playground' },
    ],
    sidebar,
    outline: [2, 3],
    externalLinkIcon: true,
    search: {
      provider: 'local',
      options: {
        // Source files are shown for links, not for reading from end to end. Colours, which take most of the time of a
        // build, are of no use to the search.
        _render: (text, env, md) => {
          if (unsearched.has(env.relativePath) || /^---\n(?:\w.*\n)*?search: false\n/.test(text)) return ''
          const { highlight } = md.options
          md.options.highlight = undefined
          try {
            return md.render(text, env)
          } finally {
            md.options.highlight = highlight
          }
        },
      },
    },
  },
}
