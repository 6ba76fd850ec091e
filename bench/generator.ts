/** The load generator, a process of its own: takes a Job, answers with a Measured. The same for every application. */
import { callLoop } from './load/calls.ts'
import type { Job, Measured } from './load/job.ts'
import { makePool, type Pool, type PoolKind } from './load/pool.ts'
import { blockLoop, closedLoop, openLoop, saturate } from './load/send.ts'

const LOADS = { saturate, openLoop, closedLoop, blockLoop } as const

const pools = new Map<PoolKind, Pool>()

function poolOf(kind: PoolKind, fresh: boolean): Pool {
  let pool = pools.get(kind)
  if (pool === undefined) pools.set(kind, (pool = makePool(kind)))
  if (fresh) pool.reset()
  return pool
}

async function run(job: Job): Promise<Measured | undefined> {
  if (job.load === 'calls') return callLoop(job)
  const pool = poolOf(job.pool, job.fresh)
  if (job.load !== 'prepare') return LOADS[job.load](job.target, pool, job.size, job)
  pool.prepare(job.size)
  return undefined
}

process.on('message', (job: Job) => {
  run(job).then(
    (measured) => process.send?.({ measured }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  )
})
process.on('disconnect', () => process.exit(0))
