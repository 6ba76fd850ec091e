import type { Address } from '../../base/address.ts'
import type { Fields, MessageOf } from '../../tx/fields.ts'
import type { JsonSchema } from '../../values/valueType.ts'
import type { Signer } from '../../tx/sign.ts'
import type { Chain } from '../chain.ts'
import type { RpcErrorName } from '../errors.ts'
import type { ParamsForm } from '../fields.ts'
import type { Sender } from '../sender.ts'

/** What methods work with. */
export interface Services {
  readonly chain: Chain
  readonly sender: Sender
  /** In keystore order. */
  readonly signers: ReadonlyMap<Address, Signer>
  /** Told of each transaction's end: `ok`, `check_tx_failed`, `deliver_tx_failed`, or the JSON-RPC error's code. */
  readonly onOutcome: (operation: string, outcome: string) => void
  /** The OpenRPC document. */
  readonly discover: () => unknown
  /** This program's version. */
  readonly version: string
}

/** One JSON-RPC method. */
export interface Method {
  readonly name: string
  /** One sentence for the docs. */
  readonly doc: string
  readonly input: Fields
  readonly params: ParamsForm
  /** JSON Schema of the result. */
  readonly result: JsonSchema
  /** Errors beside those that every call can have. */
  readonly errors: readonly RpcErrorName[]
  /** True when the gateway signs with a key of its own: then a token may be asked for. */
  readonly signs?: true
  /** True when the answer is a whole list, which counts for more in the rate limit. */
  readonly isList?: true
  /** Its part before the first await runs in the order of the calls. */
  readonly run: (services: Services, input: Readonly<Record<string, unknown>>) => Promise<unknown>
}

/** Declares a method whose first `count` members may be given by position. */
export function defineMethod<const M extends Fields>(
  method: Omit<Method, 'run' | 'params' | 'input'> & {
    readonly count: number
    readonly input: M
    readonly run: (services: Services, input: MessageOf<M>) => Promise<unknown>
  },
): Method {
  const { count, run, ...rest } = method
  return { ...rest, params: { form: 'positional', count }, run: run as Method['run'] }
}
