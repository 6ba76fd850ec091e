import { addressOf } from '../../base/address.ts'
import { printTime } from '../../base/time.ts'
import { txEntryOf } from '../../modules/registry.ts'
import type { IncludedTx } from '../../comet/rpc.ts'
import { decodeTx } from '../../tx/envelope.ts'
import { address, optional, printMembers } from '../../tx/members.ts'
import type { Chain } from '../chain.ts'
import { countedUpTo, transactionBytes, transactionHash } from '../members.ts'
import { includedParts } from '../result.ts'
import { decimal, foundTransaction, statusObject, transactionResult } from '../schemas.ts'
import { defineMethod, type Method } from './define.ts'
import { transact } from './transact.ts'

const accounts = defineMethod({
  name: 'svc_accounts',
  doc: 'Addresses that the gateway can sign for, in keystore order.',
  input: {},
  count: 0,
  errors: [],
  result: { type: 'array', items: { type: 'string' } },
  run: async ({ signers }) => [...signers.keys()],
})

const getBalance = defineMethod({
  name: 'svc_getBalance',
  doc: 'Balance of an account in base units.',
  input: { address: address() },
  count: 1,
  errors: ['nodeAway'],
  result: decimal,
  run: async ({ chain }, given) => (await chain.asked.account(addressOf(given.address))).balance,
})

const getTransactionCount = defineMethod({
  name: 'svc_getTransactionCount',
  doc: 'Number of transactions an account made: the nonce of its next one.',
  input: { address: address(), block: optional(countedUpTo()) },
  count: 2,
  errors: ['nodeAway'],
  result: { type: 'integer' },
  run: async ({ chain, sender }, given) => {
    const account = addressOf(given.address)
    const { nonce } = await chain.asked.account(account)
    return given.block === 'pending' ? Math.max(nonce, sender.nextNonce(account)) : nonce
  },
})

const sendRawTransaction = defineMethod({
  name: 'svc_sendRawTransaction',
  doc: 'Sends a signed transaction and waits for its block; the same bytes never execute twice.',
  input: { transaction: transactionBytes() },
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
    message: entry === undefined ? null : printMembers(entry.input, message),
  }
}

async function print(chain: Chain, { hash, height, index, tx, result }: IncludedTx): Promise<unknown> {
  const gasPrice = result.code === 0 && result.gasUsed > 0 ? await chain.asked.gasPrice(height) : 0n
  return { height, hash, index, ...told(tx), ...includedParts(result, gasPrice) }
}

const getTransaction = defineMethod({
  name: 'svc_getTransaction',
  doc: 'A transaction in a block, with its real height also when it failed; null when the node knows none.',
  input: { hash: transactionHash() },
  count: 1,
  errors: ['nodeAway'],
  result: { anyOf: [foundTransaction, { type: 'null' }] },
  run: async ({ chain }, { hash }) => {
    const found = await chain.asked.findTx(hash)
    return found === undefined ? null : print(chain, found)
  },
})

const blockNumber = defineMethod({
  name: 'svc_blockNumber',
  doc: 'Height of the head: the last committed block.',
  input: {},
  count: 0,
  errors: ['nodeAway'],
  result: { type: 'integer' },
  run: ({ chain }) => chain.asked.rpc.committedHeight(),
})

const status = defineMethod({
  name: 'svc_status',
  doc: 'What the node says of itself.',
  input: {},
  count: 0,
  errors: ['nodeAway'],
  result: statusObject,
  run: async ({ chain, version }) => {
    const { chainId, latestHeight, latestTimeMs, catchingUp, version: nodeVersion } = await chain.asked.rpc.status()
    const appHash = latestHeight === 0 ? '' : (await chain.asked.rpc.block(latestHeight)).appHash
    return {
      chain_id: chainId,
      height: latestHeight,
      time: latestHeight === 0 ? '' : printTime(Math.floor(latestTimeMs / 1000)),
      app_hash: appHash,
      catching_up: catchingUp,
      node_version: nodeVersion,
      version,
    }
  },
})

const discover = defineMethod({
  name: 'rpc.discover',
  doc: 'This document: an OpenRPC description of every method.',
  input: {},
  count: 0,
  errors: [],
  result: { type: 'object' },
  run: async (services) => services.discover(),
})

/** Accounts, transactions and the node. Source: protocol.md §10. */
export const chainMethods: readonly Method[] = [
  accounts,
  getBalance,
  getTransactionCount,
  sendRawTransaction,
  getTransaction,
  blockNumber,
  status,
  discover,
]
