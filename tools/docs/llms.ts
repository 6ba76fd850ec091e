/**
 * The site as plain text, for language models: `llms.txt` lists its pages, and `llms-full.txt` holds the text of those
 * that are made from a file. Source of the form: https://llmstxt.org.
 */
import { mapProse } from './links.ts'
import { type Section, type SitePage, sections } from './navigation.ts'

type LlmsFiles = Readonly<Record<'llms.txt' | 'llms-full.txt', string>>

const NOTE_MAX = 200

/** The first sentence of a page's prose: what the list says of it. */
function noteOf(text: string): string {
  let prose = ''
  mapProse(text, (part) => {
    prose += part
    return part
  })
  const paragraph = prose.split(/\n\s*\n/).find((one) => /^[A-Za-z`*[]/.test(one.trim())) ?? ''
  const plain = paragraph
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  const [sentence = ''] = /^.*?[.:](?= |$)/.exec(plain) ?? [plain]
  return sentence.length > NOTE_MAX ? '' : sentence.replace(/:$/, '.')
}

/**
 * Both files of a site below `base`, such as `/`. `textOf`: the Markdown of a page's file. Decisions and folders of the
 * code stand in the list alone: their text is for who changes svcd.
 */
export function llmsFiles(base: string, summary: string, textOf: (page: SitePage) => string | undefined): LlmsFiles {
  const line = (page: SitePage): string => {
    const note = noteOf(textOf(page) ?? '')
    return `- [${page.title}](${base}${page.route.slice(1)})${note === '' ? '' : `: ${note}`}`
  }
  const list = ({ title, pages }: Section): string => `## ${title}\n\n${pages.map(line).join('\n')}\n`
  const head = `# svcd\n\n> ${summary}.\n`
  const open = sections.filter(({ isCollapsed = false }) => !isCollapsed).flatMap(({ pages }) => pages)
  const texts = open.flatMap((page) => textOf(page) ?? [])
  return {
    'llms.txt': [head, ...sections.map(list)].join('\n'),
    'llms-full.txt': `${[head, ...texts.map((text) => text.trim())].join('\n\n')}\n`,
  }
}
