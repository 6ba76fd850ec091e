import { expect } from '@jest/globals'
import { misfits } from '../../conformance/interfaceTables.ts'
import type { TransactionResult } from '../../../src/tx/result.ts'

const HASH = /^[0-9A-F]{64}$/

/** Base units of one gas on a devnet, until a proposal changes it. */
export const GAS_PRICE = 2_000_000_000n

/**
 * The result object of a committed transaction, member by member; `data` is checked when it is given. Source:
 * protocol.md §10.
 */
export function expectCommitted(result: TransactionResult, gas: number, data?: unknown): void {
  expect(result).toEqual({
    height: expect.any(Number),
    hash: expect.stringMatching(HASH),
    check_tx: { fee: {} },
    deliver_tx: {
      ...(gas === 0
        ? { fee: {} }
        : { gasUsed: String(gas), fee: { key: 'R2FzRmVl', value: (BigInt(gas) * GAS_PRICE).toString() } }),
      ...(data === undefined ? {} : { data }),
    },
  })
  expect(result.height).toBeGreaterThan(0)
  expect(misfits('Transaction result object', { ...result })).toEqual([])
}

/** The result object of a transaction that CheckTx refused. Source: interface, Errors. */
export function expectRefused(result: TransactionResult, code: number, log: string): void {
  expect(result).toEqual({
    height: 0,
    hash: expect.stringMatching(HASH),
    check_tx: { code, log, fee: {} },
    deliver_tx: { fee: {} },
  })
}

/** A ProposalID: base64 of 32 bytes. */
export const proposalIdText: unknown = expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/)

/** Gas of the operations on a devnet. Source: protocol.md §2, Gas and fees. */
export const GAS = {
  declare: 1_000_000,
  update: 1_000_000,
  governance: 2_000_000,
  transfer: 21_000,
  activation: 21_000,
  free: 0,
} as const
