import type { Svc } from '../../client/index.ts'
import { svc } from '../data/gateway.ts'
import { stakeConstants } from '../data/stakeConstants.ts'
import type { Facts, Order } from './facts.ts'

type Ask = Svc['async']

async function readCandidacy(ask: Ask, from: string): Promise<Facts['candidacy']> {
  const { data: record } = await ask.stake.validator.query(from)
  if (record === null) return undefined
  const { data: entries } = await ask.stake.validator.queryUnbonding(from)
  const own = entries.filter(({ pub_key: { value } }) => value === record.pub_key.value)
  return { record, unbonding: own.reduce((sum, { amount }) => sum + BigInt(amount), 0n) }
}

async function readHandOver(ask: Ask, id: number): Promise<Facts['handOver']> {
  const { data: request } = await ask.stake.validator.queryAccountUpdate(id)
  if (request?.status !== 'PENDING') return undefined
  const { data: record } = await ask.stake.validator.query(request.from)
  return record === null ? undefined : { owner: request.from, shares: BigInt(record.shares) }
}

/** An order as it is shown before it is signed. Amounts in base units. */
export interface Review {
  readonly facts: Facts
  readonly fee: bigint
  readonly balance: bigint
}

/** Asks the chain for everything that a reader has to know before they sign. */
export async function readReview({ operation, input }: Order, from: string): Promise<Review> {
  const ask = svc.async
  const isOf = (...names: readonly Order['operation'][]): boolean => names.includes(operation)
  const namesNoAmount = operation === 'declareCandidacy' && input.maxAmount === undefined
  const [{ fee }, balance, { data: params }, defaultMaxAmount, candidacy, proposal, handOver] = await Promise.all([
    ask.estimateFee(operation),
    ask.getBalance(from),
    ask.governance.getParams(),
    namesNoAmount ? stakeConstants().then((all) => all.defaultMaxAmount) : 0n,
    isOf('updateCandidacy', 'withdrawCandidacy', 'activateCandidacy', 'updateCandidacyAccount')
      ? readCandidacy(ask, from)
      : undefined,
    operation === 'vote'
      ? ask.governance.queryProposal(input.proposalId).then(({ data }) => data ?? undefined)
      : undefined,
    operation === 'acceptCandidacyAccountUpdate' ? readHandOver(ask, Number(input.accountUpdateRequestId)) : undefined,
  ])
  const facts = { from, params, defaultMaxAmount, candidacy, proposal, handOver }
  return { facts, fee: BigInt(fee), balance: BigInt(balance) }
}
