import type { ExecTxResult } from '../../../src/abci/types.ts'
import { addressBytes } from '../../../src/values/address.ts'
import { toBase64, toHex } from '../../../src/base/bytes.ts'
import { tables } from '../../../src/modules/registry.ts'
import type { StateReader } from '../../../src/store/state.ts'
import type { Table } from '../../../src/store/table.ts'
import type { Signer } from '../../../src/tx/sign.ts'
import { supplyGap } from '../../support/conservation.ts'
import { account, nodeKey, TestChain, type TestGenesis, tokens } from '../../support/testChain.ts'
import { balanceOf, done, eventsOf } from '../support.ts'

/** Gas of a governance operation on these chains; a unit of gas costs 1 base unit, so this is the fee too. */
export const FEE = 10n

/** Where fees go on these chains. */
export const HOLD = account(99)

/** Validators 1, 2 … of these powers, without awards; accounts 1 to 12 hold 1,000 tokens each. */
export function genesisOf(powers: readonly number[], params: Readonly<Record<string, unknown>> = {}): TestGenesis {
  return {
    accounts: Array.from({ length: Math.max(12, powers.length) }, (_, at) => ({
      address: account(at + 1).address,
      balance: tokens(1000),
    })),
    candidacies: powers.map((power, at) => ({ owner: account(at + 1), key: nodeKey(at + 1), shares: tokens(power) })),
    params: {
      hold_account: HOLD.address,
      inflation_rate: 0,
      stake_limit: '1',
      max_vals: 200,
      gas_price: 1,
      governance_proposal: Number(FEE),
      declare_candidacy: 0,
      update_candidacy: 0,
      ...params,
    },
  }
}

/** A chain that stands at block 1. */
export function govChain(
  powers: readonly number[],
  params: Readonly<Record<string, unknown>> = {},
  options: ConstructorParameters<typeof TestChain>[0] = {},
): TestChain {
  const chain = new TestChain(options)
  chain.init(genesisOf(powers, params))
  chain.block()
  return chain
}

/** A proposal object as queries show it. */
export type Shown = Readonly<Record<string, unknown>> & { readonly Detail: Readonly<Record<string, unknown>> }

/** Makes a base64 id safe for a path: `+` and `/` become `-` and `_`. */
export const urlSafe = (id: string): string => id.replaceAll('+', '-').replaceAll('/', '_')

/** The proposal of a base64 id, with Votes and Tally. */
export const shown = (chain: TestChain, id: string): Shown =>
  chain.query(`/governance/proposal/${urlSafe(id)}`) as Shown

/** The base64 id in a result. */
export const idOf = (result: ExecTxResult): string => toBase64(result.data as Uint8Array)

/** Delivers a proposal in its own block, checks that it succeeds, and returns its id. */
export const proposed = (...given: Parameters<typeof done>): string => idOf(done(...given))

export const voteOf = (id: string, answer = 'Y'): Record<string, unknown> => ({
  proposalId: Uint8Array.from(Buffer.from(id, 'base64')),
  answer,
})

/** Votes in its own block and checks that the vote succeeds. */
export const voted = (chain: TestChain, signer: Signer, id: string, answer = 'Y'): ExecTxResult =>
  done(chain, signer, 'vote', voteOf(id, answer))

/** A change_param message that passes all rules. */
export const change = (extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  name: 'max_vals',
  value: '7',
  ...extra,
})

/** A deploy_libeni message that passes all rules. */
export const deploy = (extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  name: 'lib',
  version: 'v1.0.0',
  fileUrl: '{"ubuntu":["https://a.example/l.so"]}',
  md5: `{"ubuntu":"${'0f'.repeat(16)}"}`,
  ...extra,
})

/** A retire_program message that preserves these validators. */
export const retire = (
  numbers: readonly number[],
  extra: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => ({
  preservedValidators: numbers.map((number) => toBase64(nodeKey(number))).join(','),
  ...extra,
})

export const fund = (
  from: Signer,
  to: Signer,
  amount: bigint,
  extra: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> => ({
  transferFrom: addressBytes(from.address),
  transferTo: addressBytes(to.address),
  amount: amount.toString(),
  ...extra,
})

/** Every hashed row as hex, but for the chain's own row, which each block changes. */
export function dump(state: StateReader): Map<string, string> {
  const rows = new Map<string, string>()
  for (const table of tables as readonly unknown[] as readonly Table[]) {
    if (!table.hashed || table.name === 'chain') continue
    for (const row of state.scan(table)) rows.set(`${table.name} ${toHex(table.keyOf(row))}`, toHex(table.encode(row)))
  }
  return rows
}

/**
 * Delivers what must be refused: nothing changes but the sender's nonce, no fee is taken, the supply is whole. Gives
 * code and log.
 */
export function refusedIn(
  chain: TestChain,
  signer: Signer,
  operation: string,
  message: Readonly<Record<string, unknown>>,
): [number, string] {
  const before = dump(chain.store)
  const money = balanceOf(chain, signer)
  const nonce = chain.nonceOf(signer)
  const { code = 0, log = '', data, gasUsed, gasWanted, events } = chain.deliver(signer, operation, message)
  const after = dump(chain.store)
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key))
  if (code === 0) throw new Error(`${operation} was not refused`)
  if (changed.length !== 1 || changed[0]?.startsWith('accounts ') !== true)
    throw new Error(`${operation}: ${log}: changed ${changed.join(', ')}`)
  if (balanceOf(chain, signer) !== money || chain.nonceOf(signer) !== nonce + 1)
    throw new Error(`${operation}: balance or nonce`)
  if ((data?.length ?? 0) + (gasUsed ?? 0) + (gasWanted ?? 0) + eventsOf({ events: events ?? [] }).length !== 0)
    throw new Error(`${operation}: data, gas or events on failure`)
  if (supplyGap(chain.store) !== 0n) throw new Error('the supply has a gap')
  return [code, log]
}
