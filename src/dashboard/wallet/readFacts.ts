import { svc } from '../data/gateway.ts'
import { stakeConstants } from '../data/stakeConstants.ts'
import { pageOf, type TxRequest } from '../operations/index.ts'
import type { Facts, Needs } from './facts.ts'

async function readCandidacy(from: string): Promise<Facts['candidacy']> {
  const { validator } = svc.async.stake
  const [{ data: record }, { data: stake }, { data: entries }] = await Promise.all([
    validator.query(from),
    validator.queryStake(from),
    validator.queryUnbonding(from),
  ])
  if (record === null || stake === null) return undefined
  const own = entries.filter(({ pub_key: { value } }) => value === record.pub_key.value)
  return { record, stake, unbonding: own.reduce((sum, { amount }) => sum + BigInt(amount), 0n) }
}

async function readHandOver(id: number): Promise<Facts['handOver']> {
  const { data: request } = await svc.async.stake.validator.queryAccountUpdate(id)
  if (request?.status !== 'PENDING') return undefined
  const { data: stake } = await svc.async.stake.validator.queryStake(request.from)
  return stake === null ? undefined : { owner: request.from, stake }
}

/** A request as it is shown before it is signed. Amounts in base units. */
export interface Review {
  readonly facts: Facts
  readonly fee: bigint
  readonly balance: bigint
}

/** Asks the chain for everything that a reader has to know before they sign. */
export async function readReview(request: TxRequest, from: string): Promise<Review> {
  const ask = svc.async
  const needs: Needs = pageOf(request).needs?.(request.input) ?? {}
  const [{ fee }, balance, { data: params }, defaultMaxAmount, candidacy, proposal, handOver] = await Promise.all([
    ask.estimateFee(request.operation),
    ask.getBalance(from),
    ask.governance.getParams(),
    needs.defaultMaxAmount === true ? stakeConstants().then((all) => all.defaultMaxAmount) : 0n,
    needs.candidacy === true ? readCandidacy(from) : undefined,
    needs.proposal === undefined
      ? undefined
      : ask.governance
          .queryProposal({ proposalId: needs.proposal, counts: true })
          .then(({ data }) => data ?? undefined),
    needs.handOver === undefined ? undefined : readHandOver(needs.handOver),
  ])
  const facts = { from, params, defaultMaxAmount, candidacy, proposal, handOver }
  return { facts, fee: BigInt(fee), balance: BigInt(balance) }
}
