import { describe, expect, test } from '@jest/globals'
import { queryEntries } from '../../../src/modules/registry.ts'
import { account, nodeKey, TestChain, tokens } from '../../support/testChain.ts'
import { bytesOf, done } from '../support.ts'
import { change, deploy, fund, genesisOf, govChain, proposed, shown, urlSafe, voted } from './support.ts'

test('listProposals gives the objects of the interface, the oldest first, and pages of them', () => {
  const chain = govChain([60, 40])
  const ids = Array.from({ length: 5 }, () => proposed(chain, account(1), 'proposeChangeParam', change()))
  const all = chain.query('/governance/proposals') as Record<string, unknown>[]
  expect(all.map(({ Id }) => Id)).toEqual(ids)
  expect(all[0]).toEqual({
    Id: ids[0],
    Type: 'change_param',
    Proposer: account(1).address,
    BlockHeight: 2,
    ExpireBlockHeight: 60482,
    CreatedAt: '2023-11-14T22:13:22Z',
    Result: '',
    ResultMsg: '',
    ResultBlockHeight: 0,
    ResultAt: '',
    Detail: { name: 'max_vals', value: '7', reason: '' },
  })
  const page = (search: string) =>
    (chain.query(`/governance/proposals?${search}`) as { Id: string }[]).map(({ Id }) => ids.indexOf(Id))
  expect([
    page('limit=2'),
    page('offset=3'),
    page('limit=2&offset=1'),
    page('limit=0'),
    page('offset=9'),
    page('limit=99'),
    page(''),
  ]).toEqual([[0, 1], [3, 4], [1, 2], [], [], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]])
  for (const search of [
    'limit=x',
    'limit=',
    'limit',
    'limit=-1',
    'offset=1.5',
    'offset=9007199254740992',
    'Limit=1',
    'page=2',
    'limit=01',
  ]) {
    const { code, log } = chain.abciQuery(`/governance/proposals?${search}`)
    expect([code, log]).toEqual([20, expect.stringMatching(/^Invalid parameter: (limit|offset|Limit|page): expected /)])
  }
})

describe('chosen proposals', () => {
  // Types and what became of each, by block and place: 0 and 3 are approved, 1 is rejected, 4 expires, 2 and 5 are open.
  const EXPIRY = 20
  const chain = govChain([60, 40])
  const ids = [
    proposed(chain, account(1), 'proposeChangeParam', change()),
    proposed(chain, account(1), 'proposeTransferFund', fund(account(1), account(2), 5n)),
    proposed(chain, account(1), 'proposeChangeParam', change({ value: '8' })),
    proposed(chain, account(1), 'proposeTransferFund', fund(account(1), account(2), 6n)),
    proposed(chain, account(1), 'proposeDeployLibEni', deploy({ deployBlockHeight: EXPIRY })),
    proposed(chain, account(1), 'proposeDeployLibEni', deploy({ name: 'other' })),
  ]
  for (const [at, answer] of [
    [0, 'Y'],
    [1, 'N'],
    [3, 'Y'],
  ] as const)
    for (const voter of [1, 2]) voted(chain, account(voter), ids[at] as string, answer)
  while (chain.height < EXPIRY) chain.block()

  const page = (search: string) => {
    const { data, total } = chain.query(`/governance/proposals?${search}`) as { data: { Id: string }[]; total: number }
    return [data.map(({ Id }) => ids.indexOf(Id)), total]
  }

  test.each<[string, readonly number[], number]>([
    ['newest=true', [5, 4, 3, 2, 1, 0], 6],
    ['newest=false', [0, 1, 2, 3, 4, 5], 6],
    ['newest=true&limit=2', [5, 4], 6],
    ['newest=true&limit=2&offset=4', [1, 0], 6],
    ['newest=true&offset=6', [], 6],
    ['state=open', [2, 5], 2],
    ['state=Approved', [0, 3], 2],
    ['state=Rejected', [1], 1],
    ['state=Expired', [4], 1],
    ['type=change_param', [0, 2], 2],
    ['type=transfer_fund&newest=true', [3, 1], 2],
    ['type=deploy_libeni&state=open', [5], 1],
    ['type=deploy_libeni&state=Expired&limit=0', [], 1],
    ['type=retire_program', [], 0],
    ['type=change_param&state=open&newest=true&offset=1', [], 1],
  ])('%s', (search, expected, total) => {
    expect(page(search)).toEqual([expected, total])
  })

  test('counts adds the number of each, whatever is chosen, and its tally; without it nothing is added', () => {
    const { data } = chain.query('/governance/proposals?type=change_param&newest=true&counts=true') as {
      data: object[]
    }
    expect(data).toMatchObject([
      { Id: ids[2], Number: 3, Tally: { Yes: 0, No: 0, Total: 100 } },
      { Id: ids[0], Number: 1, Tally: { Yes: 100, No: 0, Total: 100 } },
    ])
    const { data: plain } = chain.query('/governance/proposals?newest=true') as { data: object[] }
    expect(plain.filter((one) => 'Number' in one || 'Tally' in one)).toEqual([])
    const id = urlSafe(ids[5] as string)
    expect(chain.query(`/governance/proposal/${id}?counts=true`)).toMatchObject({ Number: 6 })
    expect(chain.query(`/governance/proposal/${id}`)).not.toHaveProperty('Number')
  })

  test('every state and type together are all proposals, and those of the plain list', () => {
    const all = chain.query('/governance/proposals') as { Id: string; Type: string; Result: string }[]
    expect(chain.query('/governance/proposals?newest=false')).toEqual({ data: all, total: 6 })
    const states = ['open', 'Approved', 'Rejected', 'Expired']
    expect(states.map((state) => page(`state=${state}`)[1])).toEqual(
      states.map((state) => all.filter(({ Result }) => Result === (state === 'open' ? '' : state)).length),
    )
  })

  test.each([
    ['state=', /^Invalid parameter: state: expected one of open, Approved, Rejected, Expired, got ""$/],
    ['state=approved', /^Invalid parameter: state: /],
    ['state', /^Invalid parameter: state: /],
    ['type=upgrade_program', /^Invalid parameter: type: expected one of transfer_fund, change_param, /],
    ['type=', /^Invalid parameter: type: /],
    ['type=toString', /^Invalid parameter: type: /],
    ['newest=1', /^Invalid parameter: newest: expected one of true, false, got "1"$/],
    ['newest=true&limit=x', /^Invalid parameter: limit: /],
    ['newest=true&page=2', /^Invalid parameter: page: expected limit, offset, newest, state, type or counts$/],
  ])('%s is refused', (search, log) => {
    expect(chain.abciQuery(`/governance/proposals?${search}`)).toMatchObject({
      code: 20,
      log: expect.stringMatching(log),
    })
  })
})

test('a proposal is read by its URL-safe id, padded or not, with votes and tally; an unknown one is null', () => {
  const chain = govChain([60, 40])
  let id = ''
  // An id with a character of its own in both alphabets.
  for (let value = 1; !/[+/]/.test(id); value++)
    id = proposed(chain, account(1), 'proposeTransferFund', fund(account(1), account(2), BigInt(value)))
  voted(chain, account(1), id)
  const safe = urlSafe(id)
  expect(chain.query(`/governance/proposal/${safe.replace(/=+$/, '')}`)).toEqual(shown(chain, id))
  expect(shown(chain, id)).toMatchObject({
    Votes: [{ Voter: account(1).address, Answer: 'Y', BlockHeight: chain.height }],
    Tally: { Yes: 60, No: 0, Total: 100 },
  })
  expect(chain.query(`/governance/votes/${safe}`)).toEqual(shown(chain, id)['Votes'])
  const unknown = Buffer.alloc(32, 7).toString('base64url')
  expect([chain.query(`/governance/proposal/${unknown}`), chain.query(`/governance/votes/${unknown}`)]).toEqual([
    null,
    [],
  ])
  for (const bad of ['', 'x', unknown.slice(1), `${unknown}A`, `${unknown}==`, 'ä'.repeat(43)]) {
    for (const path of ['proposal', 'votes']) {
      expect(chain.abciQuery(`/governance/${path}/${bad}`)).toMatchObject({
        code: 20,
        log: expect.stringMatching(/^Invalid parameter: id: expected /),
        height: chain.height,
      })
    }
  }
})

test('with counts each vote names who owns its candidacy now, where it has an owner; without it nothing is added', () => {
  const chain = govChain([60, 40])
  const id = proposed(chain, account(1), 'proposeChangeParam', change())
  const [first, second] = [1, 2].map((voter) => {
    voted(chain, account(voter), id, 'N')
    return { Voter: account(voter).address, Answer: 'N', BlockHeight: chain.height }
  })
  const withCounts = () => chain.query(`/governance/proposal/${urlSafe(id)}?counts=true`)
  expect(withCounts()).toMatchObject({
    Votes: [
      { ...first, Owner: account(1).address },
      { ...second, Owner: account(2).address },
    ],
  })
  // Two hand-overs of the first candidacy; the record of the second one is replaced, as its owner declares anew.
  for (const [request, from, to] of [
    [1, 1, 5],
    [2, 5, 6],
  ] as const) {
    done(chain, account(from), 'updateCandidacyAccount', { newCandidateAccount: bytesOf(account(to)) })
    done(chain, account(to), 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: request })
  }
  done(chain, account(2), 'withdrawCandidacy')
  done(chain, account(2), 'declareCandidacy', { pubKey: nodeKey(7), maxAmount: String(tokens(50)) })
  expect(withCounts()).toMatchObject({ Votes: [{ ...first, Owner: account(6).address }, second] })
  expect([shown(chain, id)['Votes'], chain.query(`/governance/votes/${urlSafe(id)}`)]).toEqual([
    [first, second],
    [first, second],
  ])
})

test('an unknown path is code 4 and names the known ones; each answer carries the head', () => {
  const chain = govChain([100])
  for (const path of [
    '',
    '/',
    '/governance',
    '/governance/',
    '/governance/proposals/',
    '/governance/proposal',
    '/Governance/proposals',
    'governance/proposals',
    '/store',
    '/x',
  ]) {
    const answer = chain.abciQuery(path)
    expect([path, answer.code, answer.height]).toEqual([path, 4, 1])
    expect(answer.log).toContain('/governance/proposal/<id>')
  }
  expect(chain.abciQuery('/governance/params')).toMatchObject({ code: 0, height: 1 })
})

test('rows are read by table and key with their raw key; what is not there is empty', () => {
  const chain = govChain([100])
  const id = proposed(chain, account(1), 'proposeChangeParam', change())
  const row = chain.abciQuery(`/store/proposals/${urlSafe(id)}`)
  expect(row.key).toEqual(Uint8Array.of(0x10, ...Buffer.from(id, 'base64')))
  expect(row.value?.length).toBeGreaterThan(0)
  expect(chain.abciQuery(`/store/votes/${urlSafe(id)}/1`)).toMatchObject({
    code: 0,
    value: new Uint8Array(0),
    height: 2,
  })
  expect(chain.abciQuery('/store/params/max_vals/0').key).toEqual(
    Uint8Array.of(0x18, ...Buffer.from('max_vals'), 0, 0, 0, 0, 0, 0, 0, 0, 0),
  )
  expect(chain.abciQuery('/store/totals').code).toBe(0)
  const wrong: Record<string, RegExp> = {
    '/store/': /table/,
    '/store/nothing/1': /table/,
    '/store/library_status/x': /table/,
    '/store/toString': /table/,
    '/store/totals/': /key/,
    '/store/params/max_vals': /key/,
    '/store/params/max_vals/x': /height/,
    '/store/params//0': /name/,
    '/store/proposals/x': /id/,
    [`/store/votes/${urlSafe(id)}/-1`]: /candidacyId/,
    '/store/accounts/0x12': /address/,
  }
  for (const [path, log] of Object.entries(wrong))
    expect(chain.abciQuery(path)).toMatchObject({ code: 20, log: expect.stringMatching(log) })
  expect(chain.abciQuery('/store/totals', 1)).toMatchObject({ code: 20, log: expect.stringMatching(/height/) })
})

test('before the first commit each path answers for height 0 or refuses, and nothing throws', () => {
  const errors: unknown[] = []
  const logger = { info: () => {}, error: (fields: object, message: string) => errors.push([fields, message]) }
  for (const isStarted of [false, true]) {
    const chain = new TestChain({ app: { logger } })
    if (isStarted) chain.init(genesisOf([100]))
    for (const { path } of queryEntries) {
      const asked = path
        .replace('<address>', account(1).address)
        .replace('<id>', path.includes('account-update') ? '1' : Buffer.alloc(32).toString('base64url'))
      const { code, height, log } = chain.abciQuery(asked)
      expect([asked, code === 1000 ? log : '', height]).toEqual([asked, '', 0])
    }
  }
  expect(errors).toEqual([])
})
