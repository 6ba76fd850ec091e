import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { type Inflation, totalPower, withMembers } from './candidacy.ts'

/** The whole list of a chain with more candidacies is asked for only every LONG_PAUSE_MS: it is megabytes. */
const LONG_LIST = 300
const LONG_PAUSE_MS = 10_000

/** What stands beside every candidacy: the set and who of it is absent, the parameters, and what the awards of a year are made from. */
export async function askAround() {
  const { validator } = svc.async.stake
  const [{ data: set }, { data: absences }, { data: params }, { supply }] = await Promise.all([
    validator.queryValidatorSet(),
    validator.queryAbsences(),
    svc.async.governance.getParams(),
    svc.async.getSupply(),
  ])
  const inflation: Inflation = { supply: BigInt(supply), rate: params.inflation_rate, power: totalPower(set) }
  return { set, absences, params, inflation }
}

async function askAll() {
  const [list, around] = await Promise.all([svc.async.stake.validator.list(), askAround()])
  return { validators: list.data, ...around }
}

let last: { readonly ms: number; readonly answer: Awaited<ReturnType<typeof askAll>> } | undefined

async function askSometimes() {
  const now = performance.now()
  if (last !== undefined && last.answer.validators.length > LONG_LIST && now - last.ms < LONG_PAUSE_MS)
    return last.answer
  const answer = await askAll()
  last = { ms: now, answer }
  return answer
}

/** All validators and candidates, and what stands beside them. */
export const useValidators = () => useAnswer('validators', askSometimes)

async function askOne(owner: string) {
  const { validator } = svc.async.stake
  const [{ data }, { data: stake }, { data: unbonding }, { data: handOvers }, around] = await Promise.all([
    validator.query(owner),
    validator.queryStake(owner),
    validator.queryUnbonding(owner),
    validator.queryAccountUpdates(owner),
    askAround(),
  ])
  const candidacy = data === null ? undefined : withMembers([data], around.set, around.absences)[0]
  const found = candidacy === undefined || stake === null ? undefined : { candidacy, stake }
  return { found, unbonding, handOvers, ...around }
}

/** A candidacy, and whose its shares are. */
export type Found = NonNullable<Awaited<ReturnType<typeof askOne>>['found']>

/** The candidacy of an owner, if it has one, and what stands beside it. */
export const useValidator = (owner: string) => useAnswer(`validator/${owner}`, () => askOne(owner))
