import type { Address } from '../../../values/address.ts'
import { checkFields, decodeFields, type Fields, type ValuesOf } from '../../../tx/fields.ts'
import type { Signer } from '../../../tx/sign.ts'
import type { JsonSchema } from '../../../values/valueType.ts'
import type { Chain } from '../../chain.ts'
import { RpcError, type RpcErrorName } from '../errors.ts'
import type { Faucet } from '../../send/faucet.ts'
import type { Sender } from '../../send/sender.ts'
import type { Subscriber } from '../../feed/subscriptions.ts'

/** What methods work with. */
export interface Services {
  readonly chain: Chain
  readonly sender: Sender
  /** In the order of `--unlock`. */
  readonly signers: ReadonlyMap<Address, Signer>
  /** Told of each transaction's end: `ok`, `check_tx_failed`, `deliver_tx_failed`, or the JSON-RPC error's code. */
  readonly onOutcome: (operation: string, outcome: string) => void
  /** The OpenRPC document for a gateway that is reached at this URL. */
  readonly discover: (url: string) => unknown
  /**
   * Lets the chain make `blocks` blocks at once, after `head` and after those of earlier calls. Returns the height of the
   * last one. Only where blocks wait for transactions.
   */
  readonly propose: ((head: number, blocks: number) => number) | undefined
  /** Whether the gateway is closing: then no call waits any longer. */
  readonly isClosing: () => boolean
  /** Only where the keys of the signers are public, so that everybody has their tokens anyway. */
  readonly faucet: Faucet
}

/** The subscriptions of the websocket that a call came over. */
export type CallSubscriber = Pick<Subscriber, 'add' | 'remove'>

/** The connection that a call came over. */
export interface CallConnection {
  /** The address of the caller; an IPv6 address counts by its /64. */
  readonly address: string
  /** That header of the request. */
  readonly authorization: string | undefined
  /** The address at which the caller reached the gateway: http://host:port/, or https:// behind a proxy. */
  readonly url: string
  /** Counts the call as so many more than one, and waits for their turn. Throws an RpcError where the caller has had too many. */
  readonly charge: (calls: number) => Promise<void>
  /** Only of a websocket. */
  readonly subscriber?: CallSubscriber
}

/** One JSON-RPC method. */
export interface Method {
  readonly name: string
  /** Function of the client, under web3.svc: the name without svc_ when left out. */
  readonly call?: string
  /** One sentence for the docs. */
  readonly doc: string
  readonly input: Fields
  /**
   * How many fields, from the first one, may be given by position instead of all by name. Undefined for a method that
   * takes one object, alone or in an array.
   */
  readonly positional: number | undefined
  readonly result: JsonSchema
  /** Errors beside those that every call can have. */
  readonly errors: readonly RpcErrorName[]
  /** True when the gateway signs with a key of its own: then a token may be asked for. */
  readonly signs?: true
  /** True when the answer is a whole list, which counts for more in the rate limit. */
  readonly isList?: boolean
  /** True for what only tools of other chains ask: the client has no function for it, and the CLI no command. */
  readonly isForeign?: true
  /**
   * True when a call is bounded in another way: it waits for a block, takes its turn for a list, a history or a block, or
   * concerns only its websocket. An address may have CALLS_OF_ADDRESS_MAX of all other calls under way.
   */
  readonly hasOwnBounds?: true
  /** True when it is about the websocket that the call came over, and is refused elsewhere. */
  readonly needsSocket?: true
  /** Its part before the first await runs in the order of the calls. */
  readonly run: (
    services: Services,
    input: Readonly<Record<string, unknown>>,
    connection: CallConnection,
  ) => Promise<unknown>
}

/** Methods that people look for together. */
export interface MethodGroup {
  readonly name: string
  readonly methods: readonly Method[]
}

/** A method as it is declared. */
export interface Definition<M extends Fields> extends Omit<Method, 'input' | 'positional' | 'errors' | 'run'> {
  readonly input: M
  /** All fields when left out. */
  readonly positional?: number
  /** Only `nodeAway` when left out. */
  readonly errors?: readonly RpcErrorName[]
  readonly run: (services: Services, input: ValuesOf<M>, connection: CallConnection) => Promise<unknown>
}

/** Declares a method, whose `run` gets what its fields mean. A field that is no value of its type is refused. */
export const defineMethod = <const M extends Fields>({ run, ...method }: Definition<M>): Method => ({
  positional: Object.keys(method.input).length,
  errors: ['nodeAway'],
  ...method,
  run: (services, given, connection) => {
    const malformed = checkFields(method.input, given as never)
    if (malformed !== undefined) throw new RpcError('invalidParams', malformed)
    return run(services, decodeFields(method.input, given as never), connection)
  },
})
