import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { Svc, type SvcProofError, type VerifiedDelegation } from '../../src/client/index.ts'
import { findCometBft } from '../../src/comet/find.ts'
import { type LightProxy, startLightProxy } from '../../src/comet/light.ts'
import { type Gateway, startGateway } from '../../src/gateway/gateway.ts'
import { type Between, standBetween } from './support/bending.ts'
import { gatewayClient } from './support/client.ts'
import { type Devnet, type Ended, makePlace, startDevnet, svcd } from './support/devnet.ts'
import { silentLogger } from './support/gateways.ts'
import { startLight } from './support/light.ts'
import { testFolder } from './support/testFolder.ts'

const nobody = `0x${'0'.repeat(39)}1`
const folder = testFolder(async () => {
  await Promise.all([gateway.close(), node.close()])
  await net.stop()
})
let net: Devnet
let owner = ''
let delegator = ''
let gateway: Between
let node: Between
let trusted: { readonly height: number; readonly hash: string }

beforeAll(async () => {
  net = await startDevnet(await makePlace(join(folder, 'chain')), ['--os', 'ubuntu'])
  ;[owner = '', delegator = ''] = await net.call<string[]>('svc_accounts')
  gateway = await standBetween(net.url)
  node = await standBetween(net.node.url)
  await net.commit('svc_delegate', { from: delegator, validatorAddress: owner, amount: String(10n ** 19n) })
  await net.waitForHeight(3)
  trusted = await net.node.block(2)
})

beforeEach(() => {
  gateway.bend = node.bend = undefined
})

type Json = Readonly<Record<string, never>>
const result = (answer: object): Record<string, unknown> => (answer as { result: Record<string, unknown> }).result

/** The gateway's answer with one bit of a member changed. */
const flip =
  (member: string, at: number) =>
  (method: string, answer: object): void => {
    if (method !== 'svc_getProof') return
    const bytes = Buffer.from(result(answer)[member] as string, 'base64')
    const place = (at + bytes.length) % bytes.length
    bytes[place] = (bytes[place] as number) ^ 1
    result(answer)[member] = bytes.toString('base64')
  }

/** One base unit more than is staked, as a gateway tells it. */
const tellMore = (method: string, answer: object): void => {
  if (method !== 'svc_queryDelegator') return
  const [entry] = result(answer)['data'] as [Record<string, string>]
  entry['shares'] = String(BigInt(entry['shares'] as string) + 1n)
}

/** A header whose app hash somebody changed, as a node hands it out. */
const forge = (method: string, answer: object): void => {
  if (method !== 'commit') return
  const { header } = result(answer)['signed_header'] as { header: Record<string, string> }
  const appHash = header['app_hash'] as string
  header['app_hash'] = (appHash.startsWith('0') ? '1' : '0') + appHash.slice(1)
}

describe('svcd query --prove', () => {
  const home = join(folder, 'light')
  const trust = (): readonly string[] => ['--trust-height', String(trusted.height), '--trust-hash', trusted.hash]
  const query = (words: readonly string[], from = home): Promise<Ended> =>
    svcd(['query', ...words, '--prove', '--home', from, '--gateway', gateway.url, '--node', node.url, '--json'])

  test('does not begin without a header to trust, nor with a wrong one', async () => {
    expect(await query(['balance', owner])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/no header of this chain is trusted yet.*--trust-first/),
    })
    expect(await query(['balance', owner, '--max-age', '0'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--max-age: expected a whole number from 1 to 999999, got "0"/),
    })
    expect(await query(['balance', owner, '--trust-height', '2'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/--trust-height and --trust-hash must be given together/),
    })
    expect(await query(['balance', owner, '--trust-height', '2', '--trust-hash', 'AB'.repeat(32)])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/cometbft light: expected header's hash ABAB/),
    })
  })

  test('proves the row of a validator against a header that the light client verified', async () => {
    const { status, stdout, stderr } = await query(['validator', owner, ...trust()])
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^no --witness was given, .*\n$/)])
    const row = JSON.parse(stdout) as { verified: true; height: number; header: Json; data: Json }
    const { data } = await net.call<{ data: { pub_key: { value: string } } }>('svc_queryValidator', [owner])
    expect(row).toMatchObject({
      verified: true,
      table: 'candidacies',
      data: { id: 1, owner_address: owner, pub_key: data.pub_key.value },
    })
    const { hash, appHash, chainId } = await net.node.block(row.height + 1)
    expect(row.header).toMatchObject({ height: row.height + 1, hash, app_hash: appHash, chain_id: chainId })
  })

  test('goes on from the headers it has, and proves that an account has no row', async () => {
    const { status, stdout } = await query(['balance', nobody, '--witness', net.node.url])
    expect([status, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ verified: true, table: 'accounts', data: null }),
    ])
  })

  test('proves a delegation by its row and that of its candidacy, and refuses shares that these do not say', async () => {
    const { status, stdout } = await query(['delegator', delegator])
    const [first, ...others] = JSON.parse(stdout) as VerifiedDelegation[]
    const { shares, delegation, candidacy, header, height } = first as VerifiedDelegation
    expect([status, others, delegation, candidacy]).toEqual([
      0,
      [],
      expect.objectContaining({ candidacy_id: 1, delegator, delegate_amount: String(10n ** 19n) }),
      expect.objectContaining({ id: 1, owner_address: owner, delegators: 1 }),
    ])
    const [units, delegated, all] = [delegation?.['units'], candidacy['delegated'], candidacy['delegation_units']].map(
      (one) => BigInt(String(one)),
    ) as [bigint, bigint, bigint]
    expect(BigInt(shares)).toBe((units * delegated) / all)
    expect(header).toMatchObject({ app_hash: (await net.node.block(height + 1)).appHash })
    gateway.bend = tellMore
    expect(await query(['delegator', delegator])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/not verified: the gateway says \d+ for what is staked with 0x\w+; by the state/),
    })
  })

  const expectRefused = async (why: RegExp): Promise<void> =>
    expect(await query(['validator', owner])).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('"verified": false'),
      stderr: expect.stringMatching(why),
    })

  test('refuses a changed byte of the row, and a forged header', async () => {
    gateway.bend = flip('value', -1)
    await expectRefused(/not verified: the proof is of another value/)
    gateway.bend = undefined
    node.bend = forge
    await expectRefused(/not verified: the light client has no verified header of block \d+: /)
  })

  test('begins with the header of its node under --trust-first, and says that nothing has verified it', async () => {
    const other = join(folder, 'first')
    const headers = join(other, 'light', await net.node.status().then(({ chainId }) => chainId))
    // As after a beginning that was killed.
    for (const path of [`${headers}~`, headers]) mkdirSync(path, { recursive: true })
    expect(await query(['proof', 'counters', '--trust-first'], other)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('"next_candidacy_id": 2'),
      stderr: expect.stringMatching(/nothing has verified it/),
    })
    // And with trusted headers before: they are trusted still.
    renameSync(headers, `${headers}~`)
    mkdirSync(headers)
    expect(await query(['proof', 'counters'], other)).toMatchObject({ status: 0 })
  })

  test('says of a list that one row cannot prove it', async () => {
    expect(await query(['validators'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/not one row of the state/),
    })
  })
})

test('svcd query --prove trusts no header for longer than those who signed it can be punished', async () => {
  const chain = await startDevnet(await makePlace(join(folder, 'fast')), ['--fast', '--block-time', '1s'])
  const home = join(folder, 'fastLight')
  const ask = (...flags: readonly string[]): Promise<Ended> => {
    const gateway = ['--gateway', chain.url, '--node', chain.node.url]
    return svcd(['query', 'balance', nobody, '--prove', '--home', home, ...gateway, ...flags])
  }
  /** Asks until the header that it begins with is used in time: on a busy machine it may expire before. */
  const begin = async (flagsOf: () => Promise<readonly string[]>): Promise<void> => {
    let asked = await ask(...(await flagsOf()))
    for (let tries = 1; tries < 10 && asked.stderr.includes('header has expired'); tries++)
      asked = await ask(...(await flagsOf()))
    expect(asked).toMatchObject({ status: 0 })
  }
  try {
    await chain.waitForHeight(4)
    await begin(async () => {
      rmSync(home, { recursive: true, force: true })
      return ['--trust-first']
    })
    // Evidence counts for 18 blocks of a second, and a header for two thirds of that.
    const { latestHeight } = await chain.node.status()
    await chain.waitForHeight(latestHeight + 18)
    expect(await ask()).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/header has expired .*: name a newer one with --trust-height and --trust-hash\)/),
    })
    await begin(async () => {
      const { height, hash } = await chain.node.block((await chain.node.status()).latestHeight)
      return ['--trust-height', String(height), '--trust-hash', hash]
    })
  } finally {
    await chain.stop()
  }
})

describe('svc.verified over `cometbft light`', () => {
  let light: LightProxy | undefined
  let svc: Svc
  beforeAll(async () => {
    const { path: program } = await findCometBft()
    const { chainId } = await net.node.status()
    light = await startLightProxy({
      program,
      folder: join(folder, 'proxy'),
      chainId,
      primary: node.url,
      witnesses: [net.node.url],
      trust: trusted,
    })
    svc = new Svc({ url: gateway.url, light: light.url })
  })
  afterAll(() => light?.stop())

  const refusal = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      (row) => `verified: ${JSON.stringify(row)}`,
      ({ name, message }: SvcProofError) => `${name}: ${message}`,
    )

  test('proves rows that were written and rows that are not there', async () => {
    const { height } = await net.commit('svc_transfer', { from: owner, to: `0x${'7'.repeat(40)}`, value: '5' })
    await net.waitForHeight(height)
    expect(await svc.verified.getBalance(`0x${'7'.repeat(40)}`)).toMatchObject({
      verified: true,
      data: { balance: '5', nonce: 0 },
    })
    expect((await svc.verified.getTransactionCount(owner)).data).toMatchObject({ nonce: 1 })
    expect((await svc.verified.getBalance(nobody)).data).toBeNull()
    expect(await refusal(svc.verified.getBalance(owner, { maxAgeMs: 1 }))).toMatch(
      /^SvcProofError: .* older than the 0\.001 s of maxAgeMs$/,
    )
  })

  // test/client/verified.test.ts changes every byte of what a gateway answers.
  test('proves delegations', async () => {
    const { stake } = svc.verified
    expect(await stake.delegator.query(delegator)).toMatchObject([
      { verified: true, validator_address: owner, delegation: { delegator }, candidacy: { owner_address: owner } },
    ])
    expect(await stake.delegator.query(nobody)).toEqual([])
  })

  test('the light client itself refuses the header whose app hash somebody changed', async () => {
    node.bend = forge
    expect(await refusal(svc.verified.getBalance(owner))).toMatch(
      /^SvcProofError: not verified: the light client has no verified header of block \d+: /,
    )
  })
})

describe('svc.verified over POST /light of a gateway', () => {
  let light: LightProxy
  let own: Gateway
  let svc: Svc
  beforeAll(async () => {
    light = await startLight(net.node.url, join(folder, 'behind'))
    own = await startGateway({ node: net.node.url, port: 0, light: light.url, page: false, logger: silentLogger })
    svc = new Svc({ url: own.url, light: `${own.url}/light` })
  })
  afterAll(async () => {
    await own?.close()
    await light?.stop()
  })

  test('proves many rows at once, as a page that verifies a table does', async () => {
    const rows = await Promise.all([
      svc.verified.stake.validator.query(owner),
      ...Array.from({ length: 19 }, () => svc.verified.getBalance(owner)),
    ])
    for (const { verified, data } of rows) expect([verified, data]).toEqual([true, expect.any(Object)])
    expect((await svc.verified.getBalance(nobody)).data).toBeNull()
  })

  test('strangers who ask for blocks from the future cannot make the light client drop its nodes', async () => {
    const { latestHeight: height } = await net.node.status()
    for (let ahead = 1; ahead <= 10; ahead++) {
      const params = { height: String(height + 1000 * ahead) }
      const { error } = await gatewayClient(`${own.url}/light`).ask('commit', params)
      expect(error?.message).toContain('too high')
    }
    expect((await svc.verified.getBalance(owner)).verified).toBe(true)
    expect(readFileSync(join(folder, 'behind/light.log'), 'utf8')).not.toContain('replacing')
  })
})
