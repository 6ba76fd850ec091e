import { parseProposalId, type ProposalId } from '../../../src/values/pubKey.ts'
import { describe, expect, test } from '@jest/globals'
import { checkFiles, checkName } from '../../../src/modules/governance/library.ts'
import { isAbove, parseVersion } from '../../../src/values/library.ts'
import { libraryStatus } from '../../../src/modules/governance/tables.ts'
import { account } from '../../support/testChain.ts'
import { deploy, govChain, proposed, shown, voted } from './support.ts'

const sum = '0123456789abcdefABCDEF0123456789'
const url = '"http://a"'
const many = (count: number): string => `[${new Array(count).fill(url).join(',')}]`

const names: [string, string, string | undefined][] = [
  ['lib', 'v0.0.0', undefined],
  ['a', 'v1.2.3', undefined],
  ['a-b_c9', 'v10.20.30', undefined],
  ['x'.repeat(64), 'v1.0.0', undefined],
  ['_', `v${Number.MAX_SAFE_INTEGER}.0.0`, undefined],
  ['', 'v1.0.0', 'Insufficient parameters'],
  ['a', '', 'Insufficient parameters'],
  ['', '', 'Insufficient parameters'],
  ['x'.repeat(65), 'v1.0.0', 'Invalid ENI lib name or version'],
  ...['Lib', 'a b', 'a.b', '../a', 'a/b', 'ä', 'a\0', 'a\n', ' '].map((name): [string, string, string] => [
    name,
    'v1.0.0',
    'Invalid ENI lib name or version',
  ]),
  ...[
    '1.0.0',
    'v1.0',
    'v1.0.0.0',
    'V1.0.0',
    'v01.0.0',
    'v1.-1.0',
    'v1.0.0-rc',
    ' v1.0.0',
    'v1.0.0\n',
    'v1..0',
    'v1.0.x',
    `v${2 ** 53}.0.0`,
    `v${'9'.repeat(16)}.0.0`,
  ].map((version): [string, string, string] => ['a', version, 'Invalid ENI lib name or version']),
]
test.each(names)('name %j and version %j, of the form vX.Y.Z: %j', (name, version, log) => {
  expect(checkName({ name, version, fileUrl: '', md5: '' })?.log).toBe(log)
})

test.each<[string, string, boolean]>([
  ['v1.0.0', 'v0.9.9', true],
  ['v1.0.0', 'v1.0.0', false],
  ['v1.0.1', 'v1.0.0', true],
  ['v1.1.0', 'v1.0.9', true],
  ['v1.0.9', 'v1.1.0', false],
  ['v10.0.0', 'v9.0.0', true],
  ['v2.0.0', 'v10.0.0', false],
  ['v0.0.10', 'v0.0.9', true],
])('version %s is above %s: %s', (a, b, above) => {
  expect(isAbove(a, b)).toBe(above)
  expect(parseVersion(a)).toHaveLength(3)
})

describe('fileUrl and md5', () => {
  const FILE = 'The fileurl is not a valid json'
  const MD5 = 'The md5 is not a valid json'
  const good = `{"ubuntu":${many(1)}}`
  const files: [string, string, string | undefined][] = [
    [good, `{"ubuntu":"${sum}"}`, undefined],
    [` {\n"ubuntu" : [${url}] }\t`, `{"\\u0075buntu":"${sum}"}`, undefined],
    [`{"centos":${many(8)},"ubuntu":${many(1)}}`, `{"ubuntu":"${sum}","centos":"${sum}"}`, undefined],
    ['{"ubuntu":["HTTPS://A.example:8080/x?y=%20#z"]}', `{"ubuntu":"${sum}"}`, undefined],
    ['{"ubuntu":["http://a/\\"ubuntu\\":"]}', `{"ubuntu":"${sum}"}`, undefined],
    ...[
      '',
      'null',
      '[]',
      '"ubuntu"',
      '1',
      '{}',
      '{',
      'undefined',
      `${good}x`,
      `{'ubuntu':${many(1)}}`,
      `{"ubuntu":${many(1)},}`,
      `\uFEFF${good}`,
      `{"ubuntu":${many(0)}}`,
      `{"ubuntu":${many(9)}}`,
      '{"ubuntu":"http://a"}',
      '{"ubuntu":[1]}',
      '{"ubuntu":[null]}',
      '{"ubuntu":null}',
      '{"ubuntu":{}}',
      '{"ubuntu":["ftp://a"]}',
      '{"ubuntu":["file:///etc/passwd"]}',
      '{"ubuntu":["http://"]}',
      '{"ubuntu":["a"]}',
      '{"ubuntu":[" http://a"]}',
      '{"ubuntu":["http://a b"]}',
      '{"ubuntu":["http://a\\n"]}',
      '{"ubuntu":["http://ä"]}',
      `{"debian":${many(1)}}`,
      `{"Ubuntu":${many(1)}}`,
      `{"ubuntu":${many(1)},"debian":${many(1)}}`,
      `{"ubuntu":${many(1)},"ubuntu":${many(1)}}`,
      `{"ubuntu":${many(1)},"\\u0075buntu":${many(1)}}`,
      `{"ubuntu":${many(1)},"__proto__":${many(1)}}`,
      '{"__proto__":{"ubuntu":["http://a"]}}',
      '{"ubuntu":[["http://a"]]}',
      '['.repeat(4096),
    ].map((text): [string, string, string] => [text, `{"ubuntu":"${sum}"}`, FILE]),
    ...[
      '',
      'null',
      '[]',
      '{}',
      `{"ubuntu":"${sum}x"}`,
      `{"ubuntu":"${sum.slice(1)}"}`,
      `{"ubuntu":"${sum.slice(1)}g"}`,
      `{"ubuntu":["${sum}"]}`,
      '{"ubuntu":1}',
      `{"centos":"${sum}"}`,
      `{"ubuntu":"${sum}","centos":"${sum}"}`,
      `{"ubuntu":"${sum}","ubuntu":"${sum}"}`,
      `{"ubuntu":"${sum}","x":"${sum}"}`,
    ].map((text): [string, string, string] => [good, text, MD5]),
    [`{"ubuntu":${many(1)},"centos":${many(1)}}`, `{"ubuntu":"${sum}"}`, MD5],
  ]
  test.each(files)('are JSON strings of objects of ubuntu and centos to URLs and MD5s: %s %s', (fileUrl, md5, log) => {
    expect(checkFiles({ name: 'a', version: 'v1.0.0', fileUrl, md5 })?.log).toBe(log)
  })
})

test('an approved library is undeployed before its point and deployed from it on; then only higher versions follow', () => {
  const chain = govChain([100])
  const id = proposed(chain, account(1), 'proposeDeployLibEni', deploy({ version: 'v1.9.0', deployBlockHeight: 6 }))
  voted(chain, account(1), id)
  expect(shown(chain, id)).toMatchObject({ Result: 'Approved', ResultBlockHeight: 3 })
  const send = (version: string, name = 'lib') =>
    chain.deliver(account(1), 'proposeDeployLibEni', deploy({ name, version })).log
  expect(send('v2.0.0')).toBe('One or more ongoing proposals with the same lib name')
  expect(send('v0.0.1', 'lib-b')).toBe('')
  expect(chain.height).toBe(5)
  expect(send('v0.0.1')).toBe('One or more ongoing proposals with the same lib name') // in the block of its point
  expect(shown(chain, id)).toMatchObject({ Result: 'Approved', ResultBlockHeight: 3 })
  expect(send('v1.9.0')).toBe('Invalid ENI lib name or version')
  expect(send('v1.10.0')).toBe('')
})

test('a rejected or expired library blocks nothing', () => {
  const chain = govChain([100])
  const rejected = proposed(chain, account(1), 'proposeDeployLibEni', deploy())
  voted(chain, account(1), rejected, 'N')
  proposed(chain, account(1), 'proposeDeployLibEni', deploy({ deployBlockHeight: 5 }))
  chain.block()
  expect(chain.deliver(account(1), 'proposeDeployLibEni', deploy()).log).toBe('')
})

test("status in Detail is this node's own where it has one; without one it follows the result", () => {
  const chain = govChain([100])
  const make = (name: string, extra: object = {}) =>
    proposed(chain, account(1), 'proposeDeployLibEni', deploy({ name, ...extra }))
  const [open, rejected, approved] = [make('a'), make('b'), make('c', { deployBlockHeight: 8 })]
  voted(chain, account(1), rejected, 'N')
  voted(chain, account(1), approved)
  const status = (id: string) => shown(chain, id).Detail['status']
  expect([open, rejected, approved].map(status)).toEqual(['init', 'rejected', 'init'])
  chain.advanceTo(8)
  expect(status(approved)).toBe('collapsed')
  const hash = chain.store.recomputeRoot()
  chain.store.putLocal(libraryStatus, {
    proposalId: parseProposalId(approved) as ProposalId,
    status: 'deployed' as const,
  })
  expect(status(approved)).toBe('deployed')
  expect(chain.store.recomputeRoot()).toEqual(hash)
  expect(shown(chain, approved).Detail).toEqual({
    name: 'c',
    version: 'v1.0.0',
    fileurl: deploy()['fileUrl'],
    md5: deploy()['md5'],
    reason: '',
    status: 'deployed',
  })
})
