import { addressOf, parseAddress } from '../../base/address.ts'
import { toBase64 } from '../../base/bytes.ts'
import { printTime } from '../../base/time.ts'
import { tables, txEntries, txEntryOf } from '../../modules/registry.ts'
import { field, type Fields, type MessageOf, optional } from '../../tx/fields.ts'
import { decimal } from '../../tx/result.ts'
import { address } from '../../values/account.ts'
import { proposalId } from '../../values/key.ts'
import { uint } from '../../values/number.ts'
import { flag } from '../../values/text.ts'
import type { JsonSchema } from '../../values/valueType.ts'
import type { Chain } from '../chain.ts'
import { RpcError } from '../errors.ts'
import { countedUpTo, latestBlock, operationName, proposalState, proposalType, rowKey, rowTable } from '../fields.ts'
import {
  accountUpdate,
  answerOf,
  countedAnswerOf,
  feeEstimate,
  orNull,
  paramChange,
  paramsObject,
  proposalObject,
  proposalResults,
  proposalTypes,
  proposalWithVotes,
  provenRow,
  setMember,
  statusObject,
  supplyObject,
  unbondingEntry,
  validatorObject,
} from '../openrpc.ts'
import { defineMethod, type Definition, type Method } from './define.ts'

/** A query that the application answers by itself, with `data` of the given schema. */
interface Query<M extends Fields> extends Pick<Definition<M>, 'name' | 'doc' | 'input' | 'positional'> {
  readonly data: JsonSchema
  readonly path: (input: MessageOf<M>) => string
  readonly ask?: 'query' | 'queryOne' | 'queryList'
  /** Whether options make the answer say how many elements there are. */
  readonly mayHaveTotal?: true
}

const defineQuery = <const M extends Fields>({ data, path, ask = 'query', mayHaveTotal, ...query }: Query<M>): Method =>
  defineMethod({
    ...query,
    result: (mayHaveTotal ? countedAnswerOf : answerOf)(data),
    isList: ask === 'queryList',
    run: ({ chain }, input) => chain[ask](path(input)),
  })

const ignoredHeight = optional(field(uint, 'not implemented by the interface: the answer is always for the head'))

const page = {
  limit: optional(field(uint, 'most elements to answer; all when left out')),
  offset: optional(field(uint, 'elements to leave out at the start; 0 when left out')),
}

/** The path of a list with its options, none of which has a character that a path gives a meaning. */
function listPath(path: string, options: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return given.length === 0 ? path : `${path}?${given.map(([name, value]) => `${name}=${value}`).join('&')}`
}

const HASHED = tables.filter(({ hashed }) => hashed).map(({ name }) => name as string)

/** Reads the id of an owner's candidacy. It cannot be proven that an address owns none, because rows are hashed by id. */
async function candidacyOf(chain: Chain, owner: string): Promise<string> {
  const { data } = await chain.query(`/stake/candidacy-id/${owner}`)
  if (data === null) throw new RpcError('invalidParams', `key: ${owner} owns no candidacy, and that cannot be proven`)
  return String(data)
}

async function proveRow(chain: Chain, table: string, key: string): Promise<unknown> {
  const owner = table === 'candidacies' ? parseAddress(key) : undefined
  const rest = owner === undefined ? key : await candidacyOf(chain, owner)
  const { height, ...bytes } = await chain.prove(`/store/${table}${rest === '' ? '' : `/${rest}`}`)
  return { height, key: toBase64(bytes.key), value: toBase64(bytes.value), proof: toBase64(bytes.proof) }
}

/** The parameters that gas depends on. Source: protocol.md §2, Gas and fees. */
const gasParams = (data: Readonly<Record<string, number>>) => ({
  declareCandidacy: data['declare_candidacy'] ?? 0,
  updateCandidacy: data['update_candidacy'] ?? 0,
  governanceProposal: data['governance_proposal'] ?? 0,
})

async function readStatus({ forCallers: { rpc } }: Chain, version: string): Promise<unknown> {
  // CometBFT answers for itself when the application does not.
  const [status, application] = await Promise.all([rpc.status(), rpc.application().catch(() => undefined)])
  const height = status.latestHeight
  return {
    chain_id: status.chainId,
    height,
    time: height === 0 ? '' : printTime(Math.floor(status.latestTimeMs / 1000)),
    app_hash: height === 0 ? '' : (await rpc.block(height)).appHash,
    catching_up: status.catchingUp,
    node_version: status.version,
    application_version: application?.version ?? '',
    program_version: application?.programVersion ?? 0,
    chain_program_version: application?.chainProgramVersion ?? 0,
    version,
  }
}

/** The queries of the interface and their extensions, and accounts. Source: interface, Endpoints; protocol.md §8, §10. */
export const queryMethods: readonly Method[] = [
  defineQuery({
    name: 'svc_queryValidator',
    doc: 'The validator object of an address at the head, data null when it has no record.',
    input: { validatorAddress: field(address), height: ignoredHeight },
    data: orNull(validatorObject),
    ask: 'queryOne',
    path: ({ validatorAddress }) => `/stake/validator/${addressOf(validatorAddress)}`,
  }),
  defineQuery({
    name: 'svc_queryValidators',
    doc: 'All current validators and candidates at the head, in rank order.',
    input: { height: ignoredHeight, ...page },
    positional: 1,
    data: { type: 'array', items: validatorObject },
    ask: 'queryList',
    path: ({ limit, offset }) => listPath('/stake/validators', { limit, offset }),
  }),
  defineQuery({
    name: 'svc_queryProposals',
    doc: 'All proposals, the oldest first; newest, state and type choose among them, and then total counts the chosen ones.',
    input: {
      ...page,
      newest: optional(field(flag, 'whether the newest come first')),
      state: optional(proposalState(proposalResults)),
      type: optional(proposalType(proposalTypes)),
    },
    positional: 0,
    data: { type: 'array', items: proposalObject },
    mayHaveTotal: true,
    ask: 'queryList',
    path: (given) => listPath('/governance/proposals', given),
  }),
  defineMethod({
    name: 'svc_queryParams',
    doc: 'The system parameters in force in the block of a height.',
    input: { height: optional(field(uint, 'height of the block; 0, the default, is the head')) },
    result: answerOf(paramsObject),
    run: async ({ chain }, { height = 0 }) => {
      const answer = await chain.query('/governance/params', height)
      return height === 0 ? answer : { ...answer, height }
    },
  }),
  defineQuery({
    name: 'svc_queryProposal',
    doc: 'A proposal with its votes and tally, data null when it is unknown.',
    input: { proposalId: field(proposalId) },
    data: orNull(proposalWithVotes),
    path: ({ proposalId: id }) => `/governance/proposal/${toBase64(id).replaceAll('+', '-').replaceAll('/', '_')}`,
  }),
  defineQuery({
    name: 'svc_queryUnbonding',
    doc: 'What still unbonds for an address.',
    input: { address: field(address) },
    data: { type: 'array', items: unbondingEntry },
    path: ({ address: owner }) => `/stake/unbonding/${addressOf(owner)}`,
  }),
  defineQuery({
    name: 'svc_queryValidatorSet',
    doc: 'The validator set as CometBFT was last told it; proven is false for a key that joins with power 1 until it has signed.',
    input: {},
    data: { type: 'array', items: setMember },
    path: () => '/stake/set/owners',
  }),
  defineQuery({
    name: 'svc_queryAccountUpdate',
    doc: 'A request to bind a candidacy to another address, with its status; data null when there is none of that id.',
    input: { accountUpdateRequestId: field(uint, 'id that updateAccount returned') },
    data: orNull(accountUpdate),
    ask: 'queryOne',
    path: ({ accountUpdateRequestId: id }) => `/stake/account-update/${id}`,
  }),
  defineQuery({
    name: 'svc_queryAccountUpdates',
    doc: 'The pending requests that an address made or may accept, the newest first.',
    input: { address: field(address), ...page },
    positional: 1,
    data: { type: 'array', items: accountUpdate },
    ask: 'queryList',
    path: ({ address: account, ...options }) => listPath(`/stake/account-updates/${addressOf(account)}`, options),
  }),
  defineQuery({
    name: 'svc_getParamsHistory',
    doc: 'Every value that a system parameter was given, the newest first; those of genesis are in force from height 0.',
    input: page,
    positional: 0,
    data: { type: 'array', items: paramChange },
    ask: 'queryList',
    path: (given) => listPath('/governance/params-history', given),
  }),
  defineMethod({
    name: 'svc_getSupply',
    doc: 'The supply at the head in base units, and what it is made of: genesis_supply + minted - burned.',
    input: {},
    result: supplyObject,
    run: async ({ chain }) => {
      const { height, data } = await chain.queryOne('/chain/supply')
      return { height, ...(data as object) }
    },
  }),
  defineMethod({
    name: 'svc_accounts',
    doc: 'Addresses that the gateway can sign for, in keystore order.',
    input: {},
    errors: [],
    result: { type: 'array', items: { type: 'string' } },
    run: async ({ signers }) => [...signers.keys()],
  }),
  defineMethod({
    name: 'svc_getBalance',
    doc: 'Balance of an account in base units.',
    input: { address: field(address), block: optional(latestBlock) },
    result: decimal,
    run: async ({ chain }, given) => (await chain.forCallers.account(addressOf(given.address))).balance,
  }),
  defineMethod({
    name: 'svc_estimateFee',
    doc: 'Gas and fee (in base units) of an operation at the gas price of the head; what it stakes or pays comes on top.',
    input: { operation: operationName(txEntries.map(({ operation }) => operation)) },
    result: feeEstimate,
    run: async ({ chain }, { operation }) => {
      const { height, data } = await chain.queryOne('/governance/params')
      const prices = data as Readonly<Record<string, number>>
      const gas = txEntryOf.get(operation)?.gas(gasParams(prices)) ?? 0
      const gasPrice = prices['gas_price'] ?? 0
      return { height, gas, gas_price: gasPrice, fee: (BigInt(gas) * BigInt(gasPrice)).toString() }
    },
  }),
  defineMethod({
    name: 'svc_getTransactionCount',
    doc: 'Number of transactions an account made: the nonce of its next one.',
    input: { address: field(address), block: optional(countedUpTo) },
    result: { type: 'integer' },
    run: async ({ chain, sender }, given) => {
      const account = addressOf(given.address)
      const { nonce } = await chain.forCallers.account(account)
      return given.block === 'pending' ? Math.max(nonce, sender.pendingNonce(account)) : nonce
    },
  }),
]

/** What the node says of the chain, and proofs of its state. Source: protocol.md §8, §10. */
export const chainMethods: readonly Method[] = [
  defineMethod({
    name: 'svc_blockNumber',
    doc: 'Height of the head: the last committed block.',
    input: {},
    result: { type: 'integer' },
    run: ({ chain }) => chain.forCallers.rpc.committedHeight(),
  }),
  defineMethod({
    name: 'svc_status',
    doc: 'What the node says of itself.',
    input: {},
    result: statusObject,
    run: ({ chain, version }) => readStatus(chain, version),
  }),
  defineMethod({
    name: 'rpc.discover',
    doc: 'This document: an OpenRPC description of every method.',
    input: {},
    errors: [],
    result: { type: 'object' },
    run: async ({ discover }, _input, { url }) => discover(url),
  }),
  defineMethod({
    name: 'svc_getProof',
    doc: 'A row of the state at the head, with the ICS-23 proof of it or of its absence; a candidacy by its id or its owner.',
    input: { table: rowTable(HASHED), key: optional(rowKey) },
    result: provenRow,
    run: ({ chain }, { table, key = '' }) => proveRow(chain, table, key),
  }),
]
