import { commitInfo, updateValidators } from '../../src/abci/testing/index.ts'
import type {
  CommitInfo,
  CompleteApplication,
  CheckTxResponse,
  ExecTxResult,
  FinalizeBlockResponse,
  InitChainResponse,
  Misbehavior,
  ProcessProposalResponse,
  QueryResponse,
} from '../../src/abci/types.ts'
import { checkReply, type ReplyKind } from '../../src/abci/wire.ts'
import { createApp } from '../../src/app/app.ts'
import type { AppOptions } from '../../src/app/context.ts'
import { type Address, addressBytes, addressOfKey } from '../../src/values/address.ts'
import { TOKEN } from '../../src/base/amount.ts'
import type { PubKey } from '../../src/values/pubKey.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { tables } from '../../src/modules/registry.ts'
import { openMemoryStore } from './memoryStore.ts'
import type { Store } from '../../src/store/store.ts'
import { type Signer, signerOfSeed } from '../../src/tx/sign.ts'
import { supplyGap } from './conservation.ts'

/** Unix seconds of the genesis of test chains; block h is BLOCK_SECONDS × h later. */
export const GENESIS_TIME = 1_700_000_000
export const CHAIN_ID = 'test-chain'

const nothing = new Uint8Array(0)

/** A signer per number; the same number is always the same key. */
export const account = (number: number): Signer =>
  signerOfSeed(new Uint8Array(32).fill(number % 256).fill(Math.floor(number / 256) % 256, 30))

/** A validator key per number (32 bytes): nobody signs with it, the test says who signed. */
export const nodeKey = (number: number): Uint8Array =>
  new Uint8Array(32)
    .fill(0x40)
    .fill(number % 256, 16)
    .fill(Math.floor(number / 256) % 256, 8, 16)

/** Evidence of a duplicate vote (type 1) or a light-client attack (2) by the key of validator `number` at a height. */
export const evidence = (number: number, height: number, type = 1): Misbehavior => ({
  type,
  validator: { address: addressBytes(addressOfKey(nodeKey(number))), power: 1 },
  height,
  time: { seconds: GENESIS_TIME, nanos: 0 },
  totalVotingPower: 1,
})

/** Base units of a number of tokens. */
export const tokens = (count: number | bigint): bigint => BigInt(count) * TOKEN

export interface TestCandidacy {
  readonly owner: Signer
  readonly key: Uint8Array
  readonly shares: bigint
  readonly maxShares?: bigint
  /** Of the shares, what others delegated. */
  readonly delegations?: readonly { readonly delegator: Address; readonly amount: bigint }[]
}

export interface TestGenesis {
  readonly accounts: readonly { readonly address: Address; readonly balance: bigint }[]
  readonly candidacies: readonly TestCandidacy[]
  readonly params?: Readonly<Record<string, unknown>>
  readonly stake?: Readonly<Record<string, unknown>>
}

/** `app_state` of genesis.json. */
export function appStateOf({ accounts, candidacies, params = {}, stake = {} }: TestGenesis): object {
  return {
    accounts: accounts.map(({ address, balance }) => ({ address, balance: balance.toString() })),
    params,
    stake,
    candidacies: candidacies.map(({ owner, key, shares, maxShares = shares * 10n, delegations = [] }) => ({
      owner: owner.address,
      pub_key: toBase64(key),
      shares: shares.toString(),
      max_shares: maxShares.toString(),
      ...(delegations.length === 0
        ? {}
        : { delegations: delegations.map(({ delegator, amount }) => ({ delegator, amount: amount.toString() })) }),
    })),
  }
}

/** One block: who signed the last commit, evidence, and its time. */
export interface TestBlock {
  readonly txs?: readonly Uint8Array[]
  /** Keys of the set that did not sign the last commit. */
  readonly absent?: readonly PubKey[]
  readonly misbehavior?: readonly Misbehavior[]
  /** Seconds since the block before; 1 by default. */
  readonly seconds?: number
}

export interface TestBlockResult {
  readonly height: number
  readonly response: FinalizeBlockResponse
  readonly results: readonly ExecTxResult[]
}

/** The application, each answer of which must be one that a message can hold: another one ends the program. */
function checked(app: CompleteApplication): CompleteApplication {
  const handlers = (Object.entries(app) as [ReplyKind, (request: unknown) => unknown][]).map(([kind, handle]) => [
    kind,
    (request: unknown): unknown => {
      const reply = handle(request)
      if (!(reply instanceof Promise)) checkReply(kind, reply)
      return reply
    },
  ])
  return Object.fromEntries(handlers) as CompleteApplication
}

/**
 * A chain in process: the application on a store, and the part of CometBFT that decides blocks and applies validator
 * updates two heights later. Every call is what a node would send.
 */
export class TestChain {
  readonly app: CompleteApplication
  readonly store: Store
  height: number
  /** Unix seconds of the last block. */
  time = GENESIS_TIME
  /** Key → power at each height, as CometBFT has it. */
  readonly sets = new Map<number, ReadonlyMap<PubKey, number>>()
  private readonly initialHeight: number

  constructor(options: { store?: Store; initialHeight?: number; app?: Partial<AppOptions> } = {}) {
    this.store = options.store ?? openMemoryStore({ tables })
    this.initialHeight = options.initialHeight ?? 1
    this.height = this.initialHeight - 1
    const logger = { info: () => {}, error: () => {} }
    this.app = checked(
      createApp({ store: this.store, version: 'test', node: { os: 'ubuntu' }, logger, ...options.app }),
    )
  }

  /** InitChain; returns its answer. */
  init(genesis: TestGenesis | object): InitChainResponse {
    const isTyped =
      'accounts' in genesis &&
      Array.isArray(genesis.accounts) &&
      genesis.accounts.every((one) => typeof one.balance === 'bigint')
    const appState = isTyped ? appStateOf(genesis as TestGenesis) : genesis
    const response = this.app.initChain({
      time: { seconds: GENESIS_TIME, nanos: 0 },
      chainId: CHAIN_ID,
      validators: [],
      initialHeight: this.initialHeight,
      appStateBytes: new TextEncoder().encode(JSON.stringify(appState)),
      consensusParams: {
        block: { maxBytes: 1_000_000, maxGas: -1 },
        evidence: { maxAgeNumBlocks: 1, maxAgeDuration: { seconds: 1, nanos: 0 }, maxBytes: 100_000 },
      },
    }) as InitChainResponse
    const set = updateValidators(new Map(), response.validators ?? []) as ReadonlyMap<PubKey, number>
    this.sets.set(this.initialHeight, set)
    this.sets.set(this.initialHeight + 1, set)
    return response
  }

  /** The last commit of the next block: the whole set of the head's height, but for who is absent. */
  lastCommit(absent: readonly PubKey[] = []): CommitInfo {
    if (this.height < this.initialHeight) return { round: 0, votes: [] }
    return commitInfo(this.sets.get(this.height) ?? new Map(), absent)
  }

  /** The next block, as every request about it describes it. The last commit has another name in each. */
  next({ txs = [], misbehavior = [], seconds = 1 }: TestBlock = {}) {
    return {
      txs,
      misbehavior,
      hash: nothing,
      height: this.height + 1,
      time: { seconds: this.time + seconds, nanos: 0 },
      nextValidatorsHash: nothing,
      proposerAddress: nothing,
    }
  }

  /** ProcessProposal of the next block; returns its status. */
  propose(block: TestBlock = {}): number | undefined {
    const request = { ...this.next(block), proposedLastCommit: this.lastCommit(block.absent) }
    return (this.app.processProposal(request) as ProcessProposalResponse).status
  }

  /** FinalizeBlock of the next height, without Commit. */
  finalize(block: TestBlock = {}): FinalizeBlockResponse {
    const request = { ...this.next(block), decidedLastCommit: this.lastCommit(block.absent) }
    return this.app.finalizeBlock(request) as FinalizeBlockResponse
  }

  /**
   * One whole block: FinalizeBlock, Commit, and the validator updates applied two heights later. Throws when supply is
   * not conserved.
   */
  block(block: TestBlock = {}): TestBlockResult {
    const response = this.finalize(block)
    this.app.commit({})
    this.height++
    this.time += block.seconds ?? 1
    const set = updateValidators(this.sets.get(this.height + 1) ?? new Map(), response.validatorUpdates ?? [])
    const gap = supplyGap(this.store)
    if (gap !== 0n) throw new Error(`height ${this.height}: the state holds ${gap} units more than its supply`)
    this.sets.set(this.height + 2, set as ReadonlyMap<PubKey, number>)
    return { height: this.height, response, results: response.txResults ?? [] }
  }

  /** Blocks without transactions up to `height`. */
  advanceTo(height: number): void {
    while (this.height < height) this.block()
  }

  /** The nonce that the sender's next transaction needs. */
  nonceOf(signer: Signer): number {
    return (this.query(`/accounts/${signer.address}`) as { nonce: number }).nonce
  }

  /** A signed transaction; the nonce is the committed one unless given. */
  tx(
    signer: Signer,
    operation: string,
    message: Readonly<Record<string, unknown>>,
    nonce = this.nonceOf(signer),
  ): Uint8Array {
    return signer.signTx({ chainId: CHAIN_ID, nonce, operation, message })
  }

  check(tx: Uint8Array, type = 0): CheckTxResponse {
    return this.app.checkTx({ tx, type }) as CheckTxResponse
  }

  /** One block with one transaction; returns its result. */
  deliver(signer: Signer, operation: string, message: Readonly<Record<string, unknown>> = {}): ExecTxResult {
    return this.block({ txs: [this.tx(signer, operation, message)] }).results[0] as ExecTxResult
  }

  /** The raw answer to a query. */
  abciQuery(path: string, height = 0, prove = false): QueryResponse {
    return this.app.query({ path, data: nothing, height, prove }) as QueryResponse
  }

  /** The data a query answers; throws on a non-zero code. */
  query(path: string, height = 0): unknown {
    const response = this.abciQuery(path, height)
    if (response.code !== 0) throw new Error(`${path}: ${response.code} ${response.log}`)
    return JSON.parse(new TextDecoder().decode(response.value))
  }
}
