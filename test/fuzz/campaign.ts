import { setImmediate as turn } from 'node:timers/promises'
import type { CampaignReport } from '../support/campaign.ts'
import { GROWTH_BYTES_MAX, measureGrowth, megabytes } from './memory.ts'

const CASES_OF_TURN = 64

/** Says that a case broke the target. */
export class Broken extends Error {}

/** Throws Broken unless it holds. */
export function need(holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Broken(what())
}

/**
 * Runs cases until there were `count`, each by `runCase`, which returns how many it was and throws at the first that
 * breaks the target. Memory in use may not have grown by more than 50 MiB at the end.
 */
export async function runCases(
  { name, target, seed }: Pick<CampaignReport, 'name' | 'target'> & { readonly seed: number },
  count: number,
  runCase: () => number | Promise<number>,
): Promise<CampaignReport> {
  // What is compiled and allocated once is there after the first ones.
  let ran = 0
  const run = async (until: number): Promise<void> => {
    for (let cases = 1; ran < until; cases++) {
      ran += await runCase()
      // What the cases left for the next turn is done.
      if (cases % CASES_OF_TURN === 0) await turn()
    }
  }
  const done = (result: string, passed: boolean): CampaignReport => ({ name, target, ran, seed, result, passed })
  try {
    await run(count / 10)
    const growth = measureGrowth()
    await run(count)
    const grown = growth()
    return done(`held in every case, memory grew by ${megabytes(grown)}`, grown < GROWTH_BYTES_MAX)
  } catch (thrown) {
    const why = thrown instanceof Broken ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown)
    return done(`after ${ran} cases: ${why}`, false)
  }
}
