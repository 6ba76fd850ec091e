import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'

/** The whole list of a chain with more candidacies is asked for only every LONG_PAUSE_MS: it is megabytes. */
const LONG_LIST = 300
const LONG_PAUSE_MS = 10_000

async function askAll() {
  const [list, set] = await Promise.all([
    svc.async.stake.validator.list(),
    svc.async.stake.validator.queryValidatorSet(),
  ])
  return { height: list.height, validators: list.data, set: set.data }
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

/** All validators and candidates, and the validator set. */
export const useValidators = () => useAnswer('validators', askSometimes)
