import { schemaOf } from '../tx/fields.ts'
import { checkTxSchema, decimal, deliverTxSchema, object } from '../tx/result.ts'
import { address } from '../values/account.ts'
import { proposalId, pubKey as pubKeyType } from '../values/key.ts'
import { ratio, uint } from '../values/number.ts'
import { flag, yesNo } from '../values/text.ts'
import type { JsonSchema } from '../values/valueType.ts'
import { type RpcErrorName, rpcErrors } from './errors.ts'
import examples from './examples.json' with { type: 'json' }
import type { Method, MethodGroup } from './methods/define.ts'

const string: JsonSchema = { type: 'string' }
const integer = uint.schema

const foundTransactionMembers = {
  height: integer,
  hash: string,
  index: integer,
  sender: { type: ['string', 'null'] },
  nonce: { type: ['integer', 'null'] },
  operation: { type: ['string', 'null'] },
  message: { type: ['object', 'null'] },
  check_tx: checkTxSchema,
  deliver_tx: deliverTxSchema(),
}

/** What svc_getTransaction answers. Source: protocol.md §10. */
export const foundTransaction: JsonSchema = object(foundTransactionMembers)

/** The schema of a query's answer: `{height, data}`. */
export const answerOf = (data: JsonSchema): JsonSchema => object({ height: integer, data })

/** The same of a list that may say how many elements there are. */
export const countedAnswerOf = (data: JsonSchema): JsonSchema =>
  object({ height: integer, data, total: integer }, ['total'])

const base64: JsonSchema = { type: 'string', contentEncoding: 'base64' }

/** What svc_getProof answers. Source: protocol.md §10. */
export const provenRow: JsonSchema = object({ height: integer, key: base64, value: base64, proof: base64 })

const pubKey: JsonSchema = object({ type: string, value: pubKeyType.schema })

/** Source: interface, Validator object. */
export const validatorObject: JsonSchema = object({
  pub_key: pubKey,
  owner_address: address.schema,
  shares: decimal,
  voting_power: integer,
  max_shares: decimal,
  comp_rate: ratio.schema,
  created_at: string,
  updated_at: string,
  description: object({ name: string, website: string, location: string, email: string, profile: string }),
  verified: yesNo.schema,
  active: yesNo.schema,
  block_height: integer,
  rank: integer,
  state: { enum: ['Validator', 'Candidate', 'Withdrawn'] },
})

/** The values of a proposal's Type. */
export const proposalTypes = ['transfer_fund', 'change_param', 'deploy_libeni', 'retire_program'] as const

/** The values of a resolved proposal's Result. */
export const proposalResults = ['Approved', 'Rejected', 'Expired'] as const

const proposalMembers = {
  Id: proposalId.schema,
  Type: { enum: proposalTypes },
  Proposer: address.schema,
  BlockHeight: integer,
  ExpireBlockHeight: integer,
  ExpireTimestamp: integer,
  CreatedAt: string,
  Result: { enum: ['', ...proposalResults] },
  ResultMsg: string,
  ResultBlockHeight: integer,
  ResultAt: string,
  Detail: { type: 'object' },
}

/** Source: interface, Proposal object; protocol.md §6 for ExpireTimestamp. */
export const proposalObject: JsonSchema = object(proposalMembers, ['ExpireTimestamp'])

/** Source: protocol.md §10, svc_queryProposal. */
export const proposalWithVotes: JsonSchema = object(
  {
    ...proposalMembers,
    Votes: { type: 'array', items: object({ Voter: address.schema, Answer: yesNo.schema, BlockHeight: integer }) },
    Tally: object({ Yes: integer, No: integer, Total: integer }),
  },
  ['ExpireTimestamp'],
)

/** Source: interface, System parameters object. */
export const paramsObject: JsonSchema = object({
  hold_account: address.schema,
  max_vals: integer,
  self_staking_ratio: ratio.schema,
  inflation_rate: { type: 'number' },
  stake_limit: ratio.schema,
  unstake_wait_period: integer,
  proposal_expire_period: integer,
  declare_candidacy: integer,
  update_candidacy: integer,
  governance_proposal: integer,
  gas_price: integer,
})

/** Source: protocol.md §10, svc_getParamsHistory. */
export const paramChange: JsonSchema = object({ height_in_force: integer, name: string, value: string })

/** Source: protocol.md §10, svc_getSupply. */
export const supplyObject: JsonSchema = object({
  height: integer,
  supply: decimal,
  genesis_supply: decimal,
  minted: decimal,
  burned: decimal,
})

/** Source: protocol.md §10, svc_queryAccountUpdate. */
export const accountUpdate: JsonSchema = object({
  id: integer,
  status: { enum: ['PENDING', 'COMPLETED', 'REPLACED', 'CANCELLED'] },
  from: address.schema,
  to: address.schema,
  pub_key: { type: ['string', 'null'] },
})

/** Source: protocol.md §10, svc_queryUnbonding. */
export const unbondingEntry: JsonSchema = object({ amount: decimal, pub_key: pubKey, completion_height: integer })

/** Source: protocol.md §10, svc_queryValidatorSet. */
export const setMember: JsonSchema = object({
  pub_key: pubKey,
  owner_address: { type: ['string', 'null'] },
  power: integer,
  proven: flag.schema,
})

/** Source: protocol.md §10, svc_estimateFee. */
export const feeEstimate: JsonSchema = object({ height: integer, gas: integer, gas_price: integer, fee: decimal })

/** An event of the application. Source: protocol.md §9. */
export const chainEvent: JsonSchema = object({ type: string, attributes: { type: 'object' } })

/** Source: protocol.md §10, svc_getBlock. */
export const blockObject: JsonSchema = object({
  height: integer,
  hash: string,
  parent_hash: string,
  time: string,
  proposer_address: address.schema,
  app_hash: string,
  transaction_count: integer,
  transactions: { type: 'array', items: foundTransaction },
  events: { type: 'array', items: chainEvent },
})

/** A page of a history: its rows, the newest first, and where the next page begins, null behind the last one. */
export const historyOf = (row: JsonSchema): JsonSchema =>
  object({ height: integer, data: { type: 'array', items: row }, next: { type: ['string', 'null'] } })

/** Source: protocol.md §10, svc_getTransactions. */
export const accountTransaction: JsonSchema = object({ time: string, ...foundTransactionMembers })

/** Source: protocol.md §10, svc_getValidatorHistory. */
export const validatorEvent: JsonSchema = object({
  height: integer,
  time: string,
  hash: { type: ['string', 'null'] },
  type: string,
  attributes: { type: 'object' },
})

/** Source: protocol.md §10, svc_getAwards. */
export const award: JsonSchema = object({ height: integer, time: string, amount: decimal })

/** Source: protocol.md §10, svc_status. */
export const statusObject: JsonSchema = object({
  chain_id: string,
  height: integer,
  time: string,
  app_hash: string,
  catching_up: { type: 'boolean' },
  node_version: string,
  version: string,
})

const EVERY_CALL: readonly RpcErrorName[] = ['invalidRequest', 'invalidParams', 'internal', 'tooMany']

/** A call of a method and its answer, as tools/record-examples.ts recorded them on a devnet. */
interface Example {
  readonly params: Readonly<Record<string, unknown>>
  readonly result: unknown
}

/** The example of a method in OpenRPC's form; none for the method that answers with the document itself. */
function examplesOf(name: string): readonly object[] {
  const example = (examples as Readonly<Record<string, Example>>)[name]
  if (example === undefined) return []
  const params = Object.entries(example.params).map(([field, value]) => ({ name: field, value }))
  return [{ name: 'on a devnet', params, result: { name: 'result', value: example.result } }]
}

const SIGNS = { name: 'signs', description: 'The gateway signs the transaction with the key of `from`.' }
const SOCKET = { name: 'websocket', description: 'Answered over a websocket only.' }

function methodObject(group: string, method: Method): object {
  const { name, doc, input, positional, result, errors, signs = false, needsSocket = false } = method
  const properties = schemaOf(input)['properties'] as Readonly<Record<string, object>>
  return {
    name,
    summary: doc,
    ...(positional === undefined
      ? { description: 'params: one object of members, alone or as the only element of an array.' }
      : {}),
    tags: [{ name: group }, ...(signs ? [SIGNS] : []), ...(needsSocket ? [SOCKET] : [])],
    paramStructure: positional === Object.keys(input).length ? 'either' : 'by-name',
    params: Object.entries(input).map(([field, { doc: description, optional }]) => ({
      name: field,
      description,
      required: !optional,
      schema: properties[field],
    })),
    result: { name: 'result', schema: result },
    errors: [...EVERY_CALL, ...errors].map((error) => rpcErrors[error]),
    examples: examplesOf(name),
  }
}

/**
 * The OpenRPC 1.3 document of the methods, from the schemas that read their params. The first tag of a method is its
 * group. Source: protocol.md §10, rpc.discover.
 */
export function openRpcDocument(groups: readonly MethodGroup[], version: string): object {
  return {
    openrpc: '1.3.2',
    info: { title: 'svcd gateway', description: 'Stake and governance over JSON-RPC 2.0, HTTP POST /.', version },
    // Relative to where the document is served: a gateway does not know by which name it is reached.
    servers: [{ name: 'gateway', url: '/', summary: 'HTTP POST, or a websocket, which the subscriptions need' }],
    methods: groups.flatMap(({ name, methods }) => methods.map((method) => methodObject(name, method))),
  }
}
