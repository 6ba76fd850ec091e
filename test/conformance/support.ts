import { addressBytes } from '../../src/values/address.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { readFields } from '../../src/tx/fields.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'

/**
 * Three validators of 60, 25 and 15 thousand tokens (accounts 1 to 3), and accounts 1 to 9 with 100,000 tokens each.
 */
export function conformanceChain(params: Readonly<Record<string, unknown>> = {}): TestChain {
  const chain = new TestChain()
  chain.init({
    accounts: Array.from({ length: 9 }, (_, at) => ({ address: account(at + 1).address, balance: tokens(100_000) })),
    candidacies: [60_000, 25_000, 15_000].map((shares, at) => ({
      owner: account(at + 1),
      key: nodeKey(at + 1),
      shares: tokens(shares),
    })),
    params: { stake_limit: '1', ...params },
    stake: { foundation_address: account(9).address },
  })
  chain.block()
  return chain
}

/** What an operation came to; `data` in base64, as the interface shows it. */
export interface Done {
  readonly code: number
  readonly log: string
  readonly data: string
  readonly height: number
}

/** One block with one operation, its members read as the gateway reads them. CheckTx must agree with the block. */
export function perform(
  chain: TestChain,
  sender: Signer,
  method: string,
  members: Readonly<Record<string, unknown>> = {},
): Done {
  const entry = txEntries.find((one) => one.method === method)
  if (entry === undefined) throw new Error(`no operation has the method ${method}`)
  const tx = chain.tx(sender, entry.operation, readFields(entry.input, members) as Record<string, unknown>)
  const checked = chain.check(tx)
  if (checked.code !== 0) return { code: checked.code ?? 0, log: checked.log ?? '', data: '', height: 0 }
  const {
    height,
    results: [result],
  } = chain.block({ txs: [tx] })
  return { code: result?.code ?? 0, log: result?.log ?? '', data: toBase64(result?.data ?? new Uint8Array(0)), height }
}

/** The same, but throws unless it succeeded. */
export function succeed(...call: Parameters<typeof perform>): Done {
  const done = perform(...call)
  if (done.code !== 0) throw new Error(`${call[2]}: ${done.code} ${done.log}`)
  return done
}

/** 20 bytes of an address that nobody has. */
export const NOBODY = `0x${Buffer.from(addressBytes(account(200).address)).toString('hex')}`
