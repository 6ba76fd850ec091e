import { addressOf, parseAddress } from '../../base/address.ts'
import { toBase64 } from '../../base/bytes.ts'
import { printTime } from '../../base/time.ts'
import { tables } from '../../modules/registry.ts'
import { field, optional } from '../../tx/fields.ts'
import { decimal } from '../../tx/result.ts'
import { address } from '../../values/account.ts'
import { proposalId } from '../../values/key.ts'
import { uint } from '../../values/number.ts'
import type { Chain } from '../chain.ts'
import { RpcError } from '../errors.ts'
import { countedUpTo, rowKey, rowTable } from '../fields.ts'
import {
  answerOf,
  paramsObject,
  proposalObject,
  proposalWithVotes,
  provenRow,
  setMember,
  statusObject,
  unbondingEntry,
  validatorObject,
} from '../openrpc.ts'
import { defineMethod, type Method } from './define.ts'

const ignoredHeight = (): ReturnType<typeof optional<number>> =>
  optional(field(uint, 'not implemented by the interface: the answer is always for the head'))

const page = {
  limit: optional(field(uint, 'most elements to answer; all when left out')),
  offset: optional(field(uint, 'elements to leave out at the start; 0 when left out')),
}

/** The options of a path that is answered in pages. */
function pagePath(path: string, { limit, offset }: { readonly limit?: number; readonly offset?: number }): string {
  const options = Object.entries({ limit, offset })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
  return options.length === 0 ? path : `${path}?${options.join('&')}`
}

const queryValidator = defineMethod({
  name: 'svc_queryValidator',
  doc: 'The validator object of an address at the head, data null when it has no record.',
  input: { validatorAddress: field(address), height: ignoredHeight() },
  count: 2,
  errors: ['nodeAway'],
  result: answerOf({ anyOf: [validatorObject, { type: 'null' }] }),
  run: ({ chain }, { validatorAddress }) => chain.queryOne(`/stake/validator/${addressOf(validatorAddress)}`),
})

const queryValidators = defineMethod({
  name: 'svc_queryValidators',
  doc: 'All current validators and candidates at the head, in rank order.',
  input: { height: ignoredHeight(), ...page },
  count: 1,
  errors: ['nodeAway'],
  result: answerOf({ type: 'array', items: validatorObject }),
  isList: true,
  run: ({ chain }, given) => chain.queryList(pagePath('/stake/validators', given)),
})

const queryProposals = defineMethod({
  name: 'svc_queryProposals',
  doc: 'All proposals, the oldest first.',
  input: page,
  count: 0,
  errors: ['nodeAway'],
  result: answerOf({ type: 'array', items: proposalObject }),
  isList: true,
  run: ({ chain }, given) => chain.queryList(pagePath('/governance/proposals', given)),
})

const queryParams = defineMethod({
  name: 'svc_queryParams',
  doc: 'The system parameters in force in the block of a height.',
  input: { height: optional(field(uint, 'height of the block; 0, the default, is the head')) },
  count: 1,
  errors: ['nodeAway'],
  result: answerOf(paramsObject),
  run: async ({ chain }, { height = 0 }) => {
    const answer = await chain.query('/governance/params', height)
    return height === 0 ? answer : { ...answer, height }
  },
})

const queryProposal = defineMethod({
  name: 'svc_queryProposal',
  doc: 'A proposal with its votes and tally, data null when it is unknown.',
  input: { proposalId: field(proposalId) },
  count: 1,
  errors: ['nodeAway'],
  result: answerOf({ anyOf: [proposalWithVotes, { type: 'null' }] }),
  run: ({ chain }, { proposalId: id }) =>
    chain.query(`/governance/proposal/${toBase64(id).replaceAll('+', '-').replaceAll('/', '_')}`),
})

const queryUnbonding = defineMethod({
  name: 'svc_queryUnbonding',
  doc: 'What still unbonds for an address.',
  input: { address: field(address) },
  count: 1,
  errors: ['nodeAway'],
  result: answerOf({ type: 'array', items: unbondingEntry }),
  run: ({ chain }, { address: owner }) => chain.query(`/stake/unbonding/${addressOf(owner)}`),
})

const queryValidatorSet = defineMethod({
  name: 'svc_queryValidatorSet',
  doc: 'The validator set as CometBFT was last told it; proven is false for a key that joins with power 1 until it has signed.',
  input: {},
  count: 0,
  errors: ['nodeAway'],
  result: answerOf({ type: 'array', items: setMember }),
  run: ({ chain }) => chain.query('/stake/set/owners'),
})

/** The queries of the interface and their extensions. Source: interface, Endpoints; protocol.md §8, §10. */
export const queryMethods: readonly Method[] = [
  queryValidator,
  queryValidators,
  queryProposals,
  queryParams,
  queryProposal,
  queryUnbonding,
  queryValidatorSet,
]

const HASHED = tables.filter(({ hashed }) => hashed).map(({ name }) => name as string)

/** The id of an owner's candidacy. That an address owns none cannot be proven: the rows are hashed by id. */
async function candidacyOf(chain: Chain, owner: string): Promise<string> {
  const { data } = await chain.query(`/stake/candidacy-id/${owner}`)
  if (data === null) throw new RpcError('invalidParams', `key: ${owner} owns no candidacy, and that cannot be proven`)
  return String(data)
}

/** Source: protocol.md §8, §10. */
const getProof = defineMethod({
  name: 'svc_getProof',
  doc: 'A row of the state at the head, with the ICS-23 proof of it or of its absence; a candidacy by its id or its owner.',
  input: { table: rowTable(HASHED), key: optional(rowKey) },
  count: 2,
  errors: ['nodeAway'],
  result: provenRow,
  run: async ({ chain }, { table, key = '' }) => {
    const owner = table === 'candidacies' ? parseAddress(key) : undefined
    const rest = owner === undefined ? key : await candidacyOf(chain, owner)
    const { height, ...bytes } = await chain.prove(`/store/${table}${rest === '' ? '' : `/${rest}`}`)
    return { height, key: toBase64(bytes.key), value: toBase64(bytes.value), proof: toBase64(bytes.proof) }
  },
})

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
  input: { address: field(address) },
  count: 1,
  errors: ['nodeAway'],
  result: decimal,
  run: async ({ chain }, given) => (await chain.forCallers.account(addressOf(given.address))).balance,
})

const getTransactionCount = defineMethod({
  name: 'svc_getTransactionCount',
  doc: 'Number of transactions an account made: the nonce of its next one.',
  input: { address: field(address), block: optional(countedUpTo) },
  count: 2,
  errors: ['nodeAway'],
  result: { type: 'integer' },
  run: async ({ chain, sender }, given) => {
    const account = addressOf(given.address)
    const { nonce } = await chain.forCallers.account(account)
    return given.block === 'pending' ? Math.max(nonce, sender.pendingNonce(account)) : nonce
  },
})

const blockNumber = defineMethod({
  name: 'svc_blockNumber',
  doc: 'Height of the head: the last committed block.',
  input: {},
  count: 0,
  errors: ['nodeAway'],
  result: { type: 'integer' },
  run: ({ chain }) => chain.forCallers.rpc.committedHeight(),
})

const status = defineMethod({
  name: 'svc_status',
  doc: 'What the node says of itself.',
  input: {},
  count: 0,
  errors: ['nodeAway'],
  result: statusObject,
  run: async ({ chain, version }) => {
    const {
      chainId,
      latestHeight,
      latestTimeMs,
      catchingUp,
      version: nodeVersion,
    } = await chain.forCallers.rpc.status()
    const appHash = latestHeight === 0 ? '' : (await chain.forCallers.rpc.block(latestHeight)).appHash
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

/** Accounts and the node. Source: protocol.md §10. */
export const accountMethods: readonly Method[] = [accounts, getBalance, getTransactionCount]

/** What the node says of the chain, and proofs of its state. Source: protocol.md §8, §10. */
export const chainMethods: readonly Method[] = [blockNumber, status, discover, getProof]
