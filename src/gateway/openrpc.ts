import { schemaOf } from '../tx/fields.ts'
import { checkTxSchema, decimal, deliverTxSchema, object } from '../tx/result.ts'
import { address } from '../values/account.ts'
import { proposalId, pubKey as pubKeyType } from '../values/key.ts'
import { ratio, uint } from '../values/number.ts'
import { flag, yesNo } from '../values/text.ts'
import type { JsonSchema } from '../values/valueType.ts'
import { type RpcErrorName, rpcErrors } from './errors.ts'
import type { Method } from './methods/define.ts'

const string: JsonSchema = { type: 'string' }
const integer = uint.schema

/** What svc_getTransaction answers. Source: protocol.md §10. */
export const foundTransaction: JsonSchema = object({
  height: integer,
  hash: string,
  index: integer,
  sender: { type: ['string', 'null'] },
  nonce: { type: ['integer', 'null'] },
  operation: { type: ['string', 'null'] },
  message: { type: ['object', 'null'] },
  check_tx: checkTxSchema,
  deliver_tx: deliverTxSchema(),
})

/** The schema of a query's answer: `{height, data}`. */
export const answerOf = (data: JsonSchema): JsonSchema => object({ height: integer, data })

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

const proposalMembers = {
  Id: proposalId.schema,
  Type: { enum: ['transfer_fund', 'change_param', 'deploy_libeni', 'retire_program'] },
  Proposer: address.schema,
  BlockHeight: integer,
  ExpireBlockHeight: integer,
  ExpireTimestamp: integer,
  CreatedAt: string,
  Result: { enum: ['', 'Approved', 'Rejected', 'Expired'] },
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

/** Source: protocol.md §10, svc_queryUnbonding. */
export const unbondingEntry: JsonSchema = object({ amount: decimal, pub_key: pubKey, completion_height: integer })

/** Source: protocol.md §10, svc_queryValidatorSet. */
export const setMember: JsonSchema = object({
  pub_key: pubKey,
  owner_address: { type: ['string', 'null'] },
  power: integer,
  proven: flag.schema,
})

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

function methodObject({ name, doc, input, positional, result, errors }: Method): object {
  const properties = schemaOf(input)['properties'] as Readonly<Record<string, object>>
  return {
    name,
    summary: doc,
    ...(positional === undefined
      ? { description: 'params: one object of members, alone or as the only element of an array.' }
      : {}),
    paramStructure: positional === Object.keys(input).length ? 'either' : 'by-name',
    params: Object.entries(input).map(([field, { doc: description, optional }]) => ({
      name: field,
      description,
      required: !optional,
      schema: properties[field],
    })),
    result: { name: 'result', schema: result },
    errors: [...EVERY_CALL, ...errors].map((error) => rpcErrors[error]),
  }
}

/**
 * The OpenRPC 1.3 document of the methods, from the schemas that read their params. Source: protocol.md §10,
 * rpc.discover.
 */
export function openRpcDocument(methods: readonly Method[], version: string): object {
  return {
    openrpc: '1.3.2',
    info: { title: 'svcd gateway', description: 'Stake and governance over JSON-RPC 2.0, HTTP POST /.', version },
    methods: methods.map(methodObject),
  }
}
