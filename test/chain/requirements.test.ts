import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import { parse } from 'smol-toml'
import sodium from 'sodium-native'
import { toHex } from '../../src/base/bytes.ts'
import { templateOf, updatedConfigToml } from '../../src/comet/config.ts'
import { startChain, transfer } from '../modules/support.ts'
import { anySeed } from '../support/campaign.ts'
import type { TestChain } from '../support/testChain.ts'
import { type Fault, requirements, timeliness } from './requirements.ts'
import { appOn, extendVotes, finalize, memory, prepare, script } from './support.ts'

const tests = join(import.meta.dirname, '..')

/** The numbers of requirements in the titles of these tests. */
const numbersIn = (texts: readonly string[]): ReadonlySet<number> =>
  new Set(
    texts
      .flatMap((text) => text.match(/^\s*(?:test\()?['`]Req[^'`]*/gm) ?? [])
      .flatMap((title) => [...title.matchAll(/Req (\d+)/g)].map(([, number]) => Number(number))),
  )

describe('each requirement has a test that names it', () => {
  const texts = globSync('**/*.test.ts', { cwd: tests, exclude: ['tidy/bad/**'] }).map((path) =>
    readFileSync(join(tests, path), 'utf8'),
  )
  const missing = (found: ReadonlySet<number>): readonly number[] =>
    Array.from({ length: 13 }, (_, at) => at + 1).filter((number) => !found.has(number))

  test('from 1 to 13', () => {
    expect(missing(numbersIn(texts))).toEqual([])
  })

  test('and one without a test is missed', () => {
    expect(missing(numbersIn(texts.map((text) => text.replaceAll('Req 9', 'Requirement nine'))))).toEqual([9])
  })
})

describe('time to propose', () => {
  const transfers = (chain: TestChain): readonly Uint8Array[] =>
    Array.from({ length: 200 }, (_, nonce) => transfer(chain, 5, nonce))

  test('Req 1: PrepareProposal executes no block, and verifies nothing that CheckTx has verified', () => {
    const chain = startChain()
    const txs = transfers(chain)
    for (const tx of txs) expect(chain.check(tx)).toMatchObject({ code: 0 })
    const executed = jest.spyOn(chain.store, 'prepare')
    const verified = jest.spyOn(sodium, 'crypto_sign_verify_detached')
    try {
      expect(prepare(chain.app, txs)).toHaveLength(txs.length)
      expect([executed.mock.calls.length, verified.mock.calls.length]).toEqual([0, 0])
      // A mempool that is new to the node costs one verification a transaction.
      const other = startChain()
      expect(prepare(other.app, txs)).toHaveLength(txs.length)
      expect(verified.mock.calls.length).toBe(txs.length)
    } finally {
      jest.restoreAllMocks()
    }
  })

  test('Req 1: whatever the block time, validators wait at least a second for a proposal', () => {
    for (const blockTimeMs of [0, 10, 100, 300, 333, 1_000, 5_000, 600_000]) {
      const { consensus } = parse(updatedConfigToml(templateOf('config.toml'), { blockTimeMs })) as {
        consensus: { timeout_propose: string }
      }
      const [, value = '', unit] = /^(\d+)(ms|s)$/.exec(consensus.timeout_propose) ?? []
      expect(Number(value) * (unit === 's' ? 1000 : 1)).toBeGreaterThanOrEqual(1_000)
    }
  })

  test('Req 1: 5,000 pending transactions are proposed in one block', () => {
    expect(timeliness({ count: 2, seed: 1 })).toMatchObject({
      ran: 2,
      result: expect.stringMatching(/^p99 [\d.]+ ms$/),
    })
  })
})

test('Req 6, Req 7, Req 8, Req 10: a vote extension is empty, every one is accepted at every height, and none is part of the state', () => {
  const { init, blocks, hashes } = script()
  const app = appOn(memory())
  app.initChain(init)
  for (const [at, block] of blocks.entries()) {
    expect(extendVotes(app, block.txs)).toEqual([{}, { status: 1 }])
    const request = { hash: new Uint8Array(32), validatorAddress: new Uint8Array(20), height: at + 1 }
    for (const voteExtension of [new Uint8Array(0), Uint8Array.of(1), new Uint8Array(1_000_000)])
      expect(app.verifyVoteExtension({ ...request, voteExtension })).toEqual({ status: 1 })
    expect(finalize(app, block).appHash).toEqual(hashes[at])
    app.commit({})
  }
})

describe('random chains', () => {
  const seed = anySeed()

  test(`Req 2, Req 3, Req 4, Req 5, Req 6, Req 7, Req 8, Req 9, Req 10, Req 11, Req 12, Req 13 hold: SEED=${seed}`, async () => {
    const reports = await requirements({ count: Number(process.env['REQUIREMENTS_COUNT'] ?? 300), seed })
    expect(reports.filter(({ passed }) => !passed)).toEqual([])
    expect(reports.filter(({ ran }) => ran < 50)).toEqual([])
  })

  // test/abci/testing has a wrong application for each requirement; these are wrong in svcd's own way.
  test.each<[number, string, Fault]>([
    [
      3,
      'proposes transactions as they come',
      (app) => ({
        ...app,
        prepareProposal: ({ txs, maxTxBytes }) => ({ txs: txs.filter(({ length }) => length < maxTxBytes / 100) }),
      }),
    ],
    [
      11,
      'executes alone what it has taken into its mempool',
      (app) => {
        const taken = new Set<string>()
        return {
          ...app,
          checkTx: async (request) => {
            const response = await app.checkTx(request)
            if (response.code === 0) taken.add(toHex(request.tx))
            return response
          },
          finalizeBlock: (request) => {
            const txs = request.txs.map((tx) => (taken.size === 0 || taken.has(toHex(tx)) ? tx : new Uint8Array(0)))
            return app.finalizeBlock({ ...request, txs })
          },
        }
      },
    ],
    [
      13,
      'takes a nonce twice',
      (app) => ({
        ...app,
        checkTx: async (request) => {
          const response = await app.checkTx(request)
          // Code 6 refuses a nonce.
          return response.code === 6 ? { ...response, code: 0 } : response
        },
      }),
    ],
  ])('an application that breaks requirement %i is found: it %s', async (requirement, _what, fault) => {
    const broken = (await requirements({ count: 500, seed: 1 }, fault)).filter(({ passed }) => !passed)
    expect(broken.map(({ name }) => name)).toContain(`ABCI requirement ${requirement}`)
  })
})
