import { addressOf } from '../../base/address.ts'
import { toBase64 } from '../../base/bytes.ts'
import { address, optional, proposalId, uint } from '../../tx/members.ts'
import {
  answerOf,
  paramsObject,
  proposalObject,
  proposalWithVotes,
  setMember,
  unbondingEntry,
  validatorObject,
} from '../schemas.ts'
import { defineMethod, type Method } from './define.ts'

const ignoredHeight = (): ReturnType<typeof optional<number>> =>
  optional(uint('not implemented by the interface: the answer is always for the head'))

const page = {
  limit: optional(uint('most elements to answer; all when left out')),
  offset: optional(uint('elements to leave out at the start; 0 when left out')),
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
  input: { validatorAddress: address(), height: ignoredHeight() },
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
  input: { height: optional(uint('height of the block; 0, the default, is the head')) },
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
  input: { proposalId: proposalId() },
  count: 1,
  errors: ['nodeAway'],
  result: answerOf({ anyOf: [proposalWithVotes, { type: 'null' }] }),
  run: ({ chain }, { proposalId: id }) =>
    chain.query(`/governance/proposal/${toBase64(id).replaceAll('+', '-').replaceAll('/', '_')}`),
})

const queryUnbonding = defineMethod({
  name: 'svc_queryUnbonding',
  doc: 'What still unbonds for an address.',
  input: { address: address() },
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
