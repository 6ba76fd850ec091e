import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CallJob, Measured, PrepareJob, TxJob } from './load/job.ts'

/** The generator's process. One job at a time. */
export type Generator = ReturnType<typeof startGenerator>

const PROGRAM = fileURLToPath(new URL('generator.ts', import.meta.url))
/** What a job may take beyond its span: a load waits up to 90 s for its last blocks, and much may have to be signed. */
const JOB_MS_MAX = 300_000

/** Starts a generator. One that ends, or does not answer in time, is replaced with the next job. */
export function startGenerator() {
  const start = (): ChildProcess => fork(PROGRAM, { stdio: 'inherit', execArgv: [] })
  let child: ChildProcess | undefined = start()
  const ask = <T>(job: object, spanMs = 0): Promise<T> =>
    new Promise((done, failed) => {
      const own = (child ??= start())
      const fail = (why: string): void => {
        child = undefined
        own.kill('SIGKILL')
        failed(new Error(`the load generator ${why}`))
      }
      const ended = (code: number | null): void => {
        clearTimeout(timer)
        fail(`ended with ${code}`)
      }
      const timer = setTimeout(() => {
        own.removeListener('exit', ended)
        fail(`does not answer for ${(JOB_MS_MAX + spanMs) / 1000} s`)
      }, JOB_MS_MAX + spanMs)
      own.once('exit', ended)
      own.once('message', ({ measured, error }: { measured: T; error?: string }) => {
        clearTimeout(timer)
        own.removeListener('exit', ended)
        if (error === undefined) done(measured)
        else failed(new Error(error))
      })
      own.send(job)
    })
  return {
    run: (job: TxJob | CallJob) => ask<Measured>(job, job.warmUpMs + job.measuredMs),
    prepare: (job: Omit<PrepareJob, 'load'>) => ask<void>({ ...job, load: 'prepare' }),
    close: () => child?.disconnect(),
  }
}
