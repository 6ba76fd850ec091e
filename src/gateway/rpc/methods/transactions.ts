import { address, addressOf } from '../../../values/address.ts'
import { txEntries } from '../../../modules/registry.ts'
import { decodeTx } from '../../../tx/envelope.ts'
import { field, optional } from '../../../tx/fields.ts'
import { whyUnsignable } from '../../../tx/signers/index.ts'
import { sentResultSchema, shortfallSchema, transactionResultSchema } from '../../../tx/result.ts'
import { decodeShortfall } from '../../../tx/shortfall.ts'
import { uint } from '../../../values/number.ts'
import { isRpcError, RpcError } from '../errors.ts'
import { transactionBytes, transactionHash } from '../fields.ts'
import { flag } from '../../../values/text.ts'
import { printTx } from '../../feed/found.ts'
import { foundTransaction, orNull } from '../openrpc.ts'
import { resultOf, sentResult } from '../result.ts'
import type { Outcome, SentTx } from '../../send/broadcast.ts'
import { defineMethod, type Method, type Services } from './define.ts'

/** What an outcome counts as in the metrics. */
const outcomeLabel = (outcome: Outcome): string =>
  'refused' in outcome ? 'check_tx_failed' : outcome.included.result.code === 0 ? 'ok' : 'deliver_tx_failed'

/** Resolves with the end of a transaction, and counts it under `operation`. */
export function outcomeOf({ onOutcome }: Services, operation: string, sending: Promise<SentTx>): Promise<Outcome> {
  const outcome = sending.then((sent) => ('refused' in sent ? sent : sent.outcome))
  outcome.then(
    (end) => onOutcome(operation, outcomeLabel(end)),
    (error: unknown) => onOutcome(operation, isRpcError(error) ? String(error.code) : 'defect'),
  )
  return outcome
}

function operationMethod({ operation, method, doc, input, returns }: (typeof txEntries)[number]): Method {
  return {
    name: method,
    doc,
    positional: undefined,
    errors: ['noKey', 'nodeAway', 'notInBlock', 'mempoolFull', 'needsToken'],
    signs: true,
    hasOwnBounds: true,
    input: {
      from: field(address, 'account that acts; the gateway must hold its key'),
      ...input,
      nonce: optional(field(uint, 'number of transactions made by the sender before this one')),
    },
    result: transactionResultSchema(returns),
    run: async (services, given) => {
      const { from, nonce, ...message } = given
      const sender = addressOf(from as Uint8Array)
      const signer = services.signers.get(sender)
      if (signer === undefined) throw new RpcError('noKey', `the gateway has no key for ${sender}`, { from: sender })
      const why = whyUnsignable(signer, input, message)
      if (why !== undefined) throw new RpcError('invalidParams', why)
      const sending = services.sender.submit(signer, { operation, message, nonce: nonce as number | undefined })
      return resultOf(services.chain, await outcomeOf(services, operation, sending))
    },
  }
}

/** A method for each transaction type of the chain. Source: interface, Endpoints; protocol.md §10. */
export const operationMethods: readonly Method[] = txEntries.map(operationMethod)

const sendRawTransaction = defineMethod({
  name: 'svc_sendRawTransaction',
  doc: 'Sends a signed transaction and waits for its block unless told otherwise; the same bytes never execute twice.',
  input: {
    transaction: transactionBytes,
    wait: optional(field(flag, 'whether to wait for the block (true, the default) or to answer after CheckTx (false)')),
  },
  positional: 1,
  errors: ['nodeAway', 'notInBlock', 'mempoolFull'],
  hasOwnBounds: true,
  result: sentResultSchema,
  run: async (services, { transaction, wait = true }, { charge }) => {
    const tx = decodeTx(transaction)
    // Each signature of an account of several keys takes as long to verify as a transaction.
    if (!('why' in tx) && tx.several !== undefined) await charge(tx.several.parts.length - 1)
    const sending = services.sender.submitRaw(transaction)
    const outcome = outcomeOf(services, 'why' in tx ? 'unknown' : tx.body.operation, sending)
    return wait ? resultOf(services.chain, await outcome) : sentResult(await sending)
  },
})

const getTransaction = defineMethod({
  name: 'svc_getTransaction',
  doc: 'A transaction in a block, with its real height also when it failed; null when the node knows none.',
  input: { hash: transactionHash },
  result: orNull(foundTransaction),
  run: async ({ chain }, { hash }) => {
    const found = await chain.forCallers.findTx(hash)
    return found === undefined ? null : printTx(found, found.gasPrice)
  },
})

const getShortfall = defineMethod({
  name: 'svc_getShortfall',
  doc: 'What a failed transaction needed of a balance, and what was there; null when it failed for another reason.',
  input: { hash: transactionHash },
  result: orNull(shortfallSchema),
  run: async ({ chain, sender }, { hash }) => {
    const refused = sender.shortfallOf(hash)
    if (refused !== undefined) return refused
    const found = await chain.forCallers.findTx(hash)
    return decodeShortfall(found?.result.info ?? '') ?? null
  },
})

/** Transactions that somebody else signed, and those in a block. Source: protocol.md §10. */
export const transactionMethods: readonly Method[] = [sendRawTransaction, getTransaction, getShortfall]
