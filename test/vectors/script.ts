import { proposalIdOf, pubKeyOf } from '../../src/values/pubKey.ts'
import type { FinalizeBlockRequest, InitChainRequest } from '../../src/abci/types.ts'
import { addressBytes } from '../../src/values/address.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { sha256 } from '../../src/base/sha256.ts'
import type { Signer } from '../../src/tx/sign.ts'
import {
  account,
  evidence,
  GENESIS_TIME,
  nodeKey,
  type TestBlock,
  TestChain,
  type TestGenesis,
  tokens,
} from '../support/testChain.ts'

/** One transaction of the script: who, what. */
type Send = readonly [sender: number, operation: string, message?: Readonly<Record<string, unknown>>]

/** Genesis of the script: four validators, a foundation (account 12), short periods, awards on. */
export const SCRIPT_GENESIS: TestGenesis = {
  accounts: Array.from({ length: 12 }, (_, at) => ({ address: account(at + 1).address, balance: tokens(5000) })),
  candidacies: [40, 30, 20, 10].map((power, at) => ({
    owner: account(at + 1),
    key: nodeKey(at + 1),
    shares: tokens(power * 100),
  })),
  params: {
    hold_account: account(11).address,
    unstake_wait_period: 6,
    proposal_expire_period: 20,
    max_vals: 5,
    stake_limit: '0.4',
  },
  stake: { foundation_address: account(12).address, max_absent_blocks: 3 },
}

const bytesOf = (signer: Signer): Uint8Array => addressBytes(signer.address)
const description = { name: 'né', website: 'https://a.example', location: 'here', email: 'a@a.example', profile: 'p' }
const library = {
  name: 'lib',
  version: 'v1.0.0',
  fileUrl: '{"ubuntu":["https://a.example/l.so"]}',
  md5: `{"ubuntu":"${'0f'.repeat(16)}"}`,
}
const preserved = [1, 2].map((number) => toBase64(nodeKey(number))).join(',')

/** What each block holds, by height. */
type Plan = Readonly<Record<number, { readonly sends?: () => readonly Send[]; readonly block?: TestBlock }>>

/** `proposal(n)` is the id of the n-th proposal made so far. */
function plan(proposal: (number: number) => Uint8Array): Plan {
  const vote = (by: number, number: number, answer = 'Y'): Send => [
    by,
    'vote',
    { proposalId: proposal(number), answer },
  ]
  const offence = (number: number, height: number): TestBlock => ({ misbehavior: [evidence(number, height)] })
  return {
    1: {
      sends: () => [
        [7, 'transfer', { to: bytesOf(account(8)), value: '123' }],
        [7, 'transfer', { to: bytesOf(account(8)), value: '0' }],
      ],
    },
    2: {
      sends: () => [
        [
          5,
          'declareCandidacy',
          { pubKey: nodeKey(5), description, maxAmount: tokens(20_000).toString(), compRate: '0.25' },
        ],
      ],
    },
    3: {
      sends: () => [
        [12, 'verifyCandidacy', { candidateAddress: bytesOf(account(5)), verified: 'Y' }],
        [1, 'verifyCandidacy', { candidateAddress: bytesOf(account(5)), verified: 'N' }],
      ],
    },
    4: {
      sends: () => [
        [
          5,
          'updateCandidacy',
          { pubKey: nodeKey(15), description: { name: 'new' }, maxAmount: tokens(21_000).toString() },
        ],
      ],
    },
    5: {
      sends: () => [
        [5, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(account(9)) }],
        [5, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(account(6)) }],
      ],
    },
    6: {
      sends: () => [
        [6, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 2 }],
        [9, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 }],
      ],
    },
    7: {
      sends: () => [
        [2, 'deactivateCandidacy'],
        [2, 'deactivateCandidacy'],
      ],
    },
    8: { sends: () => [[2, 'activateCandidacy']], block: { seconds: 12 } },
    9: { sends: () => [[3, 'withdrawCandidacy']] },
    10: {
      sends: () => [
        [4, 'withdrawCandidacy'],
        [4, 'updateCandidacy', {}],
      ],
    },
    11: {
      sends: () => [
        [3, 'activateCandidacy'],
        [1, 'declareCandidacy', { pubKey: nodeKey(9) }],
      ],
    },
    12: {
      sends: () => [
        [1, 'proposeChangeParam', { name: 'inflation_rate', value: '16', reason: 'ünï' }],
        [8, 'proposeChangeParam', { name: 'max_vals', value: '1' }],
      ],
    },
    13: { sends: () => [vote(1, 1), vote(6, 1)], block: { absent: [pubKeyOf(nodeKey(3))] } },
    14: { sends: () => [vote(2, 1), vote(3, 1)], block: { absent: [pubKeyOf(nodeKey(3))] } },
    15: {
      sends: () => [
        [1, 'proposeDeployLibEni', { ...library, deployBlockHeight: 20 }],
        [2, 'proposeUpgradeProgram', library],
      ],
    },
    16: { sends: () => [vote(1, 2), vote(2, 2), vote(6, 2), vote(3, 2)] },
    17: {
      sends: () => [
        [
          2,
          'proposeTransferFund',
          { transferFrom: bytesOf(account(2)), transferTo: bytesOf(account(8)), amount: tokens(3).toString() },
        ],
        [
          1,
          'proposeTransferFund',
          {
            transferFrom: bytesOf(account(11)),
            transferTo: bytesOf(account(8)),
            amount: tokens(9).toString(),
            expireTimestamp: GENESIS_TIME + 60,
          },
        ],
      ],
    },
    18: { sends: () => [vote(1, 3, 'N'), vote(2, 3, 'N'), vote(6, 3, 'N'), vote(3, 3, 'N')] },
    19: { sends: () => [vote(1, 4), vote(2, 4), vote(6, 4), vote(3, 4)] },
    20: {
      sends: () => [
        [
          1,
          'proposeTransferFund',
          { transferFrom: bytesOf(account(1)), transferTo: bytesOf(account(8)), amount: '5', expireBlockHeight: 24 },
        ],
      ],
    },
    22: { block: { absent: [pubKeyOf(nodeKey(2))] } },
    23: { block: { absent: [pubKeyOf(nodeKey(2))] } },
    24: { block: { absent: [pubKeyOf(nodeKey(2))] } },
    26: { sends: () => [[2, 'activateCandidacy']], block: offence(3, 24) },
    28: { sends: () => [[3, 'withdrawCandidacy']] },
    29: { block: offence(3, 27) },
    30: {
      sends: () => [
        [1, 'proposeRetireProgram', { preservedValidators: preserved, retiredBlockHeight: 40 }],
        [10, 'declareCandidacy', { pubKey: nodeKey(10) }],
      ],
    },
    31: { sends: () => [vote(1, 6), vote(2, 6), vote(6, 6)] },
    35: {
      sends: () => [[1, 'proposeChangeParam', { name: 'unstake_wait_period', value: '5000', expireBlockHeight: 49 }]],
    },
    42: { sends: () => [vote(1, 7), vote(2, 7)] },
    45: { sends: () => [[1, 'withdrawCandidacy']] },
    ...delegations(offence),
  }
}

const to = (number: number, amount: bigint) => ({
  validatorAddress: bytesOf(account(number)),
  amount: amount.toString(),
})
const all = (number: number) => ({ validatorAddress: bytesOf(account(number)), completelyWithdraw: 'Y' })

/** Delegations that are paid back before the program is retired. The golden files know nothing of them. */
export const EARLY_DELEGATIONS: Plan = {
  24: {
    sends: () => [
      [7, 'delegate', to(1, tokens(50))],
      [8, 'delegate', to(1, tokens(7) + 1n)],
    ],
  },
  26: {
    sends: () => [
      [7, 'withdraw', to(1, tokens(20))],
      [8, 'withdraw', all(1)],
    ],
  },
  29: { sends: () => [[8, 'delegate', to(1, tokens(3))]] },
  34: { sends: () => [[7, 'withdraw', all(1)]] },
}

/** Delegations, their awards and slash, a raise of the commission, and the end of a candidacy with a pool. */
function delegations(offence: (number: number, height: number) => TestBlock): Plan {
  return {
    51: {
      sends: () => [
        [7, 'delegate', to(2, tokens(50))],
        [8, 'delegate', to(2, tokens(7) + 1n)],
        [8, 'delegate', to(6, tokens(3))],
        [2, 'delegate', to(2, tokens(1))],
        [8, 'delegate', to(2, 1n)],
      ],
    },
    52: { sends: () => [[2, 'updateCandidacy', { compRate: '0.75' }]], block: { seconds: 9 } },
    53: {
      sends: () => [
        [7, 'withdraw', to(2, tokens(20))],
        [8, 'withdraw', to(2, tokens(2))],
        [8, 'withdraw', to(2, tokens(50))],
      ],
    },
    54: { sends: () => [[7, 'withdraw', to(2, 1n)]], block: offence(2, 53) },
    55: { sends: () => [[2, 'activateCandidacy']] },
    56: { sends: () => [[8, 'withdraw', all(2)]] },
    57: { sends: () => [[2, 'withdrawCandidacy']] },
    58: { sends: () => [[8, 'withdraw', { ...all(6), amount: '1' }]] },
  }
}

export const SCRIPT_BLOCKS = 64

/** The script as CometBFT would send it, with the app hash and results of each block as the memory store has them. */
export interface Script {
  readonly init: InitChainRequest
  readonly genesisHash: Uint8Array
  readonly blocks: readonly FinalizeBlockRequest[]
  readonly hashes: readonly Uint8Array[]
  /** Operation, code and log of each transaction, block by block. */
  readonly outcomes: readonly (readonly (readonly [operation: string, code: number, log: string])[])[]
}

/** Runs the script once on a chain in memory. `each` looks at the chain after each block; `more` is sent too. */
export function runScript(each: (chain: TestChain) => void = () => {}, more: Plan = {}): Script {
  const chain = new TestChain()
  const blocks: FinalizeBlockRequest[] = []
  let init: InitChainRequest | undefined
  const { app } = chain
  const recording = {
    ...app,
    initChain: (request: InitChainRequest) => app.initChain((init = request)),
    finalizeBlock: (request: FinalizeBlockRequest) => {
      blocks.push(request)
      return app.finalizeBlock(request)
    },
  }
  Object.assign(chain, { app: recording })
  const { appHash } = chain.init(SCRIPT_GENESIS) as { appHash: Uint8Array }
  const ids: Uint8Array[] = []
  const hashes: Uint8Array[] = []
  const outcomes: (readonly (readonly [string, number, string])[])[] = []
  const planned = plan((number) => ids[number - 1] ?? new Uint8Array(32))
  for (let height = 1; height <= SCRIPT_BLOCKS; height++) {
    const { sends = () => [], block = {} } = planned[height] ?? {}
    const nonces = new Map<number, number>()
    const made = [...sends(), ...(more[height]?.sends?.() ?? [])].map(([sender, operation, message = {}]) => {
      const nonce = nonces.get(sender) ?? chain.nonceOf(account(sender))
      nonces.set(sender, nonce + 1)
      return [operation, chain.tx(account(sender), operation, message, nonce)] as const
    })
    const { response, results } = chain.block({ ...block, txs: made.map(([, tx]) => tx) })
    for (const [at, [operation, tx]] of made.entries()) {
      if (operation.startsWith('propose') && results[at]?.code === 0) ids.push(sha256(tx))
    }
    outcomes.push(made.map(([operation], at) => [operation, results[at]?.code ?? 0, results[at]?.log ?? ''] as const))
    hashes.push(response.appHash as Uint8Array)
    each(chain)
  }
  if (init === undefined || ids.length < 7)
    throw new Error(`the script made ${ids.length} proposals: ${ids.map(proposalIdOf).join(' ')}`)
  return { init, genesisHash: appHash, blocks, hashes, outcomes }
}
