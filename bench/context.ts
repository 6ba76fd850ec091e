import type { Generator } from './generatorProcess.ts'
import type { Span } from './load/job.ts'
import type { Programs } from './peers.ts'
import type { Sample } from './sample.ts'

/** What every part of a benchmark works with. */
export interface Context {
  readonly programs: Programs
  readonly generator: Generator
  /** A second one, for what runs beside a load. */
  readonly beside: Generator
  readonly rounds: number
  /** Of each load. */
  readonly span: Span
  readonly samples: Sample[]
  readonly say: (line: string) => void
  /** A new folder for a node's home, gone when the benchmark ends. */
  readonly newFolder: () => string
  /** Ports that nothing listens on. */
  readonly freePorts: (count: number) => Promise<readonly number[]>
}
