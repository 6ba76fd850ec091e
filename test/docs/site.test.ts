import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { VERSION } from '../../src/base/version.ts'
import { brokenLinks } from '../../tools/docs/checkLinks.ts'
import { siteLink, withSiteLinks } from '../../tools/docs/links.ts'
import { llmsFiles } from '../../tools/docs/llms.ts'
import { sitePages } from '../../tools/docs/navigation.ts'
import {
  callOf,
  exampleAnswer,
  exampleParams,
  groupsOf,
  meaningOf,
  needsSocket,
  type RpcMethod,
  signs,
  typeOf,
} from '../../tools/docs/playground.ts'
import { playgroundData } from '../../tools/docs/playgroundData.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { pages } from './pages.ts'

describe('the navigation', () => {
  test('has every page of the project once, and no page that is not there', () => {
    const sources = sitePages.flatMap(({ source }) => source ?? []).sort()
    expect(sources).toEqual(pages.map(({ path }) => path).filter((path) => !path.startsWith('test/')))
  })

  test('has no two pages at one place', () => {
    const routes = sitePages.map(({ route }) => route)
    expect(routes).toEqual([...new Set(routes)])
  })
})

describe('a link', () => {
  const shown = new Set<string>()
  test.each([
    ['docs/protocol.md', 'glossary.md', '/glossary.md'],
    ['docs/protocol.md', '#9-events', '#9-events'],
    ['docs/protocol.md', '../CONTRIBUTING.md#layout', '/contributing.md#layout'],
    ['src/abci/README.md', '../../examples/kvstore', '/examples/kvstore.md'],
    ['docs/decisions/README.md', '../reference/README.md', '/reference/index.md'],
    ['docs/client.md', '../README.md#a-tour', '/first-steps.md#a-tour'],
    ['docs/client.md', '../README.md', '/index.md'],
    ['README.md', 'docs/assets/tour.svg', '/assets/tour.svg'],
    ['README.md', 'https://example.com/#a', 'https://example.com/#a'],
    ['docs/architecture.md', '../src/modules/kernel.ts', '/source/src/modules/kernel.ts.md'],
    ['docs/architecture.md', '../src/client/light', '/source/src/client/light.md'],
  ])('of %s to %s leads to %s', (from, target, expected) => {
    expect(siteLink(from, target, shown)).toBe(expected)
  })

  test('to a file that is no page brings that file along, and one to nothing is refused', () => {
    expect([...shown]).toEqual(['src/modules/kernel.ts', 'src/client/light'])
    expect(() => siteLink('docs/client.md', 'none.md', shown)).toThrow('docs/client.md: no file none.md')
  })

  test('within a block of code stays as it is', () => {
    const text = 'a [b](glossary.md)\n```\n[b](glossary.md)\n```\n'
    expect(withSiteLinks('docs/client.md', text, shown)).toBe('a [b](/glossary.md)\n```\n[b](glossary.md)\n```\n')
  })
})

describe('brokenLinks', () => {
  const folder = tempFolder('links')
  afterAll(() => folder.remove())
  const write = (path: string, html: string): void => {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true })
    writeFileSync(join(folder.path, path), html)
  }

  test('finds links to no file, to no anchor, out of the site and to no public host', () => {
    write(
      'index.html',
      '<h1 id="top"></h1><a href="/x/sub/page.html#there">1</a><a href="#top">2</a><a href="./">3</a>',
    )
    write('sub/page.html', '<p id="there"></p><img src="../index.html"><a href="https://example.com/?a&amp;b">1</a>')
    expect(brokenLinks(folder.path, '/x/')).toEqual([])
    write(
      'sub/page.html',
      '<a href="#none">1</a><a href="none.html">2</a><a href="/x/index.html#none">3</a><script src="/y.js"></script>' +
        '<a href="http://example.com">4</a><a href="https://host">5</a><a href="https://">6</a>',
    )
    expect(brokenLinks(folder.path, '/x/')).toEqual([
      'index.html: /x/sub/page.html#there leads to no anchor',
      'sub/page.html: #none leads to no anchor',
      'sub/page.html: none.html leads to no file',
      'sub/page.html: /x/index.html#none leads to no anchor',
      'sub/page.html: http://example.com has the scheme http:',
      'sub/page.html: https://host names no public host',
      'sub/page.html: https:// is no address',
      'sub/page.html: /y.js is not below /x/',
    ])
  })
})

describe('the texts for language models', () => {
  const text = '# A title\n\n```sh\nls\n```\n\nsvcd [stakes](/staking) tokens: it\nis a chain. More.\n'
  const files = llmsFiles('/docs/', 'A chain', ({ route }) => (route === '/staking' ? text : undefined))

  test('list every page of the site, below its base', () => {
    for (const { route, title } of sitePages) expect(files['llms.txt']).toContain(`- [${title}](/docs${route})`)
    expect(files['llms.txt'].startsWith('# svcd\n\n> A chain.\n\n## Start\n\n- [What svcd is](/docs/)\n')).toBe(true)
  })

  test('say of a page what its first sentence says', () => {
    expect(files['llms.txt']).toContain('- [Staking](/docs/staking): svcd stakes tokens.\n')
  })

  test('hold the text of pages', () => {
    expect(files['llms-full.txt']).toBe(`# svcd\n\n> A chain.\n\n\n${text}`)
  })
})

describe('the playground', () => {
  const data = playgroundData()
  const methodOf = (name: string): RpcMethod => data.document.methods.find((one) => one.name === name) as RpcMethod

  test('has the document of this version in groups, with what signs and what needs a websocket', () => {
    expect(data.document.info.version).toBe(VERSION)
    const groups = groupsOf(data.document)
    expect(groups.flatMap(([, methods]) => methods)).toEqual(data.document.methods)
    expect(groups.length).toBeLessThan(12)
    expect([signs(methodOf('svc_vote')), signs(methodOf('svc_queryParams'))]).toEqual([true, false])
    expect([needsSocket(methodOf('svc_subscribe')), needsSocket(methodOf('svc_vote'))]).toEqual([true, false])
  })

  test('fills in the recorded params, and makes a call of them', () => {
    const vote = methodOf('svc_vote')
    expect(callOf('svc_vote', exampleParams(vote))).toMatchObject({
      jsonrpc: '2.0',
      method: 'svc_vote',
      params: { answer: 'Y', proposalId: expect.any(String) },
    })
    expect(exampleAnswer(vote)).toMatchObject({ height: expect.any(Number) })
    expect(callOf('svc_status', ' ')).toMatchObject({ params: {} })
    for (const wrong of ['[]', '1', 'null', '{']) expect(() => callOf('svc_vote', wrong)).toThrow(SyntaxError)
  })

  test('says the type of a parameter in a few words', () => {
    expect(typeOf({ type: 'string' })).toBe('string')
    expect(typeOf({ anyOf: [{ type: 'integer' }, { type: ['string', 'null'] }] })).toBe('integer | string | null')
    expect(typeOf({ type: 'array', items: { enum: ['Y', 'N'] } })).toBe('array of "Y" | "N"')
    expect(typeOf({})).toBe('any')
  })

  test('says what an error means, also one whose log holds what was given', () => {
    expect(meaningOf({ result: { height: 3, check_tx: { fee: {} }, deliver_tx: { fee: {} } } }, data)).toBeUndefined()
    expect(meaningOf({ result: '5' }, data)).toBeUndefined()
    expect(meaningOf({ error: { code: -32602, message: '' } }, data)).toMatch(/^-32602: A parameter is missing/)
    expect(meaningOf({ error: { code: 1, message: '' } }, data)).toBeUndefined()
    const failed = { height: 0, check_tx: { code: 1, log: 'already activated' } }
    expect(meaningOf({ result: failed }, data)).toMatch(/code 1, already activated \(interface: Errors, activate/)
    const known = data.txErrors.find(({ log }) => log.includes('…'))
    const filled = { height: 0, check_tx: { code: known?.code, log: known?.log.replaceAll('…', 'a (b) [c]\n') } }
    expect(meaningOf({ result: filled }, data)).toContain(`(${known?.source})`)
  })
})
