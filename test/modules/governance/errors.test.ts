import { afterAll, describe, expect, test } from '@jest/globals'
import { governanceErrors } from '../../../src/modules/governance/errors.ts'
import { account, GENESIS_TIME, nodeKey, TestChain, tokens } from '../../support/testChain.ts'
import { change, deploy, FEE, fund, genesisOf, govChain, HOLD, proposed, retire, voted, voteOf } from './support.ts'
import { failure, key, keyText, lacking } from '../support.ts'

const seen = new Set<string>()

/** `code log` of a refusal; what it says counts as met. */
function refusal(
  chain: TestChain,
  number: number,
  operation: string,
  message: Readonly<Record<string, unknown>>,
): string {
  const found = failure(chain, account(number), operation, message)
  seen.add(found.slice(found.indexOf(' ') + 1))
  return found
}

const both = { expireBlockHeight: 1, expireTimestamp: 1 }
const long = 'é'.repeat(1025)

interface Row {
  readonly by?: number
  readonly message: Record<string, unknown>
  readonly error: string | RegExp
}

/** Each row breaks its own rule and, where it can, those behind it: the first one wins. */
function table(operation: string, rows: Readonly<Record<string, Row>>): void {
  describe(operation, () => {
    test.each(Object.entries(rows))('%s', (_name, { by = 1, message, error }) => {
      const found = refusal(govChain([60, 30, 10]), by, operation, message)
      expect(found).toEqual(typeof error === 'string' ? error : expect.stringMatching(error))
    })
  })
}

table('proposeChangeParam', {
  'a reason too long wins over all': {
    by: 12,
    message: change({ name: 'no', reason: long, ...both }),
    error: /^20 Invalid parameter: reason: expected at most 2048 bytes, got 2050$/,
  },
  'an unknown name': { message: change({ name: 'no', value: 'x', ...both }), error: /^20 Invalid parameter: name: / },
  'an empty name': { message: change({ name: '', ...both }), error: /^20 Invalid parameter: name: / },
  'a name of every object': {
    message: change({ name: 'constructor', ...both }),
    error: /^20 Invalid parameter: name: /,
  },
  'a value out of range': {
    message: change({ value: '201', ...both }),
    error: /^20 Invalid parameter: value of max_vals: /,
  },
  'both points': { message: change(both), error: '20 Provide one expiration at most' },
})

table('proposeDeployLibEni', {
  'a fileUrl too long wins over all': {
    by: 12,
    message: deploy({ fileUrl: 'x'.repeat(4097), name: '' }),
    error: /^20 Invalid parameter: fileUrl: /,
  },
  'an md5 too long': {
    by: 12,
    message: deploy({ md5: 'x'.repeat(4097), name: '' }),
    error: /^20 Invalid parameter: md5: /,
  },
  'no name': { message: deploy({ name: '', version: '1', fileUrl: '' }), error: '20 Insufficient parameters' },
  'no version': { message: deploy({ name: 'No!', version: '', fileUrl: '' }), error: '20 Insufficient parameters' },
  'a name not in its form': {
    message: deploy({ name: 'No!', fileUrl: '' }),
    error: '20 Invalid ENI lib name or version',
  },
  'a version not in its form': {
    message: deploy({ version: '1.0.0', fileUrl: '' }),
    error: '20 Invalid ENI lib name or version',
  },
  'a fileUrl that is none': {
    message: deploy({ fileUrl: '', md5: '', ...both }),
    error: '20 The fileurl is not a valid json',
  },
  'an md5 that is none': {
    message: deploy({ md5: '', deployBlockHeight: 1 }),
    error: '20 The md5 is not a valid json',
  },
  'both points': {
    message: deploy({ deployBlockHeight: 1, deployTimestamp: 1 }),
    error: '20 Provide one expiration at most',
  },
  'a height not ahead': { message: deploy({ deployBlockHeight: 2 }), error: '20 Invalid expire block height' },
  'a time not ahead': { message: deploy({ deployTimestamp: GENESIS_TIME }), error: '20 Invalid expire timestamp' },
})

table('proposeRetireProgram', {
  'a list too long wins over all': {
    by: 12,
    message: { preservedValidators: 'x'.repeat(9217) },
    error: /^20 Invalid parameter: preservedValidators: /,
  },
  'an empty list': {
    message: { preservedValidators: '', retiredBlockHeight: 1 },
    error: /^20 Invalid parameter: preservedValidators: /,
  },
  'not a key': {
    message: { preservedValidators: `${keyText(1)},${'x'.repeat(61)}`, retiredBlockHeight: 1 },
    error: `20 Invalid parameter: preservedValidators: expected base64 of 32 bytes, got "${'x'.repeat(60)}"`,
  },
  'a blank after the comma': {
    message: { preservedValidators: `${keyText(1)}, ${keyText(2)}` },
    error: /^20 Invalid parameter: preservedValidators: /,
  },
  'a comma at the end': {
    message: { preservedValidators: `${keyText(1)},` },
    error: /^20 Invalid parameter: preservedValidators: /,
  },
  'a key twice': {
    message: { preservedValidators: `${keyText(1)},${keyText(1)}` },
    error: /^20 Invalid parameter: preservedValidators: .* named twice$/,
  },
  "nobody's key": {
    message: { preservedValidators: `${keyText(1)},${keyText(9)}` },
    error: /^20 Invalid parameter: preservedValidators: .* not the key of an eligible candidacy$/,
  },
  'a height not ahead': { message: retire([1], { retiredBlockHeight: 2 }), error: '20 Invalid expire block height' },
})

table('proposeUpgradeProgram', {
  'no name': { message: deploy({ name: '', version: '1' }), error: '20 Insufficient parameters' },
  'a version not in its form': {
    message: deploy({ version: 'v1', fileUrl: '' }),
    error: '20 Invalid ENI lib name or version',
  },
  'a fileUrl that is none': {
    message: deploy({ fileUrl: '[]', md5: '' }),
    error: '20 The fileurl is not a valid json',
  },
  'an md5 that is none': { message: deploy({ md5: '{}' }), error: '20 The md5 is not a valid json' },
  'well-formed': { message: deploy(), error: '4 proposeUpgradeProgram is not implemented' },
  'well-formed, with a height behind': {
    message: deploy({ upgradeBlockHeight: 0 }),
    error: '4 proposeUpgradeProgram is not implemented',
  },
})

table('proposeTransferFund', {
  'an address of 19 bytes wins over all': {
    by: 12,
    message: { ...fund(account(1), account(2), 0n), transferFrom: new Uint8Array(19) },
    error: /^20 Invalid parameter: transferFrom: /,
  },
  'an amount above 10^36': {
    by: 12,
    message: fund(account(1), account(2), 10n ** 36n + 1n),
    error: /^20 Invalid parameter: amount: /,
  },
  "somebody else's balance": {
    message: fund(account(2), account(3), 0n, both),
    error: /^20 Invalid parameter: transferFrom: /,
  },
  nothing: { message: fund(account(1), account(2), 0n, both), error: /^20 Invalid parameter: amount: / },
  'more than the proposer has': {
    message: fund(account(1), account(2), tokens(1000) + 1n, both),
    error: '20 Insufficient balance',
  },
  'more than the hold account has': { message: fund(HOLD, account(2), 1n, both), error: '20 Insufficient balance' },
  'both points': { message: fund(account(1), account(2), 1n, both), error: '20 Provide one expiration at most' },
  'all, with nothing left for the fee': {
    message: fund(account(1), account(2), tokens(1000) - FEE + 1n),
    error: '20 Insufficient balance',
  },
})

table('vote', {
  'an id of 31 bytes wins over all': {
    by: 12,
    message: { proposalId: new Uint8Array(31), answer: '?' },
    error: /^20 Invalid parameter: proposalId: /,
  },
  'an unknown proposal': {
    message: { proposalId: new Uint8Array(32), answer: '?' },
    error: '20 Invalid parameter: unknown proposal',
  },
})

const outsiders = Object.entries({
  proposeChangeParam: change({ name: 'no', ...both }),
  proposeDeployLibEni: deploy({ name: '' }),
  proposeRetireProgram: { preservedValidators: '' },
  proposeUpgradeProgram: deploy({ name: '' }),
  proposeTransferFund: fund(account(5), account(2), 0n),
  vote: { proposalId: new Uint8Array(32), answer: '?' },
})
test.each(outsiders)('%s of a sender outside the set is refused before its other rules', (operation, message) => {
  expect(refusal(govChain([60, 30, 10]), 12, operation, message)).toBe('20 Invalid validator')
})

test('vote: a bad answer wins over a resolved proposal, which wins over the balance', () => {
  const chain = new TestChain()
  const genesis = genesisOf([60, 30, 10])
  chain.init({
    ...genesis,
    accounts: [
      { address: account(1).address, balance: tokens(1) },
      { address: account(2).address, balance: FEE },
    ],
  })
  const endings: [string, () => string][] = [
    [
      'The proposal has been approved',
      () => {
        const id = proposed(chain, account(1), 'proposeChangeParam', change({ name: 'max_vals', value: '9' }))
        voted(chain, account(1), id)
        chain.deliver(account(2), 'vote', voteOf(id)) // the fee is all it has: from here on it has nothing
        return id
      },
    ],
    [
      'The proposal has been expired',
      () => {
        const id = proposed(chain, account(1), 'proposeChangeParam', change({ expireBlockHeight: chain.height + 2 }))
        chain.block()
        return id
      },
    ],
  ]
  for (const [log, make] of endings) {
    const id = make()
    for (const answer of ['', 'y', 'N ', 'YES', 'Ｙ']) {
      expect(refusal(chain, 2, 'vote', voteOf(id, answer))).toBe('20 Invalid parameter: answer must be Y or N')
    }
    expect(refusal(chain, 3, 'vote', voteOf(id))).toBe(`20 ${log}`)
  }
  const open = proposed(chain, account(1), 'proposeChangeParam', change())
  expect(refusal(chain, 3, 'vote', voteOf(open))).toBe('20 Insufficient balance')
})

test('vote: a rejected proposal takes no vote', () => {
  const chain = govChain([70, 30])
  const id = proposed(chain, account(1), 'proposeChangeParam', change())
  voted(chain, account(1), id, 'N')
  expect(refusal(chain, 2, 'vote', voteOf(id))).toBe('20 The proposal has been rejected')
})

test('an account that pays a proposal is named with what it lacks', () => {
  const chain = govChain([100])
  expect(lacking(chain, account(1), 'proposeTransferFund', fund(HOLD, account(2), 7n))).toBe(
    `${HOLD.address} needs 7 (fee 0), has 0`,
  )
})

test('a balance of the fee is enough, one unit less is Insufficient balance', () => {
  const chain = new TestChain()
  chain.init({
    ...genesisOf([50, 50]),
    accounts: [
      { address: account(1).address, balance: FEE },
      { address: account(2).address, balance: FEE - 1n },
    ],
  })
  chain.block()
  expect(refusal(chain, 2, 'proposeChangeParam', change())).toBe('20 Insufficient balance')
  expect(chain.deliver(account(1), 'proposeChangeParam', change()).code).toBe(0)
})

test('deploy: an ongoing library wins over a bad fileUrl, and a version not above the deployed one over both', () => {
  const chain = govChain([100])
  const first = proposed(chain, account(1), 'proposeDeployLibEni', deploy({ deployBlockHeight: chain.height + 3 }))
  expect(refusal(chain, 1, 'proposeDeployLibEni', deploy({ version: 'v0.0.1', fileUrl: '' }))).toBe(
    '20 One or more ongoing proposals with the same lib name',
  )
  voted(chain, account(1), first)
  chain.block()
  const second = deploy({ version: 'v1.0.1' })
  expect(chain.deliver(account(1), 'proposeDeployLibEni', second).code).toBe(0)
  expect(refusal(chain, 1, 'proposeDeployLibEni', deploy({ version: 'v1.0.0', fileUrl: '' }))).toBe(
    '20 Invalid ENI lib name or version',
  )
  expect(refusal(chain, 1, 'proposeDeployLibEni', deploy({ version: 'v1.0.1', fileUrl: '' }))).toBe(
    '20 One or more ongoing proposals with the same lib name',
  )
})

test('deploy: an OS without a file is refused in CheckTx by the node of that OS, and never in a block', () => {
  const chain = govChain([100])
  const message = deploy({ fileUrl: '{"centos":["http://a"]}', md5: `{"centos":"${'A0'.repeat(16)}"}` })
  const { code, log } = chain.check(chain.tx(account(1), 'proposeDeployLibEni', message))
  seen.add(log ?? '')
  expect(`${code} ${log}`).toBe('20 Can not find fileurl for current os')
  // It stands behind the md5, and before the expiry rules.
  expect(chain.check(chain.tx(account(1), 'proposeDeployLibEni', { ...message, md5: '{}' })).log).toBe(
    'The md5 is not a valid json',
  )
  expect(chain.check(chain.tx(account(1), 'proposeDeployLibEni', { ...message, deployBlockHeight: 0 })).log).toBe(log)
  expect(chain.deliver(account(1), 'proposeDeployLibEni', message).code).toBe(0)
  const elsewhere = govChain([100], {}, { app: { node: { os: 'centos' } } })
  expect(elsewhere.check(elsewhere.tx(account(1), 'proposeDeployLibEni', message)).code).toBe(0)
})

test('retire: a standing one, open or approved, wins over the list', () => {
  const chain = govChain([100])
  const id = proposed(chain, account(1), 'proposeRetireProgram', retire([1], { retiredBlockHeight: chain.height + 10 }))
  expect(refusal(chain, 1, 'proposeRetireProgram', { preservedValidators: '' })).toBe(
    '20 Found unresolved or approved retiring proposal',
  )
  voted(chain, account(1), id)
  expect(refusal(chain, 1, 'proposeRetireProgram', { preservedValidators: '' })).toBe(
    '20 Found unresolved or approved retiring proposal',
  )
})

test('20 open proposals of one candidacy, whoever owns it, are the most; a resolved one makes room', () => {
  const chain = govChain([40, 60])
  const nonce = chain.nonceOf(account(1))
  const txs = Array.from({ length: 21 }, (_, at) =>
    chain.tx(account(1), 'proposeChangeParam', change({ expireBlockHeight: at === 0 ? 4 : 1000 }), nonce + at),
  )
  const { results } = chain.block({ txs })
  expect(results.map(({ code }) => code)).toEqual([...new Array<number>(20).fill(0), 20])
  expect(results[20]?.log).toBe('Too many open proposals')
  expect(refusal(chain, 1, 'proposeChangeParam', change())).toBe('20 Too many open proposals') // the first is still open
  chain.block()
  expect(chain.deliver(account(2), 'proposeChangeParam', change()).code).toBe(0)
  expect(chain.deliver(account(1), 'proposeChangeParam', change()).code).toBe(0) // block 5: the first expired in 4
  expect(refusal(chain, 1, 'proposeChangeParam', change())).toBe('20 Too many open proposals')
})

test.each([
  [1, 1],
  [19, 1],
  [20, 2],
  [200, 20],
  [5000, 20],
])('a candidacy with %i of 10,000 of the power may have %i open proposals', (power, most) => {
  const chain = govChain([power, 10_000 - power])
  const txs = Array.from({ length: 21 }, (_, at) => chain.tx(account(1), 'proposeChangeParam', change(), at))
  const { results } = chain.block({ txs })
  expect(results.map(({ code }) => code)).toEqual([
    ...new Array<number>(most).fill(0),
    ...new Array<number>(21 - most).fill(20),
  ])
  expect(refusal(chain, 1, 'proposeChangeParam', change())).toBe('20 Too many open proposals')
})

test('a candidacy whose only key in the set is not proven may vote, but not propose', () => {
  const chain = govChain([40, 60])
  const id = proposed(chain, account(1), 'proposeChangeParam', change())
  const declared = { pubKey: nodeKey(5), maxAmount: tokens(100).toString() }
  expect(chain.deliver(account(5), 'declareCandidacy', declared).code).toBe(0)
  const proposals = {
    proposeChangeParam: change(),
    proposeDeployLibEni: deploy(),
    proposeRetireProgram: retire([1]),
    proposeTransferFund: fund(account(5), account(6), 1n),
    proposeUpgradeProgram: deploy(),
  }
  const txs = Object.entries(proposals).map(([operation, message], at) =>
    chain.tx(account(5), operation, message, 1 + at),
  )
  expect(new Set(chain.block({ txs }).results.map(({ log }) => log))).toEqual(new Set(['Invalid validator']))
  expect(chain.deliver(account(5), 'vote', voteOf(id)).code).toBe(0)
  chain.advanceTo(chain.height + 3)
  expect(chain.deliver(account(5), 'proposeChangeParam', change()).code).toBe(0)
})

test('a candidacy that changes its key may propose while the proven one is still in the set', () => {
  const chain = govChain([100])
  expect(chain.deliver(account(1), 'updateCandidacy', { pubKey: nodeKey(9) }).code).toBe(0)
  expect(chain.deliver(account(1), 'proposeChangeParam', change()).code).toBe(0)
})

test('strangers without a node cannot take the places for proposals: ten candidacies of one token propose nothing', () => {
  const chain = govChain([1000, 1000])
  const token = tokens(1).toString()
  const numbers = Array.from({ length: 10 }, (_, at) => at + 3)
  chain.block({
    txs: numbers.map((number) =>
      chain.tx(account(number), 'declareCandidacy', { pubKey: nodeKey(number), maxAmount: tokens(10).toString() }),
    ),
  })
  expect(chain.query(`/stake/validator/${account(3).address}`)).toMatchObject({ state: 'Validator', shares: token })
  const { results } = chain.block({
    txs: numbers.flatMap((number) =>
      Array.from({ length: 20 }, (_, at) => chain.tx(account(number), 'proposeChangeParam', change(), at + 1)),
    ),
    absent: numbers.map((number) => key(number)),
  })
  expect(new Set(results.map(({ log }) => log))).toEqual(new Set(['Invalid validator']))
  expect(chain.deliver(account(1), 'proposeChangeParam', change()).code).toBe(0)
})

test('2,000 open proposals of the chain are the most', () => {
  // A candidacy that is declared again, with the same proven key, has places of its own.
  const chain = govChain(new Array<number>(50).fill(10))
  const nonces = new Map<number, number>()
  const tx = (number: number, operation: string, message: object): Uint8Array => {
    const nonce = nonces.get(number) ?? 0
    nonces.set(number, nonce + 1)
    return chain.tx(account(number), operation, { ...message }, nonce)
  }
  const all = Array.from({ length: 50 }, (_, at) => at + 1)
  const round = (): readonly Uint8Array[] =>
    all.flatMap((number) => Array.from({ length: 20 }, () => tx(number, 'proposeChangeParam', change())))
  const isDone = (txs: readonly Uint8Array[]): boolean => chain.block({ txs }).results.every(({ code }) => code === 0)
  expect(isDone(round())).toBe(true)
  expect(
    isDone(
      all.flatMap((number) => [
        tx(number, 'withdrawCandidacy', {}),
        tx(number, 'declareCandidacy', { pubKey: nodeKey(number), maxAmount: tokens(100).toString() }),
      ]),
    ),
  ).toBe(true)
  expect(isDone(round().slice(0, 999))).toBe(true)
  nonces.set(50, chain.nonceOf(account(50)))
  expect(isDone([tx(50, 'proposeChangeParam', change())])).toBe(true)
  expect(
    isDone([
      tx(1, 'withdrawCandidacy', {}),
      tx(1, 'declareCandidacy', { pubKey: nodeKey(1), maxAmount: tokens(100).toString() }),
    ]),
  ).toBe(true)
  expect(refusal(chain, 1, 'proposeChangeParam', change())).toBe('20 Too many open proposals')
})

afterAll(() => {
  const never = Object.entries(governanceErrors)
    .filter(([, { log }]) => !seen.has(log))
    .map(([name]) => name)
  if (never.length > 0) throw new Error(`errors of the catalogue that no test met: ${never.join(', ')}`)
})
