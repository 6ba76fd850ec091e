import { describe, expect, test } from '@jest/globals'
import { txEntries } from '../../src/modules/registry.ts'
import { account, GENESIS_TIME } from '../support/testChain.ts'
import { conformanceChain, type Done, keyText, perform, proposalOf, succeed } from './support.ts'

const owner = account(1)
const md5 = '0'.repeat(32)
const url = 'https://example.com/lib.so'
const library = {
  name: 'lib',
  version: 'v1.0.0',
  fileUrl: JSON.stringify({ ubuntu: [url] }),
  md5: JSON.stringify({ ubuntu: md5 }),
}
const change = { name: 'max_vals', value: '9' }
const retire = { preservedValidators: keyText(1) }

/** The log of a fresh chain's answer; '' when it was committed. */
const logOf = (method: string, members: Readonly<Record<string, unknown>>): string =>
  perform(conformanceChain(), owner, method, members).log
const deploy = (more: object): string => logOf('svc_proposeDeployLibEni', { ...library, ...more })

describe('rules of the propose payloads', () => {
  test('fileUrl is a JSON string of an object of ubuntu and centos to arrays of URLs, and of nothing else', () => {
    const both = {
      fileUrl: JSON.stringify({ ubuntu: [url, url], centos: [url] }),
      md5: JSON.stringify({ ubuntu: md5, centos: md5 }),
    }
    expect(deploy(both)).toBe('')
    const bad = [
      '',
      'x',
      '[]',
      '{}',
      '{"ubuntu":[]}',
      '{"debian":["https://a.example/b"]}',
      '{"ubuntu":"https://a.example/b"}',
      '{"ubuntu":["ftp://a.example/b"]}',
    ]
    for (const fileUrl of bad)
      expect([fileUrl, deploy({ fileUrl })]).toEqual([fileUrl, 'The fileurl is not a valid json'])
  })

  test('md5 is a JSON string of an object of ubuntu and centos to MD5s, and of nothing else', () => {
    const bad = [
      '',
      'x',
      '{}',
      '{"debian":"0"}',
      '{"ubuntu":"12"}',
      `{"ubuntu":["${md5}"]}`,
      `{"centos":"${md5}"}`,
      `{"ubuntu":"${md5}","debian":"${md5}"}`,
    ]
    for (const one of bad) expect([one, deploy({ md5: one })]).toEqual([one, 'The md5 is not a valid json'])
    expect(deploy({ md5: JSON.stringify({ ubuntu: 'F'.repeat(32) }) })).toBe('')
  })

  test('a block height and a timestamp may not both be given, but either may', () => {
    const [height, timestamp] = [100, GENESIS_TIME + 1000]
    for (const [method, members, names] of [
      ['svc_proposeChangeParam', change, ['expireBlockHeight', 'expireTimestamp']],
      ['svc_proposeDeployLibEni', library, ['deployBlockHeight', 'deployTimestamp']],
    ] as const) {
      expect(logOf(method, { ...members, [names[0]]: height, [names[1]]: timestamp })).toBe(
        'Provide one expiration at most',
      )
      expect([
        logOf(method, { ...members, [names[0]]: height }),
        logOf(method, { ...members, [names[1]]: timestamp }),
      ]).toEqual(['', ''])
    }
  })

  test('what is omitted is 60480 blocks ahead, for expiry, deployment and retirement', () => {
    const chain = conformanceChain()
    for (const [method, members] of [
      ['svc_proposeChangeParam', change],
      ['svc_proposeDeployLibEni', library],
      ['svc_proposeRetireProgram', retire],
    ] as const) {
      const { data, height } = succeed(chain, owner, method, members)
      expect(proposalOf(chain, data)).toMatchObject({
        BlockHeight: height,
        ExpireBlockHeight: height + (7 * 24 * 60 * 60) / 10,
      })
    }
  })

  test('a version has the form vX.Y.Z of non-negative integers', () => {
    for (const version of ['v0.0.0', 'v10.20.30']) expect([version, deploy({ version })]).toEqual([version, ''])
    for (const version of ['1.0.0', 'v1.0', 'v1.0.0.0', 'v1.0.x', 'v-1.0.0', 'V1.0.0', 'v1.0.0 ']) {
      expect([version, deploy({ version })]).toEqual([version, 'Invalid ENI lib name or version'])
      const upgrade = logOf('svc_proposeUpgradeProgram', { ...library, version })
      expect([version, upgrade]).toEqual([version, 'Invalid ENI lib name or version'])
    }
  })

  test('only one unresolved or approved retiring proposal exists at a time; a rejected one gives way', () => {
    const chain = conformanceChain()
    const propose = (): Done =>
      perform(chain, owner, 'svc_proposeRetireProgram', { ...retire, retiredBlockHeight: 500 })
    const vote = (proposalId: string, answer: string): void => {
      for (const voter of [1, 2]) succeed(chain, account(voter), 'svc_vote', { proposalId, answer })
    }
    const found = { code: 20, log: 'Found unresolved or approved retiring proposal' }
    const first = propose()
    expect([first.code, propose()]).toEqual([0, expect.objectContaining(found)])
    vote(first.data, 'N')
    const again = propose()
    expect(again.code).toBe(0)
    vote(again.data, 'Y')
    expect(proposalOf(chain, again.data)).toMatchObject({ Result: 'Approved' })
    expect(propose()).toMatchObject(found)
  })
})

describe('who may act', () => {
  test('propose operations and vote of an account that is no validator are refused', () => {
    const chain = conformanceChain()
    const id = succeed(chain, owner, 'svc_proposeChangeParam', change).data
    for (const [method, members] of [
      ['svc_proposeChangeParam', change],
      ['svc_proposeDeployLibEni', library],
      ['svc_proposeRetireProgram', retire],
      ['svc_proposeUpgradeProgram', library],
      ['svc_vote', { proposalId: id, answer: 'Y' }],
    ] as const) {
      const { code, log } = perform(chain, account(5), method, members)
      expect([method, code, log]).toEqual([method, 20, 'Invalid validator'])
    }
  })

  test('withdraw, activate, deactivate and updateAccount act on the candidacy of the sender, and on no other', () => {
    const chain = conformanceChain()
    const stranger = account(5)
    const root = (): unknown => chain.query('/stake/validators')
    const before = root()
    for (const [method, members] of [
      ['svc_withdrawCandidacy', {}],
      ['svc_activateCandidacy', {}],
      ['svc_deactivateCandidacy', {}],
      ['svc_updateCandidacyAccount', { newCandidateAccount: account(6).address }],
    ] as const)
      expect(perform(chain, stranger, method, members).code).not.toBe(0)
    expect(root()).toEqual(before)
    succeed(chain, account(3), 'svc_deactivateCandidacy')
    expect(root()).not.toEqual(before)
  })

  test('every operation of the interface is signed: bytes that another key signed are refused', () => {
    const chain = conformanceChain()
    const bytes = chain.tx(owner, 'transfer', { to: new Uint8Array(20).fill(1), value: '1' })
    const last = bytes.length - 1
    const forged = Uint8Array.from(bytes, (byte, at) => (at === last ? byte ^ 1 : byte))
    expect(chain.check(bytes).code).toBe(0)
    expect(chain.check(forged)).toMatchObject({ code: 3, log: 'signature verification failed' })
    expect(txEntries.length).toBeGreaterThan(13)
  })
})
