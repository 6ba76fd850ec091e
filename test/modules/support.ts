import { expect } from '@jest/globals'
import type { ExecTxResult, FinalizeBlockResponse } from '../../src/abci/types.ts'
import { type Address, addressBytes } from '../../src/values/address.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { type PubKey, pubKeyOf } from '../../src/values/pubKey.ts'
import { accounts } from '../../src/modules/accounts/keeper.ts'
import { type Block, isError } from '../../src/modules/define.ts'
import { readTx, runTx } from '../../src/modules/kernel.ts'
import { paramsInForce } from '../../src/modules/params/keeper.ts'
import { getByOwner } from '../../src/modules/stake/keeper.ts'
import type { Candidacy } from '../../src/modules/stake/tables.ts'
import { createOverlay } from '../../src/store/overlay.ts'
import { decodeShortfall } from '../../src/tx/shortfall.ts'
import type { Signer } from '../../src/tx/sign.ts'
import {
  account,
  CHAIN_ID,
  nodeKey,
  type TestBlockResult,
  TestChain,
  type TestGenesis,
  tokens,
} from '../support/testChain.ts'

/**
 * A chain after its first block: validators 1, 2 … with these shares in tokens, and accounts 1 to 30 with 100,000
 * tokens each.
 */
export function startChain(
  shares: readonly number[] = [1000],
  genesis: Partial<TestGenesis> = {},
  options = {},
): TestChain {
  const chain = new TestChain(options)
  chain.init({
    accounts: Array.from({ length: 30 }, (_, at) => ({ address: account(at + 1).address, balance: tokens(100_000) })),
    candidacies: shares.map((count, at) => ({ owner: account(at + 1), key: nodeKey(at + 1), shares: tokens(count) })),
    ...genesis,
  })
  chain.block()
  return chain
}

/** The key of validator `number` in base64, as people and JSON have it. */
export const keyText = (number: number): string => toBase64(nodeKey(number))

export const key = (number: number): PubKey => pubKeyOf(nodeKey(number))

/** The record of an account, which must be there. */
export function recordOf(chain: TestChain, { address }: Signer): Candidacy {
  const found = getByOwner(chain.store, address)
  if (found === undefined) throw new Error(`${address} has no candidacy`)
  return found
}

/** Base units on an account. */
export const balanceOf = (chain: TestChain, of: Signer | Address): bigint =>
  chain.store.get(accounts, { address: typeof of === 'string' ? of : of.address })?.balance ?? 0n

/** The block that comes next, one second after the head. */
export function nextBlock({ store, height, time }: TestChain): Block {
  const params = paramsInForce(store, height + 1)
  return { chainId: CHAIN_ID, height: height + 1, time: time + 1, timeMs: (time + 1) * 1000, params }
}

/** Delivers a transaction that must succeed, in a block of its own. */
export function done(
  chain: TestChain,
  signer: Signer,
  operation: string,
  message: Readonly<Record<string, unknown>> = {},
): ExecTxResult {
  const result = chain.deliver(signer, operation, message)
  expect({ code: result.code, log: result.log }).toEqual({ code: 0, log: '' })
  return result
}

/** What a balance lacks, as CheckTx tells it: `<account> needs <needed> (fee <fee>), has <available>`. */
export function lacking(
  chain: TestChain,
  signer: Signer,
  operation: string,
  message: Readonly<Record<string, unknown>> = {},
): string | undefined {
  const { info = '' } = chain.check(chain.tx(signer, operation, message))
  const shortfall = decodeShortfall(info)
  return (
    shortfall && `${shortfall.account} needs ${shortfall.needed} (fee ${shortfall.fee}), has ${shortfall.available}`
  )
}

/**
 * The error of a transaction that must fail, as `code log`, the same in CheckTx and in a block; in a block it changes
 * no row but the sender's nonce, and nothing of it is charged, told or returned.
 */
export function failure(
  chain: TestChain,
  signer: Signer,
  operation: string,
  message: Readonly<Record<string, unknown>> = {},
): string {
  const tx = chain.tx(signer, operation, message)
  const overlay = createOverlay(chain.store)
  const verdict = runTx(overlay, readTx(tx), { block: nextBlock(chain), index: 0, mode: 'deliver' })
  expect(isError(verdict) && verdict.code).not.toBe(0)
  expect(verdict).toMatchObject({ gas: 0, data: new Uint8Array(0), events: [] })
  const before = chain.store.get(accounts, { address: signer.address }) ?? {
    address: signer.address,
    balance: 0n,
    nonce: 0,
  }
  expect([...overlay.changes()].map(({ table, after }) => [table.name, after])).toEqual([
    ['accounts', { ...before, nonce: before.nonce + 1 }],
  ])
  const checked = chain.check(tx)
  expect({ code: checked.code, log: checked.log, gas: checked.gasWanted ?? 0, used: checked.gasUsed ?? 0 }).toEqual({
    code: verdict.code,
    log: verdict.log,
    gas: 0,
    used: 0,
  })
  return `${verdict.code} ${verdict.log}`
}

/** Events as `type key=value …`. */
export const eventsOf = (told: Told): readonly string[] => textsOf(told).filter((text) => !isIndex(text))

/** The events that only make a transaction or a block be found. */
export const indexOf = (told: Told): readonly string[] => textsOf(told).filter(isIndex)

/** What has events. */
type Told = Pick<FinalizeBlockResponse, 'events'> | ExecTxResult
const isIndex = (text: string): boolean => /^svc\.(?:tx|block) /.test(text)
const textsOf = ({ events = [] }: Told): readonly string[] =>
  events.map(({ type, attributes = [] }) =>
    [type, ...attributes.map(({ key: name, value }) => `${name}=${value}`)].join(' '),
  )

/** Validator updates as key → power, in their order. */
export const updatesOf = ({ validatorUpdates = [] }: FinalizeBlockResponse): readonly (readonly [PubKey, number])[] =>
  validatorUpdates.map(({ pubKey, power }) => [pubKeyOf(pubKey.ed25519 as Uint8Array), power])

/** The 20 bytes of an account's address, as messages hold it. */
export const bytesOf = ({ address }: Signer): Uint8Array => addressBytes(address)

/** A transfer of base units to account 6, signed with this nonce. */
export const transfer = (chain: TestChain, from: number, nonce: number, value = '1'): Uint8Array =>
  chain.tx(account(from), 'transfer', { to: bytesOf(account(6)), value }, nonce)

/**
 * Changes a parameter by a proposal that validator 1, who has two thirds of the power, makes and approves: two blocks.
 */
export function changeParam(chain: TestChain, name: string, value: string): TestBlockResult {
  const proposed = done(chain, account(1), 'proposeChangeParam', { name, value })
  return chain.block({ txs: [chain.tx(account(1), 'vote', { proposalId: proposed.data, answer: 'Y' })] })
}
