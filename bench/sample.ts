import { medianOf } from './stats.ts'

/** One load on one application in one round. */
export interface Sample {
  /** What was done; the samples of one round and load are compared. */
  readonly load: string
  readonly subject: string
  readonly round: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of the application and of CometBFT for each transaction or answer, in µs. */
  readonly appUs: number
  readonly cometUs: number
  /** Of the application after the load; of CometBFT where it runs inside. */
  readonly rssMb: number
  readonly pssMb: number
  /** Sent, and not in a block with code 0; or answers that were not good. */
  readonly failed: number
}

export type Figure = Exclude<keyof Sample, 'load' | 'subject'>

const select = (samples: readonly Sample[], load: string, subject: string): readonly Sample[] =>
  samples.filter((one) => one.load === load && one.subject === subject)

/** The median over the rounds. NaN where nothing was measured. */
export const medianFigure = (samples: readonly Sample[], load: string, subject: string, figure: Figure): number =>
  medianOf(select(samples, load, subject).map((one) => one[figure]))

/**
 * The median of each round's ratio of `subject` to `base`, which ran side by side in it. NaN where one of them is
 * missing.
 */
export function ratioOf(
  samples: readonly Sample[],
  figure: Figure,
  [load, subject]: readonly [string, string],
  [baseLoad, base]: readonly [string, string],
): number {
  const bases = new Map(select(samples, baseLoad, base).map((one) => [one.round, one[figure]]))
  return medianOf(
    select(samples, load, subject).flatMap((one) => {
      const below = bases.get(one.round)
      return below === undefined ? [] : [one[figure] / below]
    }),
  )
}
