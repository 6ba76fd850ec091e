import { addressOf } from '../../base/address.ts'
import type { IncludedTx } from '../../comet/rpc.ts'
import { txEntries, txEntryOf } from '../../modules/registry.ts'
import { decodeTx } from '../../tx/envelope.ts'
import { field, optional, printFields } from '../../tx/fields.ts'
import { address } from '../../values/account.ts'
import { uint } from '../../values/number.ts'
import type { Chain } from '../chain.ts'
import { isRpcError, RpcError } from '../errors.ts'
import { transactionBytes, transactionHash } from '../fields.ts'
import { foundTransaction, transactionResult } from '../openrpc.ts'
import { includedParts, resultOf, type TransactionResult } from '../result.ts'
import type { Outcome } from '../sender.ts'
import { defineMethod, type Method, outcomeLabel, type Services } from './define.ts'

/** The result object of what `send` sends; counts its end under `operation`. `send` is called at once. */
export async function transact(
  { chain, onOutcome }: Services,
  operation: string,
  send: () => Promise<Outcome>,
): Promise<TransactionResult> {
  try {
    const outcome = await send()
    onOutcome(operation, outcomeLabel(outcome))
    return await resultOf(chain, outcome)
  } catch (error) {
    onOutcome(operation, isRpcError(error) ? String(error.code) : 'defect')
    throw error
  }
}

type Entry = (typeof txEntries)[number]

const common = {
  from: field(address, 'account that acts; the gateway must hold its key'),
  nonce: optional(field(uint, 'number of transactions made by the sender before this one')),
}

function operationMethod({ operation, method, doc, input, returns }: Entry): Method {
  return {
    name: method,
    doc,
    params: { form: 'object' },
    errors: ['noKey', 'nodeAway', 'notInBlock', 'mempoolFull', 'needsToken'],
    signs: true,
    input: { from: common.from, ...input, nonce: common.nonce },
    result: transactionResult(returns),
    run: async (services, given) => {
      const { from, nonce, ...message } = given
      const sender = addressOf(from as Uint8Array)
      const signer = services.signers.get(sender)
      if (signer === undefined) throw new RpcError('noKey', `the gateway has no key for ${sender}`, { from: sender })
      return transact(services, operation, () =>
        services.sender.submit(signer, { operation, message, nonce: nonce as number | undefined }),
      )
    },
  }
}

/** A method for each transaction type of the chain. Source: interface, Endpoints; protocol.md §10. */
export const operationMethods: readonly Method[] = txEntries.map(operationMethod)

const sendRawTransaction = defineMethod({
  name: 'svc_sendRawTransaction',
  doc: 'Sends a signed transaction and waits for its block; the same bytes never execute twice.',
  input: { transaction: transactionBytes },
  count: 1,
  errors: ['nodeAway', 'notInBlock', 'mempoolFull'],
  result: transactionResult(undefined),
  run: async (services, { transaction }) => {
    const tx = decodeTx(transaction)
    return transact(services, 'why' in tx ? 'unknown' : tx.body.operation, () => services.sender.submitRaw(transaction))
  },
})

/** What a transaction's bytes say; nulls for bytes that are none, which a block may hold all the same. */
function told(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const tx = decodeTx(bytes)
  if ('why' in tx) return { sender: null, nonce: null, operation: null, message: null }
  const { from, nonce, operation, message } = tx.body
  const entry = txEntryOf.get(operation)
  return {
    sender: addressOf(from),
    nonce,
    operation,
    message: entry === undefined ? null : printFields(entry.input, message),
  }
}

async function print(chain: Chain, { hash, height, index, tx, result }: IncludedTx): Promise<unknown> {
  const gasPrice = result.code === 0 && result.gasUsed > 0 ? await chain.asked.gasPrice(height) : 0n
  return { height, hash, index, ...told(tx), ...includedParts(result, gasPrice) }
}

const getTransaction = defineMethod({
  name: 'svc_getTransaction',
  doc: 'A transaction in a block, with its real height also when it failed; null when the node knows none.',
  input: { hash: transactionHash },
  count: 1,
  errors: ['nodeAway'],
  result: { anyOf: [foundTransaction, { type: 'null' }] },
  run: async ({ chain }, { hash }) => {
    const found = await chain.asked.findTx(hash)
    return found === undefined ? null : print(chain, found)
  },
})

/** Transactions that somebody else signed, and those in a block. Source: protocol.md §10. */
export const transactionMethods: readonly Method[] = [sendRawTransaction, getTransaction]
