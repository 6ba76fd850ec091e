import { address, parseAddress } from '../../../values/address.ts'
import { toBase64 } from '../../../base/bytes.ts'
import { printTime } from '../../../base/time.ts'
import { VERSION } from '../../../base/version.ts'
import { answerSchema, printPath, type QueryEntry } from '../../../modules/query.ts'
import { queryEntries, tables, txEntryOf } from '../../../modules/registry.ts'
import { field, type Fields, optional } from '../../../tx/fields.ts'
import { decimal } from '../../../tx/result.ts'
import { uint } from '../../../values/number.ts'
import type { JsonSchema } from '../../../values/valueType.ts'
import type { Chain } from '../../chain.ts'
import { RpcError } from '../errors.ts'
import { countedUpTo, latestBlock, oneOf, rowKey } from '../fields.ts'
import { named, string } from '../openrpc.ts'
import { defineMethod, type Method } from './define.ts'

const base64: JsonSchema = { type: 'string', contentEncoding: 'base64' }
const height = optional(field(uint, 'height of the block; 0, the default, is the head'))
const ignoredHeight = optional(field(uint, 'not implemented by the interface: the answer is always for the head'))

/** The input of a query's method: a height stands behind what is required. */
function inputOf({ input, height: takes }: QueryEntry): Fields {
  if (takes === undefined) return input
  const fields = Object.entries(input)
  const isRequired = ([, { optional: may }]: (typeof fields)[number]): boolean => !may
  const own = takes === 'honoured' ? height : ignoredHeight
  return Object.fromEntries([
    ...fields.filter(isRequired),
    ['height', own],
    ...fields.filter((one) => !isRequired(one)),
  ])
}

const isLongList = ({ isList, input }: QueryEntry): boolean => isList === true && 'limit' in input

async function askAt(chain: Chain, path: string, asked: number): Promise<unknown> {
  const answer = await chain.query(path, asked)
  return asked === 0 ? answer : { ...answer, height: asked }
}

/** The method of a query that the application answers by itself. */
function methodOf(entry: QueryEntry & { readonly method: string }): Method {
  const { method, call, doc, positional, isList, isFlat, height: takes } = entry
  return defineMethod({
    name: method,
    ...(call !== undefined && { call }),
    doc,
    input: inputOf(entry),
    ...(positional !== undefined && { positional }),
    result: answerSchema(entry),
    isList: isLongList(entry),
    ...(isList === true && { hasOwnBounds: true }),
    run: async ({ chain }, given, { address: caller }) => {
      const path = printPath(entry, given)
      if (takes === 'honoured') return askAt(chain, path, Number(given['height'] ?? 0))
      if (isLongList(entry)) return chain.queryList(caller, path)
      const answer = await (isList === true ? chain.queryRows(caller, path) : chain.queryOne(path))
      return isFlat === true ? { height: answer.height, ...(answer.data as object) } : answer
    },
  })
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

async function readStatus({ forCallers: { rpc } }: Chain): Promise<unknown> {
  // CometBFT answers for itself when the application does not.
  const [status, application] = await Promise.all([rpc.status(), rpc.application().catch(() => undefined)])
  const height = status.latestHeight
  return {
    chain_id: status.chainId,
    height,
    time: height === 0 ? '' : printTime(Math.floor(status.latestTimeMs / 1000)),
    app_hash: height === 0 ? '' : status.latestAppHash,
    catching_up: status.catchingUp,
    node_version: status.version,
    application_version: application?.version ?? '',
    program_version: application?.programVersion ?? 0,
    chain_program_version: application?.chainProgramVersion ?? 0,
    version: VERSION,
  }
}

/** The queries of the interface and their extensions, and accounts. Source: interface, Endpoints; protocol.md §8, §10. */
export const queryMethods: readonly Method[] = [
  ...queryEntries.flatMap((entry) =>
    entry.method === undefined ? [] : [methodOf({ ...entry, method: entry.method })],
  ),
  defineMethod({
    name: 'svc_accounts',
    call: 'getAccounts',
    doc: 'Addresses that the gateway can sign for, in the order of `--unlock`.',
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
    run: async ({ chain }, given) => (await chain.forCallers.account(given.address)).balance,
  }),
  defineMethod({
    name: 'svc_estimateFee',
    doc: 'Gas and fee (in base units) of an operation at the gas price of the head; what it stakes or pays comes on top.',
    input: { operation: oneOf('operationName', [...txEntryOf.keys()], "operation: its method's name without svc_") },
    result: named('FeeEstimate', { height: uint.schema, gas: uint.schema, gas_price: uint.schema, fee: decimal }),
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
      const account = given.address
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
    result: named('NodeStatus', {
      chain_id: string,
      height: uint.schema,
      time: string,
      app_hash: string,
      catching_up: { type: 'boolean' },
      node_version: string,
      application_version: string,
      program_version: uint.schema,
      chain_program_version: uint.schema,
      version: string,
    }),
    run: ({ chain }) => readStatus(chain),
  }),
  defineMethod({
    name: 'rpc.discover',
    doc: 'The OpenRPC document, which describes every method.',
    input: {},
    errors: [],
    result: { type: 'object' },
    run: async ({ discover }, _input, { url }) => discover(url),
  }),
  defineMethod({
    name: 'svc_getProof',
    doc: 'A row of the state at the head, with the ICS-23 proof of it or of its absence; a candidacy by its id or its owner.',
    input: {
      table: oneOf('rowTable', HASHED, 'table of the state, as protocol.md §2 lists them'),
      key: optional(rowKey),
    },
    result: named('ProvenRow', { height: uint.schema, key: base64, value: base64, proof: base64 }),
    run: ({ chain }, { table, key = '' }) => proveRow(chain, table, key),
  }),
]
