import { describe, expect, test } from '@jest/globals'
import { isMachineFailure } from '../../../src/base/engineErrors.ts'
import { readTx, runTx } from '../../../src/modules/kernel.ts'
import { accounts } from '../../../src/modules/accounts/keeper.ts'
import { createOverlay, type Overlay } from '../../../src/store/overlay.ts'
import { account, tokens } from '../../support/testChain.ts'
import { bytesOf, nextBlock, startChain } from '../support.ts'

/** The overlay, which throws at its third write: the fee was already taken from the sender. */
function throwing(overlay: Overlay, thrown: unknown): Overlay {
  let writes = 0
  const put: Overlay['put'] = (table, row) => {
    if (++writes > 2) throw thrown
    overlay.put(table, row)
  }
  return new Proxy(overlay, {
    get: (target, member) => {
      const value: unknown = member === 'put' && writes < 3 ? put : Reflect.get(target, member, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function run(thrown: unknown, mode: 'check' | 'deliver') {
  const chain = startChain()
  const overlay = createOverlay(chain.store)
  const tx = readTx(chain.tx(account(5), 'transfer', { to: bytesOf(account(6)), value: '1' }))
  return { verdict: runTx(throwing(overlay, thrown), tx, { block: nextBlock(chain), index: 0, mode }), overlay }
}

describe('a throw of the state machine', () => {
  test('is code 1000 in a block, uses up the nonce, and rolls everything else back', () => {
    const broken = new Error('a bug')
    const { verdict, overlay } = run(broken, 'deliver')
    expect(verdict).toMatchObject({
      code: 1000,
      log: 'internal defect',
      data: new Uint8Array(0),
      gas: 0,
      events: [],
      defect: broken,
    })
    expect([...overlay.changes()].map(({ after }) => after)).toEqual([
      { address: account(5).address, balance: tokens(100_000), nonce: 1 },
    ])
  })

  test('is code 1000 in CheckTx and changes nothing', () => {
    const { verdict, overlay } = run(new TypeError('a bug'), 'check')
    expect([verdict.code, [...overlay.changes()]]).toEqual([1000, []])
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'oops'],
    ['a RangeError of ours', new RangeError('an address has 20 bytes, got 3')],
    ['a bigint grown too large', new RangeError('Maximum BigInt size exceeded')],
    ['an argument error of Node', Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' })],
  ])('is a defect when it is %s', (_what, thrown) => {
    const { verdict } = run(thrown, 'deliver')
    expect([verdict.code, verdict.defect === undefined]).toEqual([1000, false])
  })

  test.each<[string, unknown]>([
    ['a full disk of SQLite', Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })],
    ['a full disk of the system', Object.assign(new Error('no space left'), { code: 'ENOSPC' })],
    ['a closed database', Object.assign(new Error('the database is closed'), { code: 'SQLITE_MISUSE' })],
    ['a stack that is too deep', new RangeError('Maximum call stack size exceeded')],
    ['memory that is not there', new RangeError('Array buffer allocation failed')],
    ['memory that Node does not get', Object.assign(new Error('x'), { code: 'ERR_MEMORY_ALLOCATION_FAILED' })],
  ])('stops the process when it is %s', (_what, thrown) => {
    expect(isMachineFailure(thrown)).toBe(true)
    let caught: unknown
    try {
      run(thrown, 'deliver')
    } catch (error) {
      caught = error
    }
    expect(caught).toBe(thrown)
  })

  test('a stack that is truly too deep is a machine failure', () => {
    const deep = (): number => 1 + deep()
    let caught: unknown
    try {
      deep()
    } catch (error) {
      caught = error
    }
    expect(isMachineFailure(caught)).toBe(true)
  })

  test('what a good transaction writes is kept', () => {
    const chain = startChain()
    const overlay = createOverlay(chain.store)
    const tx = readTx(chain.tx(account(5), 'transfer', { to: bytesOf(account(6)), value: '1' }))
    runTx(overlay, tx, { block: nextBlock(chain), index: 0, mode: 'deliver' })
    expect(overlay.get(accounts, { address: account(6).address })?.balance).toBe(tokens(100_000) + 1n)
  })
})
