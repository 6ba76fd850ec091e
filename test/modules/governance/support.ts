import type { ExecTxResult } from '../../../src/abci/types.ts'
import { addressBytes } from '../../../src/values/address.ts'
import { toBase64 } from '../../../src/base/bytes.ts'
import type { Signer } from '../../../src/tx/sign.ts'
import { account, nodeKey, TestChain, type TestGenesis, tokens } from '../../support/testChain.ts'
import { done } from '../support.ts'

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
