import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { CAMPAIGNS, commandOf } from '../reliability/campaigns.ts'
import { pageRows, readmeLine } from '../reliability/page.ts'
import { pages, root } from './pages.ts'

const textOf = (path: string): string => pages.find((page) => page.path === path)?.text ?? ''
const page = textOf('docs/reliability.md')
/** The sections of the page by their headings, each in one line, as its line breaks mean nothing. */
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.replace(/\s+/g, ' ')] as const),
)

test('the rows of docs/reliability.md are those of the list of campaigns, in its order', () => {
  const names = pageRows().map(({ campaign }) => campaign)
  expect([...new Set(names)]).toEqual(CAMPAIGNS.map(({ name }) => name))
  expect(names.filter((name, at) => name !== names[at - 1])).toEqual(CAMPAIGNS.map(({ name }) => name))
})

test('its sections are those of the list, after what is about all of them', () => {
  expect([...sections.keys()]).toEqual(['Results', 'What this does not show', ...CAMPAIGNS.map(({ title }) => title)])
})

describe.each(CAMPAIGNS)('the section of $name', ({ name, title, long, caughtBy }) => {
  const section = sections.get(title) ?? ''

  test('has the command that is run', () => {
    expect(section).toContain(`\`${commandOf(name, long)}\``)
    expect(readFileSync(join(root, 'Makefile'), 'utf8')).toContain(`\n${name}: `)
  })

  test('links to the test with the fault that was put in by hand', () => {
    expect(existsSync(join(root, caughtBy))).toBe(true)
    expect(section).toMatch(/\*Fault by hand:\* .*\.test\.ts/)
    expect(section).toContain(`(../${caughtBy})`)
  })
})

test('README says what held as the table does', () => {
  expect(textOf('README.md').split('\n')).toContain(readmeLine(pageRows()))
})
