import { describe, expect, test } from '@jest/globals'
import { PASSES_MAX } from '../../src/app/mempool.ts'
import { account, GENESIS_TIME, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { decodeNonce } from '../../src/tx/nonceQueue.ts'
import { decodeShortfall } from '../../src/tx/shortfall.ts'
import { bytesOf, changeParam, done, startChain, transfer } from '../modules/support.ts'

const RECHECK = 1
const codes = (chain: TestChain, txs: readonly Uint8Array[], type = 0): readonly string[] =>
  txs.map((tx) => {
    const { code = 0, log = '' } = chain.check(tx, type)
    return code === 0 ? 'ok' : `${code} ${log}`
  })

describe('CheckTx', () => {
  test('several transactions of one sender wait in a row, and a gap is refused', () => {
    const chain = startChain()
    expect(
      codes(chain, [transfer(chain, 5, 0), transfer(chain, 5, 1), transfer(chain, 5, 3), transfer(chain, 5, 2)]),
    ).toEqual(['ok', 'ok', '6 bad nonce: expected 2, got 3', 'ok'])
  })

  test('what it accepted is seen by what waits behind it, and what it refused is not', () => {
    const chain = startChain()
    const all = String(tokens(100_000) - 21_000n * 2_000_000_000n)
    expect(codes(chain, [transfer(chain, 5, 0, `${all}0`), transfer(chain, 5, 0, all), transfer(chain, 5, 1)])).toEqual(
      ['20 Insufficient balance', 'ok', '20 Insufficient balance'],
    )
  })

  test('nothing of it reaches a block', () => {
    const chain = startChain()
    const empty = chain.finalize().appHash
    codes(chain, [transfer(chain, 5, 0), transfer(chain, 5, 1)])
    expect(chain.finalize().appHash).toEqual(empty)
  })

  test('data of a wrong nonce is the one that comes next, that of a low balance what it lacks; no other has data', () => {
    const chain = startChain()
    codes(chain, [transfer(chain, 5, 0)])
    expect(decodeNonce(chain.check(transfer(chain, 5, 7)).data ?? new Uint8Array())).toBe(1)
    expect(decodeNonce(chain.check(transfer(chain, 6, 7)).data ?? new Uint8Array())).toBe(0)
    const fee = 21_000n * 2_000_000_000n
    const lacking = {
      account: account(5).address,
      needed: String(10n ** 30n + fee),
      fee: String(fee),
      // What waits before it has taken its own value and fee.
      available: String(tokens(100_000) - 1n - fee),
    }
    const { code, log, data, info = '' } = chain.check(transfer(chain, 5, 1, `${10n ** 30n}`))
    expect([code, log, decodeShortfall(info)]).toEqual([20, 'Insufficient balance', lacking])
    expect(Buffer.from(data ?? []).toString()).toBe(info)
    const garbage = chain.check(new Uint8Array([1]))
    expect([garbage.code, garbage.data?.length, garbage.info]).toEqual([2, 0, ''])
  })

  test('it tells the gas, and 0 on failure', () => {
    const chain = startChain()
    expect(chain.check(transfer(chain, 5, 0))).toMatchObject({ gasWanted: 21_000, gasUsed: 21_000 })
    expect(chain.check(transfer(chain, 5, 9))).toMatchObject({ gasWanted: 0, gasUsed: 0 })
  })

  test('a fifth free transaction of one sender may not wait; paid ones and those of others may', () => {
    const chain = startChain([1000, 1000], { stake: { foundation_address: account(1).address } })
    const free = (nonce: number) =>
      chain.tx(account(1), 'verifyCandidacy', { candidateAddress: bytesOf(account(2)), verified: 'Y' }, nonce)
    expect(codes(chain, [0, 1, 2, 3, 4].map(free))).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      '20 Too many free transactions waiting',
    ])
    expect(codes(chain, [transfer(chain, 1, 4), chain.tx(account(2), 'withdrawCandidacy', {}, 0)])).toEqual([
      'ok',
      'ok',
    ])
    // In a block nothing limits them.
    expect(chain.block({ txs: [0, 1, 2, 3, 4, 5].map(free) }).results.map(({ code }) => code)).toEqual([
      0, 0, 0, 0, 0, 0,
    ])
    expect(codes(chain, [free(6)])).toEqual(['ok'])
  })

  test.each([
    ['its gas is 0', { update_candidacy: 0 }],
    ['gas costs nothing', { gas_price: 0 }],
  ])('an operation is free when %s, whatever the operation', (_when, params) => {
    const chain = startChain([1000], { params })
    const update = (nonce: number) => chain.tx(account(1), 'updateCandidacy', {}, nonce)
    expect(codes(chain, [0, 1, 2, 3, 4].map(update))[4]).toBe('20 Too many free transactions waiting')
  })

  test('a commit makes the state anew, and the recheck goes over it in order', () => {
    const chain = startChain()
    const waiting = [transfer(chain, 5, 0), transfer(chain, 5, 1), transfer(chain, 7, 0)]
    codes(chain, waiting)
    chain.block({ txs: [waiting[0] as Uint8Array] })
    expect(codes(chain, waiting, RECHECK)).toEqual(['6 bad nonce: expected 1, got 0', 'ok', 'ok'])
    expect(codes(chain, [transfer(chain, 5, 2), transfer(chain, 7, 1)])).toEqual(['ok', 'ok'])
  })

  const forgotten = '20 Transaction was left out of 4 blocks'

  test('a transaction that four empty blocks leave out is forgotten with those above it, until it is sent again', () => {
    const chain = startChain()
    const waiting = [transfer(chain, 5, 0), transfer(chain, 5, 1)]
    codes(chain, waiting)
    chain.block()
    codes(chain, waiting, RECHECK)
    // Sent later than the others, it waits on.
    const later = transfer(chain, 7, 0)
    codes(chain, [later])
    for (let block = 2; block < PASSES_MAX; block++) {
      chain.block()
      expect(codes(chain, [...waiting, later], RECHECK)).toEqual(['ok', 'ok', 'ok'])
    }
    chain.block()
    expect(codes(chain, [...waiting, later], RECHECK)).toEqual([forgotten, forgotten, 'ok'])
    expect(codes(chain, waiting)).toEqual(['ok', 'ok'])
    chain.block()
    expect(codes(chain, [later, ...waiting], RECHECK)).toEqual([forgotten, 'ok', 'ok'])
  })

  test('a transaction is forgotten when four blocks contain some that came later', () => {
    const chain = startChain()
    const waiting = transfer(chain, 5, 0)
    codes(chain, [waiting])
    for (let block = 1; block <= PASSES_MAX; block++) {
      const later = transfer(chain, 7, block - 1)
      codes(chain, [later])
      chain.block({ txs: [later] })
      expect(codes(chain, [waiting], RECHECK)).toEqual([block < PASSES_MAX ? 'ok' : forgotten])
    }
  })

  test('a transaction waits for its turn for as many blocks as it takes', () => {
    const chain = startChain()
    const line = Array.from({ length: 3 * PASSES_MAX }, (_, nonce) => transfer(chain, 5, nonce))
    codes(chain, line)
    for (let at = 0; at < line.length; at++) {
      // Whoever comes meanwhile waits behind them.
      codes(chain, [transfer(chain, 7, at)])
      chain.block({ txs: [line[at] as Uint8Array] })
      expect(codes(chain, line.slice(at + 1), RECHECK)).toEqual(line.slice(at + 1).map(() => 'ok'))
    }
  })

  test('a block of transactions that this node has never seen passes nothing by', () => {
    const chain = startChain()
    const waiting = transfer(chain, 5, 0)
    codes(chain, [waiting])
    for (let nonce = 0; nonce < PASSES_MAX; nonce++) {
      chain.block({ txs: [transfer(chain, 7, nonce)] })
      expect(codes(chain, [waiting], RECHECK)).toEqual(['ok'])
    }
  })

  test('what a proposal has shown first waits from when the mempool has it', () => {
    const chain = startChain()
    const tx = transfer(chain, 5, 0)
    chain.propose({ txs: [tx] })
    for (let block = 0; block < PASSES_MAX; block++) chain.block()
    expect(codes(chain, [tx], RECHECK)).toEqual(['ok'])
    chain.block()
    expect(codes(chain, [tx])).toEqual(['ok'])
  })

  test('a recheck does not verify signatures again', () => {
    const chain = startChain()
    const forged = Uint8Array.from(transfer(chain, 5, 0))
    forged[forged.length - 1] = (forged.at(-1) as number) ^ 1
    expect(codes(chain, [forged])).toEqual(['3 signature verification failed'])
    expect(codes(chain, [forged], RECHECK)).toEqual(['ok'])
    // And that verdict stays with the recheck: a block judges the bytes themselves.
    expect(chain.block({ txs: [forged] }).results).toMatchObject([{ code: 3 }])
  })

  test('it judges with the parameters of head + 1', () => {
    const chain = startChain()
    changeParam(chain, 'gas_price', '0')
    const result = chain.check(
      chain.tx(account(5), 'transfer', { to: bytesOf(account(6)), value: String(tokens(100_000)) }),
    )
    expect(result).toMatchObject({ code: 0 })
  })

  test('it judges at the height and time of the head, and of genesis before the first block', () => {
    const chain = new TestChain({ initialHeight: 10 })
    chain.init({
      accounts: [{ address: account(1).address, balance: tokens(10) }],
      candidacies: [{ owner: account(1), key: nodeKey(1), shares: tokens(10) }],
    })
    const propose = (message: object, nonce: number) =>
      codes(chain, [chain.tx(account(1), 'proposeChangeParam', { name: 'max_vals', value: '5', ...message }, nonce)])[0]
    expect(propose({ expireBlockHeight: 10 }, 0)).toBe('20 Invalid expire block height')
    expect(propose({ expireBlockHeight: 11 }, 0)).toBe('ok')
    expect(propose({ expireTimestamp: GENESIS_TIME }, 1)).toBe('20 Invalid expire timestamp')
    expect(propose({ expireTimestamp: GENESIS_TIME + 1 }, 1)).toBe('ok')
    chain.block({ seconds: 100 })
    expect(propose({ expireTimestamp: GENESIS_TIME + 100 }, 0)).toBe('20 Invalid expire timestamp')
    expect(propose({ expireTimestamp: GENESIS_TIME + 101 }, 0)).toBe('ok')
  })

  test('a candidacy that only waits may be acted on by what waits behind it', () => {
    const chain = startChain()
    const txs = [
      chain.tx(account(5), 'declareCandidacy', { pubKey: nodeKey(5) }, 0),
      chain.tx(account(5), 'deactivateCandidacy', {}, 1),
    ]
    expect(codes(chain, txs)).toEqual(['ok', 'ok'])
    expect(done(chain, account(7), 'declareCandidacy', { pubKey: nodeKey(5) }).code).toBe(0)
    expect(codes(chain, txs, RECHECK)).toEqual(['1 pubkey has been declared', '6 bad nonce: expected 0, got 1'])
  })
})
