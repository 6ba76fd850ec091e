import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CallJob, Measured, PrepareJob, TxJob } from './load/job.ts'

/** The generator's process. One job at a time. */
export interface Generator {
  readonly pid: number
  run(job: TxJob | CallJob): Promise<Measured>
  prepare(job: Omit<PrepareJob, 'load'>): Promise<void>
  close(): void
}

const PROGRAM = fileURLToPath(new URL('generator.ts', import.meta.url))

/** Starts a generator. */
export function startGenerator(): Generator {
  const child: ChildProcess = fork(PROGRAM, { stdio: 'inherit', execArgv: [] })
  const ask = <T>(job: object): Promise<T> =>
    new Promise((done, failed) => {
      const ended = (code: number | null): void => failed(new Error(`the load generator ended with ${code}`))
      child.once('exit', ended)
      child.once('message', ({ measured, error }: { measured: T; error?: string }) => {
        child.removeListener('exit', ended)
        if (error === undefined) done(measured)
        else failed(new Error(error))
      })
      child.send(job)
    })
  return {
    pid: child.pid as number,
    run: (job) => ask<Measured>(job),
    prepare: (job) => ask<void>({ ...job, load: 'prepare' }),
    close: () => child.disconnect(),
  }
}
