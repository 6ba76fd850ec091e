import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from '@jest/globals'
import { slugOf } from '../../tools/docs/slug.ts'
import { pages, proseOf, root } from './pages.ts'

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(text).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const slug = slugOf(shown)
    let [anchor, copy] = [slug, 0]
    while (anchors.has(anchor)) anchor = `${slug}-${++copy}`
    anchors.add(anchor)
  }
  return anchors
}

/** Why a link leads nowhere, or undefined. */
function brokenLink(from: string, target: string): string | undefined {
  const [file = '', anchor] = target.split('#')
  const path = file === '' ? from : normalize(join(dirname(from), decodeURIComponent(file)))
  if (path.startsWith('..') || !existsSync(join(root, path))) return `${from}: no file ${target}`
  if (anchor === undefined) return undefined
  if (statSync(join(root, path)).isDirectory() || !path.endsWith('.md')) return `${from}: an anchor in ${path}`
  return anchorsOf(readFileSync(join(root, path), 'utf8')).has(anchor) ? undefined : `${from}: no heading ${target}`
}

const linksOf = (text: string): readonly string[] =>
  [...proseOf(text).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))

test('every relative link of every page leads to a file, and to a heading where it names one', () => {
  const links = pages.flatMap(({ path, text }) => linksOf(text).map((target) => [path, target] as const))
  expect(links.length).toBeGreaterThan(80)
  expect(links.flatMap(([path, target]) => brokenLink(path, target) ?? [])).toEqual([])
})

test('a link to a missing file or heading is found', () => {
  expect(linksOf('[a](b.md) [c](https://example.com)\n```\n[d](e.md)\n```\n[f](#g)')).toEqual(['b.md', '#g'])
  expect(brokenLink('README.md', 'docs/none.md')).toBe('README.md: no file docs/none.md')
  expect(brokenLink('docs/client.md', '../README.md#none')).toBe('docs/client.md: no heading ../README.md#none')
  expect(brokenLink('docs/client.md', '../README.md#a-tour')).toBeUndefined()
  expect([...anchorsOf('# `a` & b\n## a  b\n## A & b\n')]).toEqual(['a--b', 'a--b-1', 'a--b-2'])
})

/** Links of a page whose text is a name of the code, to files that do not contain it. */
function missingNames(from: string, text: string): readonly string[] {
  return [...proseOf(text).matchAll(/\[`(\w+)`\]\(([^()\s]+\.ts)\)/g)].flatMap(([, name = '', target = '']) => {
    const path = join(root, dirname(from), target)
    const isThere = existsSync(path) && new RegExp(`\\b${name}\\b`).test(readFileSync(path, 'utf8'))
    return isThere ? [] : [`${from}: no ${name} in ${target}`]
  })
}

test('a file that a page names for a function of the code has that function', () => {
  expect(pages.flatMap(({ path, text }) => missingNames(path, text))).toEqual([])
  expect(
    missingNames('docs/x.md', '[`runTx`](../src/modules/kernel.ts) [`runNone`](../src/modules/kernel.ts)'),
  ).toEqual(['docs/x.md: no runNone in ../src/modules/kernel.ts'])
})

test('README is a front page of at most 900 words', () => {
  const words =
    pages
      .find(({ path }) => path === 'README.md')
      ?.text.split(/\s+/)
      .filter(Boolean) ?? []
  expect(words.length).toBeGreaterThan(300)
  expect(words.length).toBeLessThanOrEqual(900)
})
