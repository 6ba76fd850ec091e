import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { toBase64, toHex } from '../../src/base/bytes.ts'
import { Svc, type SvcProofError, type SvcVerified } from '../../src/client/index.ts'
import { txEntryOf } from '../../src/modules/registry.ts'
import { readFields } from '../../src/tx/fields.ts'
import { account, GENESIS_TIME, nodeKey, TestChain, tokens } from '../support/testChain.ts'

type Json = Record<string, unknown>

const GATEWAY = 'http://127.0.0.1:1/'
const LIGHT = 'http://127.0.0.1:2/'
const owner = account(1).address
const nobody = `0x${'0'.repeat(39)}1`

/**
 * The chain, and what stands between it and the client: a test bends what is answered, or what the light client says.
 */
let chain: TestChain
let roots: string[] = []
let bend: (method: string, answer: Json) => unknown = (_method, answer) => answer

function block(txs: readonly Uint8Array[] = []): void {
  roots.push(toHex(chain.block({ txs }).response.appHash as Uint8Array).toUpperCase())
}

/** When the client looks at its clock: seconds of Unix time. */
let now = GENESIS_TIME + 10
beforeEach(() => {
  now = GENESIS_TIME + 10
  jest.spyOn(Date, 'now').mockImplementation(() => now * 1000)
  chain = new TestChain()
  roots = []
  chain.init({
    accounts: [
      { address: owner, balance: tokens(500) },
      { address: account(2).address, balance: tokens(500) },
    ],
    candidacies: [1, 2, 3].map((at) => ({ owner: account(at), key: nodeKey(at), shares: tokens(100 * at) })),
  })
  block()
  block()
  bend = (_method, answer) => answer
})

function getProof([table, key]: readonly [string, string]): Json {
  const isOwner = table === 'candidacies' && key.startsWith('0x')
  const id = isOwner ? chain.query(`/stake/candidacy-id/${key}`) : key
  const {
    height = 0,
    key: stateKey,
    value,
    proofOps,
  } = chain.abciQuery(`/store/${table}${key === '' ? '' : `/${id}`}`, 0, true)
  const text = (bytes: Uint8Array | undefined): string => toBase64(bytes ?? new Uint8Array(0))
  return { height, key: text(stateKey), value: text(value), proof: text(proofOps?.ops?.[0]?.data) }
}

/** The header of a height: the app hash of the block before. */
const commitOf = (height: number): Json => ({
  signed_header: {
    header: {
      chain_id: 'test-chain',
      height: String(height),
      time: new Date((GENESIS_TIME + height) * 1000).toISOString(),
      app_hash: roots[height - 2],
    },
    commit: { block_id: { hash: String(height).padStart(64, 'A') } },
  },
})

const queryDelegator = ([address]: readonly string[]): Json => ({
  height: chain.height,
  data: chain.query(`/stake/delegator/${address}`),
})

/** The gateway, and a light client whose node has one header more each time that its status is asked. */
function answerOf(url: string, method: string, params: never): unknown {
  if (method === 'svc_queryDelegator') return bend(method, queryDelegator(params))
  if (url === GATEWAY) return bend(method, getProof(params))
  if (method === 'status') block()
  return method === 'status'
    ? { sync_info: { latest_block_height: String(chain.height) } }
    : bend(method, commitOf(Number((params as { height: string }).height)))
}

interface Asked {
  readonly id: number
  readonly method: string
  readonly params: never
}

const fakeFetch = (async (url: string, { body, signal }: { body: string; signal?: AbortSignal }) => {
  signal?.throwIfAborted()
  const reply = ({ id, method, params }: Asked): Json => {
    const result = answerOf(url, method, params)
    const answer =
      result instanceof Error
        ? { error: { code: -32603, message: 'Internal error', data: result.message } }
        : { result }
    return { jsonrpc: '2.0', id, ...answer }
  }
  const asked = JSON.parse(body) as Asked | readonly Asked[]
  return new Response(JSON.stringify('method' in asked ? reply(asked) : asked.map(reply)))
}) as unknown as typeof fetch

const svc = new Svc({ url: GATEWAY, light: LIGHT, fetch: fakeFetch })
const refusal = (asked: Promise<unknown>): Promise<[string, string]> =>
  asked.then(
    (row) => ['verified', JSON.stringify(row)],
    ({ name, message }: SvcProofError) => [name, message],
  )
const refuses = async (asked: Promise<unknown>, why: string | RegExp): Promise<void> =>
  expect(await refusal(asked)).toEqual(['SvcProofError', typeof why === 'string' ? why : expect.stringMatching(why)])

afterAll(() => {
  jest.restoreAllMocks()
})

describe('svc.verified', () => {
  test('a candidacy by its owner, against the header after its block', async () => {
    const { shares } = chain.query(`/stake/validator/${owner}`) as { shares: string }
    const row = await svc.verified.stake.validator.query(owner)
    expect(row).toEqual({
      verified: true,
      height: 2,
      table: 'candidacies',
      header: {
        chain_id: 'test-chain',
        height: 3,
        time: new Date((GENESIS_TIME + 3) * 1000).toISOString(),
        hash: '3'.padStart(64, 'A'),
        app_hash: roots[1],
      },
      data: expect.objectContaining({
        id: 1,
        owner_address: owner,
        pub_key: toBase64(nodeKey(1)),
        shares,
        active: true,
        withdrawn: false,
      }),
    })
  })

  test('an account, a proposal that is not there, any row, and that there is none', async () => {
    const { data } = await svc.verified.getBalance(owner)
    expect(data).toEqual({
      address: owner,
      balance: (chain.query(`/accounts/${owner}`) as { balance: string }).balance,
      nonce: 0,
    })
    expect((await svc.verified.getTransactionCount(owner)).data).toEqual(data)
    expect((await svc.verified.getBalance(nobody)).data).toBeNull()
    expect((await svc.verified.governance.queryProposal(toBase64(new Uint8Array(32).fill(0xfb)))).data).toBeNull()
    expect((await svc.verified.getProof('candidacies', '3')).data).toMatchObject({
      id: 3,
      owner_address: account(3).address,
    })
    expect((await svc.verified.getProof('validator_set', toBase64(nodeKey(2)))).data).toMatchObject({
      candidacy_id: 2,
      power: 200,
    })
    expect((await svc.verified.getProof('chain')).data).toMatchObject({ chain_id: 'test-chain', initial_height: 1 })
  })

  test('a header that is older than five minutes, or than maxAgeMs, is refused', async () => {
    const headerTime = GENESIS_TIME + 3
    let time: unknown = new Date(headerTime * 1000).toISOString()
    bend = (method, answer) => {
      const { signed_header: signed } = answer as { signed_header: { header: Json } }
      return method === 'commit' ? { signed_header: { ...signed, header: { ...signed.header, time } } } : answer
    }
    now = headerTime + 300
    expect(await svc.verified.getBalance(owner)).toMatchObject({ verified: true, header: { time } })
    now = headerTime + 301
    await refuses(
      svc.verified.getBalance(owner),
      /^not verified: the header of block \d+ is of \S+Z, 301 s ago: older than the 300 s of maxAgeMs$/,
    )
    expect(await svc.verified.getBalance(owner, { maxAgeMs: 301_000 })).toMatchObject({ verified: true })
    expect(await svc.verified.stake.validator.query(owner, { maxAgeMs: Infinity })).toMatchObject({ verified: true })
    for (const maxAgeMs of [0, 300_999, Number.NaN]) {
      expect((await refusal(svc.verified.getBalance(owner, { maxAgeMs })))[0]).toBe('SvcProofError')
    }
    time = 'long ago'
    await refuses(svc.verified.getBalance(owner, { maxAgeMs: Infinity }), /is of long ago, which is no time/)
  })

  test('a header of another chain than that of the client proves nothing', async () => {
    const of = (chainId: string) => new Svc({ url: GATEWAY, light: LIGHT, fetch: fakeFetch, chainId }).verified
    expect((await of('test-chain').getBalance(owner)).verified).toBe(true)
    await refuses(of('another').getBalance(owner), 'not verified: the header is of the chain test-chain')
  })

  test.each([
    ['balance', (verified: SvcVerified) => verified.getBalance(owner)],
    ['delegator', (verified: SvcVerified) => verified.stake.delegator.query(owner)],
  ])('of a %s, without a light client nothing is answered, and nobody is asked', async (_name, ask) => {
    const asked = jest.fn(fakeFetch)
    await refuses(
      ask(new Svc({ url: GATEWAY, fetch: asked }).verified),
      'not verified: there is no light client to ask: new Svc({ url, light })',
    )
    expect(asked).not.toHaveBeenCalled()
  })

  test.each([3e9, Infinity])('with a timeoutMs of %d it waits as long as a timer can', async (timeoutMs) => {
    let tries = 0
    bend = (method, answer) => (method === 'commit' && ++tries < 3 ? new Error('height requested is too high') : answer)
    expect(await svc.verified.getBalance(owner, { timeoutMs, maxAgeMs: Infinity })).toMatchObject({ verified: true })
  })

  test('an abort ends the waiting with its reason', async () => {
    bend = (method) => (method === 'commit' ? new Error('height requested is too high') : getProof(['accounts', owner]))
    await expect(svc.verified.getBalance(owner, { signal: AbortSignal.timeout(300) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })
})

describe('svc.verified.stake.delegator.query', () => {
  const delegator = account(2).address
  const operation = (name: string, given: Json): Uint8Array =>
    chain.tx(account(2), name, readFields(txEntryOf.get(name)?.input ?? {}, given) as Json)
  beforeEach(() => {
    block([operation('delegate', { validatorAddress: owner, amount: String(tokens(7)) })])
    block([operation('delegate', { validatorAddress: account(3).address, amount: String(tokens(5)) })])
    block([operation('withdraw', { validatorAddress: owner, amount: String(tokens(2)) })])
  })
  const list = (change: (entries: readonly Json[]) => readonly Json[]): void => {
    bend = (method, answer) =>
      method === 'svc_queryDelegator' ? { ...answer, data: change(answer['data'] as readonly Json[]) } : answer
  }

  test('proves each delegation by its row and that of its candidacy, and computes the shares from them', async () => {
    const said = chain.query(`/stake/delegator/${delegator}`) as readonly Json[]
    const height = chain.height
    const proven = await svc.verified.stake.delegator.query(delegator)
    expect(proven.map((one) => [one.validator_address, one.shares])).toEqual(
      said.map((one) => [one['validator_address'], one['shares']]),
    )
    expect(proven[0]).toEqual({
      verified: true,
      height,
      header: expect.objectContaining({ height: height + 1, app_hash: roots[height - 1] }),
      delegator_address: delegator,
      validator_address: owner,
      shares: expect.stringMatching(/^50000\d{14}$/),
      delegation: expect.objectContaining({
        candidacy_id: 1,
        pool: 0,
        delegator,
        delegate_amount: String(tokens(7)),
        withdraw_amount: String(tokens(2)),
      }),
      candidacy: expect.objectContaining({ id: 1, owner_address: owner, delegators: 1 }),
    })
    expect(await svc.verified.stake.delegator.query(nobody)).toEqual([])
  })

  test('where only something unbonds it is proven that there is no delegation', async () => {
    block([operation('withdraw', { validatorAddress: owner, completelyWithdraw: 'Y' })])
    const [first] = await svc.verified.stake.delegator.query(delegator)
    expect(first).toMatchObject({ validator_address: owner, shares: '0', delegation: null, candidacy: { id: 1 } })
  })

  test('asks again when a block comes in between, and gives up when that never ends', async () => {
    let asked = 0
    bend = (method, answer) => {
      if (method === 'svc_queryDelegator' && ++asked === 2) block()
      return answer
    }
    expect(await svc.verified.stake.delegator.query(delegator)).toHaveLength(2)
    expect(asked).toBe(3)
    bend = (method, answer) => {
      if (method === 'svc_queryDelegator') block()
      return answer
    }
    await refuses(
      svc.verified.stake.delegator.query(delegator),
      "not verified: the gateway's answers are of different heights, 20 times in turn",
    )
  })

  test('a pool that ends in between is asked for anew', async () => {
    let asked = 0
    bend = (method, answer) => {
      // Between the two questions for the candidacies.
      if (method === 'svc_getProof' && ++asked === 2) block([operation('withdraw', everything), end])
      return answer
    }
    const everything = { validatorAddress: account(3).address, completelyWithdraw: 'Y' }
    const end = chain.tx(account(3), 'withdrawCandidacy', {})
    const [, second] = await svc.verified.stake.delegator.query(delegator)
    expect(second).toMatchObject({ shares: '0', delegation: null, candidacy: { id: 3, withdrawn: true } })
  })

  test('as many as one batch takes are of one head, and the next ones of another', async () => {
    const many = Array.from({ length: 25 }, (_, at) => at + 1)
    chain = new TestChain()
    roots = []
    chain.init({
      accounts: [{ address: delegator, balance: tokens(500) }],
      candidacies: many.map((at) => ({ owner: account(10 + at), key: nodeKey(at), shares: tokens(100) })),
    })
    block()
    for (const at of many)
      block([operation('delegate', { validatorAddress: account(10 + at).address, amount: String(tokens(at)) })])
    const proven = await svc.verified.stake.delegator.query(delegator, { maxAgeMs: Infinity })
    expect(proven.map((one) => one.delegation?.['delegate_amount'])).toEqual(many.map((at) => String(tokens(at))))
    const heights = proven.map(({ height }) => height)
    expect(new Set(heights.slice(0, 24)).size).toBe(1)
    expect(heights[24]).toBeGreaterThan(heights[23] as number)
  })

  test.each<[string, (entries: readonly Json[]) => readonly Json[], RegExp]>([
    [
      'more shares than there are',
      ([first, ...rest]) => [{ ...first, shares: String(tokens(6)) }, ...rest],
      /the gateway says 6000000000000000000 for what is staked with 0x\w+; by the state it is 50000/,
    ],
    [
      'a delegation that is none',
      (entries) => [...entries, { ...entries[0], validator_address: delegator }],
      /the gateway says 50000\d+ for what is staked with 0x\w+; by the state it is 0/,
    ],
  ])('a gateway that tells %s is refused', async (_name, change, reason) => {
    list(change)
    await refuses(svc.verified.stake.delegator.query(delegator), reason)
  })

  test('a delegation that is listed twice is answered once', async () => {
    list((entries) => [...entries, ...entries])
    expect(await svc.verified.stake.delegator.query(delegator)).toHaveLength(2)
  })

  test.each<[string, string, (answer: Json) => unknown, RegExp]>([
    ['no list', 'svc_queryDelegator', () => ({ height: 1 }), /is no list of delegations/],
    ['no list at all', 'svc_queryDelegator', () => null, /is no list of delegations/],
    ['a list of nothing', 'svc_queryDelegator', () => ({ height: 1, data: [null] }), /is no list of delegations/],
    ['another row', 'svc_getProof', () => getProof(['accounts', owner]), /is no candidacy/],
    [
      'the delegation of somebody else',
      'svc_getProof',
      (answer) => (answer['key'] === getProof(['delegations', `1/0/${delegator}`])['key'] ? other() : answer),
      /about another row/,
    ],
    [
      'a delegation as absent',
      'svc_getProof',
      (answer) =>
        answer['key'] === getProof(['delegations', `1/0/${delegator}`])['key'] ? { ...answer, value: '' } : answer,
      /does not say that the row is absent/,
    ],
  ])('a gateway that answers with %s is refused', async (_name, asked, change, reason) => {
    bend = (method, answer) => (method === asked ? change(answer) : answer)
    await refuses(svc.verified.stake.delegator.query(delegator), reason)
  })
  const other = (): Json => getProof(['delegations', `3/0/${delegator}`])

  test('an abort ends the waiting for a gateway that does not answer', async () => {
    const silent = (async (url: string, init: { body: string }) =>
      init.body.startsWith('[') ? new Promise<never>(() => undefined) : fakeFetch(url, init as never)) as typeof fetch
    const { stake } = new Svc({ url: GATEWAY, light: LIGHT, fetch: silent }).verified
    await expect(stake.delegator.query(delegator, { signal: AbortSignal.timeout(300) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })
})

describe('what is refused', () => {
  const changed = (answer: Json, member: string, at: number): Json => {
    const bytes = Buffer.from(answer[member] as string, 'base64')
    bytes[at] = (bytes[at] as number) ^ 0x10
    return { ...answer, [member]: bytes.toString('base64') }
  }
  const gateway = (change: (answer: Json) => Json): void => {
    bend = (method, answer) => (method === 'svc_getProof' ? change(answer) : answer)
  }
  const light = (change: (answer: Json) => unknown): void => {
    bend = (method, answer) => (method === 'commit' ? change(answer) : answer)
  }

  test('any changed byte of the key, the value or the proof', async () => {
    const { key, value, proof } = getProof(['accounts', owner]) as Record<string, string>
    for (const [member, text] of [
      ['key', key],
      ['value', value],
      ['proof', proof],
    ] as const) {
      const length = Buffer.from(text as string, 'base64').length
      for (let at = 0; at < length; at += 1) {
        gateway((answer) => changed(answer, member, at))
        expect([member, at, (await refusal(svc.verified.getBalance(owner)))[0]]).toEqual([member, at, 'SvcProofError'])
      }
    }
  })

  test.each<[string, (answer: Json) => Json, RegExp]>([
    ['another height', (answer) => ({ ...answer, height: 1 }), /another app hash \(height 1, header 2\)/],
    ['a row taken away', (answer) => ({ ...answer, value: '' }), /does not say that the row is absent/],
    ['the row of somebody else', () => getProof(['accounts', account(2).address]), /about another row/],
    [
      'an absence as a row',
      () => ({ ...getProof(['accounts', nobody]), key: getProof(['accounts', owner])['key'], value: 'CgEx' }),
      /row exists/,
    ],
    ['no height', ({ height: _height, ...rest }) => rest, /no height/],
    ['no proof', ({ proof: _proof, ...rest }) => rest, /no bytes in proof/],
    ['an empty proof', (answer) => ({ ...answer, proof: '' }), /does not say that the row exists/],
    ['base64 that nobody writes', (answer) => ({ ...answer, value: 'A===' }), /no bytes in value/],
  ])('of the gateway: %s', async (_name, change, reason) => {
    gateway(change)
    await refuses(svc.verified.getBalance(owner), reason)
  })

  test('of the gateway: a candidacy of another owner, another table, and an owner without one', async () => {
    gateway(() => getProof(['candidacies', '2']))
    await refuses(
      svc.verified.stake.validator.query(owner),
      `not verified: the row that the gateway found is owned by ${account(2).address}`,
    )
    for (const other of [
      ['absences', '1'],
      ['candidacies', '99'],
      ['accounts', owner],
    ] as const) {
      gateway(() => getProof(other))
      await refuses(svc.verified.stake.validator.query(owner), /is no candidacy of/)
    }
  })

  test('the number of a candidacy is no owner', async () => {
    gateway(() => getProof(['candidacies', '2']))
    await refuses(svc.verified.stake.validator.query('2'), /there can be no row "owner 2"/)
  })

  test('what can be no row, whatever the gateway says of it', async () => {
    gateway(() => getProof(['totals', '']))
    await refuses(svc.verified.getProof('secrets', '1'), 'not verified: there can be no row "1" in the table "secrets"')
  })

  test.each<[string, (answer: Json) => unknown, RegExp]>([
    [
      'does not verify',
      () => new Error('invalid header: wrong hash'),
      /no verified header of block 3: invalid header: wrong hash/,
    ],
    ['answers with another header', () => commitOf(2), /does not answer with the header of block 3/],
    ['answers with no header', () => ({}), /does not answer with the header of block 3/],
  ])('when the light client %s', async (_name, change, reason) => {
    light(change)
    await refuses(svc.verified.getBalance(owner), reason)
  })

  test('when the header has another app hash, when it never comes, when the light client is away', async () => {
    light((answer) => {
      const { signed_header } = answer as { signed_header: { header: Json } }
      return { signed_header: { ...signed_header, header: { ...signed_header.header, app_hash: 'AB'.repeat(32) } } }
    })
    await refuses(svc.verified.getBalance(owner), /leads to another app hash/)
    light(() => new Error('failed to update light client to 3: height requested is too high'))
    await refuses(svc.verified.getBalance(owner, { timeoutMs: 20 }), /has no header of block \d+ after 20 ms$/)
    const away = (async (url: string, init: never) => {
      if (url === LIGHT) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
      return fakeFetch(url, init)
    }) as typeof fetch
    await refuses(
      new Svc({ url: GATEWAY, light: LIGHT, fetch: away }).verified.getBalance(owner),
      `not verified: the light client at ${LIGHT} does not answer: ECONNREFUSED`,
    )
  })
})
