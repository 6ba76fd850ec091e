import { statSync } from 'node:fs'

/** Test files that take longer than the sizes of others say. */
const LONG = [
  'e2e/successor',
  'e2e/package',
  'e2e/docsSite',
  'e2e/byzantine',
  'e2e/outage',
  'e2e/page/line',
  'e2e/stalled',
  'e2e/kill',
  'e2e/scaleOut',
  'e2e/startDevnet',
  'e2e/churn',
  'e2e/tour',
  'e2e/manifests',
  'cli/commands',
  'model/model',
  'faults/faults',
  'fuzz/fuzz',
  'gateway/limits',
  'store/conformance',
  'replicas/replicas',
  'stress/writes',
]

interface TestFile {
  readonly path: string
}

const rankOf = ({ path }: TestFile): number => {
  const at = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`))
  return at < 0 ? LONG.length : at
}

/** The order in which jest begins test files: the long ones first, or the end of a run waits for one of them alone. */
export default class LongestFirst {
  sort<T extends TestFile>(tests: readonly T[]): T[] {
    return tests
      .map((test) => ({ test, rank: rankOf(test), size: statSync(test.path).size }))
      .sort((a, b) => a.rank - b.rank || b.size - a.size)
      .map(({ test }) => test)
  }

  /** jest would keep here how long each file took. The order is the same on every machine instead. */
  cacheResults(): void {}
}
