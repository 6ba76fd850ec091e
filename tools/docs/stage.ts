/** Writes the pages of the site as VitePress reads them: the Markdown files of the project with links of the site. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { FIRST_STEPS, isFolder, mapProse, sourceRoute, withSiteLinks } from './links.ts'
import { llmsFiles } from './llms.ts'
import { fileOf, type SitePage, sitePages } from './navigation.ts'
import { playgroundData } from './playgroundData.ts'

const root = join(import.meta.dirname, '../..')

/** Where the pages are staged. .vitepress/config.ts reads them there. */
export const STAGED = join(root, '.cache/docs/pages')

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function write(file: string, text: string): void {
  const path = join(STAGED, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const PICTURE = /<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g

/** A picture for each theme of the reader's machine, as one for each theme of the site, which a reader may change. */
const withThemes = (text: string): string =>
  text.replaceAll(PICTURE, (_, dark: string, alt: string, light: string) =>
    [`![${alt}](${light}){.only-light}`, `![${alt}](${dark}){.only-dark}`].join('\n'),
  )

/** README by its parts: what stands above the first heading, and each section below. */
function readmeParts(): { readonly intro: string; readonly sections: ReadonlyMap<string, string> } {
  const [intro = '', ...parts] = read('README.md').split(/^## /m)
  const split = (part: string): [string, string] => {
    const end = part.indexOf('\n')
    return [part.slice(0, end).trim(), part.slice(end + 1).trim()]
  }
  return { intro: intro.replace(/^# .*\n/, '').trim(), sections: new Map(parts.map(split)) }
}

const tagline = (): string => (JSON.parse(read('package.json')) as { description: string }).description

/** The picture of the web page, with the line above it. */
const pagePicture = (intro: string): string => /^.*:\n\n<picture>[\s\S]*?<\/picture>$/m.exec(intro)?.[0] ?? ''

/** The home page: what README says before its first steps. */
function homePage(): string {
  const { intro, sections } = readmeParts()
  const picture = pagePicture(intro)
  const section = (title: string, change = (text: string): string => text): string =>
    `## ${title}\n\n${change(sections.get(title) ?? '')}`
  return `---
layout: page
sidebar: false
title: svcd
titleTemplate: ${JSON.stringify(tagline())}
pageClass: home
---

<div class="vp-doc home-page">
<div class="home-lead">
<div>

# svcd

<p class="home-tagline">${tagline()}.</p>

${intro.replace(picture, '').trim()}

<div class="home-actions">

[First steps](README.md#start) [JSON-RPC methods](docs/reference/methods.md) [Playground](/playground.md)

</div>
</div>
<div class="home-picture">

${picture}

</div>
</div>
<div class="home-why">

${section('Why svcd', (text) => text.replace(/(?<=\*\*): (\w)/g, (_, letter: string) => ` ${letter.toUpperCase()}`))}

</div>
<div class="home-how">

${section('How it works')}

</div>
<div class="home-read">

${section('Documentation', (text) => /^(?:\|.*\n)+/m.exec(`${text}\n`)?.[0] ?? '')}

</div>
</div>
`
}

/** The page first, then the shell. */
function firstStepsPage(): string {
  const { intro, sections } = readmeParts()
  const [start = '', ...others] = FIRST_STEPS.map((title) => `## ${title}\n\n${sections.get(title) ?? ''}`)
  return `# First steps\n\n${[start, pagePicture(intro), ...others].join('\n\n')}\n`
}

const PLAYGROUND = `---
aside: false
pageClass: playground-page
---

# Playground

Call a gateway from this page. It reads the gateway's own description (\`rpc.discover\`), so it shows the methods of that
version. While no gateway answers, it shows calls and answers that were recorded on a devnet. Start one with
\`make devnet\`; it lets pages on the same machine in.

<script setup>
import data from './playground.json'
</script>

<Playground :data="data" />
`

const LANGUAGES: Readonly<Record<string, string>> = { '.yml': 'yaml', '.proto': 'protobuf' }

/** A page that shows a file of the checkout as it is. Search leaves it out. */
function filePage(path: string): string {
  const language = LANGUAGES[extname(path)] ?? (extname(path).slice(1) || 'text')
  return `---\nsearch: false\noutline: false\n---\n\n# ${path}\n\n\`\`\`\`${language}\n${read(path)}\n\`\`\`\`\n`
}

/** A page that lists the files of a folder of the checkout. They are added to `shown`. */
function folderPage(path: string, shown: Set<string>): string {
  const files = readdirSync(join(root, path))
    .map((name) => `${path}/${name}`)
    .filter((file) => statSync(join(root, file)).isFile())
  for (const file of files) shown.add(file)
  const lines = files.map((file) => `- [${file.slice(path.length + 1)}](${sourceRoute(file)}.md)`)
  return `---\nsearch: false\noutline: false\n---\n\n# ${path}\n\n${lines.join('\n')}\n`
}

/** Stages the pages for files that no page of the site is made from. A folder's page names more of them. */
function stageSources(shown: Set<string>): void {
  // A Set that grows is walked to its new end.
  for (const path of shown)
    write(`${sourceRoute(path).slice(1)}.md`, isFolder(path) ? folderPage(path, shown) : filePage(path))
}

/** To Vue two braces begin an expression. */
const withoutExpressions = (text: string): string => mapProse(text, (prose) => prose.replaceAll('{{', '&#123;&#123;'))

/** The text of a page's file, with links of the site. Files that it links to and that are no pages are not added to the site. */
const textOf = ({ source }: SitePage): string | undefined =>
  source === undefined
    ? undefined
    : withSiteLinks(source, withThemes(read(source)), new Set()).replaceAll(
        /(\]\(\/[^)#]*?)(?:index)?\.md(?=[)#])/g,
        '$1',
      )

/** Stages llms.txt and llms-full.txt of a site below `base`. */
function stageTexts(base: string): void {
  for (const [name, text] of Object.entries(llmsFiles(base, tagline(), textOf))) write(`public/${name}`, text)
}

/** Stages every page but the generated API pages, which typedoc writes. `base`: the path of the site, such as `/`. */
export function stagePages(base: string): void {
  const shown = new Set<string>()
  const texts: Readonly<Record<string, readonly [from: string, text: string]>> = {
    '/': ['README.md', homePage()],
    '/first-steps': ['README.md', firstStepsPage()],
    '/playground': ['README.md', PLAYGROUND],
  }
  for (const { route, source } of sitePages) {
    if (route.startsWith('/api/')) continue
    const [from, text] = texts[route] ?? [source as string, read(source as string)]
    write(fileOf(route), withSiteLinks(from, withThemes(withoutExpressions(text)), shown))
  }
  write('playground.json', JSON.stringify(playgroundData()))
  stageSources(shown)
  stageTexts(base)
  cpSync(join(root, 'docs/assets'), join(STAGED, 'public/assets'), { recursive: true })
  cpSync(join(root, 'src/dashboard/icon.svg'), join(STAGED, 'public/logo.svg'))
}

/**
 * Makes an empty place for the pages: one that is gone must not stay on the site. Vite looks for its packages and for
 * the compiler's settings in the folders above the pages.
 */
export function prepareStaged(): void {
  rmSync(STAGED, { recursive: true, force: true })
  const above = dirname(STAGED)
  mkdirSync(above, { recursive: true })
  for (const name of ['node_modules', 'tsconfig.json']) {
    rmSync(join(above, name), { force: true })
    symlinkSync(join(import.meta.dirname, name), join(above, name))
  }
}
