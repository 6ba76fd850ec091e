import { type Address, parseAddress } from '../values/address.ts'
import { ONE, parseRatio, printRatio } from '../base/amount.ts'
import type { TransactionResult } from '../tx/result.ts'
import type { AnySigner } from '../tx/sign.ts'
import { createLocalAccounts, type LocalAccounts } from './accounts.ts'
import { type AccountSender, createAccountSender, waitForTx } from './accountSender.ts'
import { callbackForm, type Client, needDone, operationFunction, promiseForm, queryFunction, treeOf } from './calls.ts'
import { SvcRpcError } from './errors.ts'
import { type AsyncFunctions, operations, queries, type SvcFunctions } from './gen/calls.ts'
import type { VerifiedDelegation } from './light/proveDelegations.ts'
import type { VerifiedRow } from './light/proveRow.ts'
import type { SubscribeOptions, SvcSubscription, SvcTopics } from './subscribe.ts'
import { type Call, httpTransport, type Target, type Transport } from './transport.ts'
import type { VerifyOptions, WaitOptions } from './types.ts'

/**
 * Functions whose answers the client verifies. Each has the name of the function that asks for the same thing without a
 * proof.
 *
 * @example
 * const verified: SvcVerified = svc.verified
 * const { data, header } = await verified.stake.validator.query(owner)
 */
export interface SvcVerified {
  readonly stake: {
    readonly validator: {
      /** The candidacy that an address owns. That it owns none cannot be proven: the call rejects. */
      readonly query: (validatorAddress: string, options?: VerifyOptions) => Promise<VerifiedRow>
    }
    readonly delegator: {
      /**
       * What an account has delegated, one element for each candidacy with a record, in the gateway's order. That the
       * gateway leaves none out cannot be proven.
       */
      readonly query: (delegatorAddress: string, options?: VerifyOptions) => Promise<readonly VerifiedDelegation[]>
    }
  }
  readonly governance: { readonly queryProposal: (proposalId: string, options?: VerifyOptions) => Promise<VerifiedRow> }
  /** The account: balance and nonce. */
  readonly getBalance: (address: string, options?: VerifyOptions) => Promise<VerifiedRow>
  readonly getTransactionCount: (address: string, options?: VerifyOptions) => Promise<VerifiedRow>
  /** Any row: its table, and the parts of its key with / between them. */
  readonly getProof: (table: string, key?: string, options?: VerifyOptions) => Promise<VerifiedRow>
}

/**
 * The functions of `svc.verified`. They reject with SvcProofError where anything is missing between a header that the
 * light client verified and the row; with SvcRpcError when the gateway does not answer. The verifier is loaded with the
 * first call.
 */
export function verifiedFunctions(transport: Transport, target: Target): SvcVerified {
  const sources = { ...target, transport }
  const verifier = () => import('./light/proveDelegations.ts')
  const getProof: SvcVerified['getProof'] = async (table, key = '', options = {}) =>
    (await verifier()).proveRow(sources, table, key, options)
  const account = getProof.bind(undefined, 'accounts')
  const delegations: SvcVerified['stake']['delegator']['query'] = async (delegator, options = {}) =>
    (await verifier()).proveDelegations(sources, delegator, options)
  return {
    stake: {
      // What is no address would be the number of a candidacy; a space is in no key.
      validator: {
        query: (owner, options) => getProof('candidacies', parseAddress(owner) ?? `owner ${owner}`, options),
      },
      delegator: { query: delegations },
    },
    governance: { queryProposal: getProof.bind(undefined, 'proposals') },
    getBalance: account,
    getTransactionCount: account,
    getProof,
  }
}

/**
 * The promise forms.
 *
 * @example
 * const calls: SvcAsync = svc.async
 * const { data } = await calls.stake.validator.list()
 */
export interface SvcAsync extends AsyncFunctions {
  /**
   * Resolves with the result object once the transaction is in a block. Rejects with SvcTxError when it failed there,
   * and with SvcRpcError -32012 after `timeoutMs`. The hash may come from the `data.hash` of an SvcRpcError.
   */
  readonly waitForTx: (hash: string, options?: WaitOptions) => Promise<TransactionResult>
}

/**
 * `svc.subscribe`: a topic, options if there are any, and what is called with each event.
 *
 * @example
 * const subscribe: Subscribe = svc.subscribe
 * await subscribe('newBlock', { from: 1 }, ({ height, time }) => console.log(height, time))
 */
export interface Subscribe {
  <T extends keyof SvcTopics>(topic: T, onEvent: (event: SvcTopics[T]) => void): Promise<SvcSubscription>
  <T extends keyof SvcTopics>(
    topic: T,
    options: SubscribeOptions,
    onEvent: (event: SvcTopics[T]) => void,
  ): Promise<SvcSubscription>
}

/** The `subscribe` of a gateway. The websocket's part is loaded with the first call. */
function subscribeAt(url: string): Subscribe {
  let connection: ReturnType<typeof import('./subscribe.ts').connect> | undefined
  return async (topic: string, ...rest: readonly unknown[]) => {
    const { connect } = await import('./subscribe.ts')
    connection ??= connect(url)
    const [options, onEvent] = rest.length > 1 ? rest : [{}, rest[0]]
    return connection.subscribe(topic, options as SubscribeOptions, onEvent as (event: never) => void)
  }
}

/**
 * web3.svc: every function, with a callback or synchronous; the same functions as promises under `async`; and the
 * accounts that the client signs for.
 *
 * @example
 * const { data } = await svc.async.stake.validator.query(owner)
 * svc.stake.validator.query(owner, (error, validator) => console.log(error ?? validator?.data))
 */
export interface Svc extends SvcFunctions {
  readonly async: SvcAsync
  /**
   * Tells of events as they happen, over a websocket that opens itself again when it is lost. Resolves once the gateway
   * has accepted the subscription; rejects with SvcRpcError.
   */
  readonly subscribe: Subscribe
  /** Rows of the state that the client proves by itself; needs `light` in the Target. */
  readonly verified: SvcVerified
  readonly accounts: LocalAccounts
  /** The `from` of operations that name none. Source: interface, Authentication 1. */
  defaultAccount: string | undefined
}

/**
 * The constructor of a client, and the conversion of amounts.
 *
 * @example
 * const make = (constructor: SvcConstructor): Svc => new constructor('http://127.0.0.1:8545')
 * const units = Svc.fromTokens('1.5')
 */
export interface SvcConstructor {
  /**
   * A client of the gateway at a URL. `signer` becomes one of its accounts, and the `from` of operations that name none.
   * Throws a TypeError when the URL is none.
   */
  new (target: string | Target, options?: { readonly signer?: AnySigner }): Svc
  /**
   * Tokens as decimal text of an amount in base units: `1500000000000000000` is `1.5`. Throws a RangeError on what is
   * no amount.
   */
  readonly toTokens: (amount: string | bigint | number) => string
  /** Base units of decimal text of tokens, at most 18 decimals. Throws a RangeError on any other text. */
  readonly fromTokens: (tokens: string | number | bigint) => bigint
}

const STATUS: Call = { method: 'svc_status', params: [] }

/** Throws SvcRpcError where it is none: it would be kept, and signed for. */
function chainIdOf(status: unknown): string {
  const { chain_id: id } = Object(status) as { readonly chain_id?: unknown }
  if (typeof id === 'string') return id
  throw new SvcRpcError(STATUS.method, undefined, 'the gateway does not say which chain it serves')
}

/**
 * The functions and accounts of a client over any transport. `defaultAccount` is read at each call. `chainIdGiven`: the
 * chain for which accounts sign, whatever the gateway says.
 */
export function createFunctions(
  transport: Transport,
  defaultAccount: () => string | undefined,
  chainIdGiven?: string,
): Omit<Svc, 'defaultAccount' | 'subscribe' | 'verified'> {
  const senders = new Map<Address, AccountSender>()
  let known = chainIdGiven
  let reading: Promise<string> | undefined
  const readChainId = (): Promise<string> =>
    (reading ??= transport
      .ask(STATUS)
      .then(chainIdOf)
      .finally(() => {
        reading = undefined
      }))
  const chainId = async (): Promise<string> => (known ??= await readChainId())
  const chainIdBlocking = (call: string): string => (known ??= chainIdOf(transport.askBlocking(STATUS, call)))
  const client: Client = { transport, senders, defaultAccount }
  const functions = [
    ...operations.map((spec) => operationFunction(client, spec)),
    ...queries.map((spec) => queryFunction(client, spec)),
  ]
  return {
    ...treeOf<SvcFunctions>(functions, callbackForm),
    async: {
      ...treeOf<AsyncFunctions>(functions, (one) => promiseForm(transport, one)),
      waitForTx: async (hash, options) =>
        needDone(transport, await waitForTx(transport, hash, options), options?.signal),
    },
    accounts: createLocalAccounts(senders, (signer) =>
      createAccountSender(signer, { transport, chainId, chainIdBlocking }),
    ),
  }
}

function toTokens(amount: string | bigint | number): string {
  const units =
    typeof amount === 'number' && !Number.isSafeInteger(amount) ? null : /^[0-9]{1,60}$/.exec(String(amount))
  if (units === null) throw new RangeError(`toTokens: expected a whole number of base units, got ${amount}`)
  return printRatio(BigInt(amount))
}

function fromTokens(tokens: string | number | bigint): bigint {
  const units = typeof tokens === 'bigint' ? (tokens < 0n ? undefined : tokens * ONE) : parseRatio(String(tokens))
  if (units === undefined)
    throw new RangeError(`fromTokens: expected decimal text with at most 18 decimals, got ${tokens}`)
  return units
}

function construct(this: unknown, target: string | Target, { signer }: { readonly signer?: AnySigner } = {}): Svc {
  const where = typeof target === 'object' ? target : { url: target }
  const transport = httpTransport(where)
  const svc: Svc = {
    ...createFunctions(transport, () => svc.defaultAccount, where.chainId),
    subscribe: subscribeAt(where.url),
    verified: verifiedFunctions(transport, where),
    defaultAccount: undefined,
  }
  if (signer !== undefined) svc.defaultAccount = svc.accounts.add(signer)
  return svc
}

/**
 * web3.svc of a gateway. Source: interface, Endpoints.
 *
 * @example
 * const local = new Svc('http://127.0.0.1:8545')
 * const { height } = await local.async.status()
 */
export const Svc: SvcConstructor = Object.assign(
  construct as typeof construct & (new (target: string | Target, options?: { readonly signer?: AnySigner }) => Svc),
  {
    toTokens,
    fromTokens,
  },
)
