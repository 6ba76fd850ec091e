import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from './context.ts'
import { transferGenesis } from './genesis.ts'
import { startNode } from './node.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import { SUBJECTS } from './transactions.ts'

const BLOCKS = 10_000
const TX_PER_SECOND = 1000
const PIECE_MS = 10_000

/**
 * Replay: the application has lost its state, and CometBFT hands it every block anew. The blocks are made under an open
 * loop of TX_PER_SECOND; `perSecond` is blocks. One round: making the blocks takes minutes.
 */
export async function measureReplay(context: Context): Promise<void> {
  const { programs, generator, newFolder, freePorts, samples, say } = context
  for (const app of ['kvSocket', 'svcd'] as const) {
    const [rpc = 0, p2p = 0] = await freePorts(2)
    const home = newFolder()
    const options = { programs, app, home, ports: [rpc, p2p] as const, appState: transferGenesis }
    const made = await startNode(options)
    let sent = 0
    for (let fresh = true; (await made.rpc.committedHeight()) < BLOCKS; fresh = false) {
      const job = {
        load: 'openLoop',
        target: { host: made.host, port: made.port },
        pool: app === 'svcd' ? 'transfer' : 'kv',
      } as const
      await generator.prepare({ pool: job.pool, fresh, size: (TX_PER_SECOND * PIECE_MS) / 1000 })
      sent += (await generator.run({ ...job, fresh, size: TX_PER_SECOND, warmUpMs: 0, measuredMs: PIECE_MS })).sent
    }
    const height = await made.rpc.committedHeight()
    await made.stop()
    for (const end of ['', '-wal', '-shm']) rmSync(join(home, 'data', `state.db${end}`), { force: true })
    const startMs = performance.now()
    const replayed = await startNode(options)
    const seconds = (performance.now() - startMs) / 1000
    const per = (cpuMs: number): number => (cpuMs * 1000) / sent
    samples.push({
      load: `replay of ${BLOCKS.toLocaleString('en-US')} blocks (blocks a second)`,
      subject: SUBJECTS[app],
      round: 0,
      perSecond: height / seconds,
      p50Ms: Number.NaN,
      p99Ms: Number.NaN,
      appUs: per(cpuMsOf(replayed.pids.app)),
      cometUs: per(cpuMsOf(replayed.pids.comet)),
      ...memoryOf(replayed.pids.app as number),
      failed: 0,
    })
    await replayed.stop()
    say(`${SUBJECTS[app]}: ${height} blocks with ${sent} transactions replayed in ${seconds.toFixed(1)} s`)
  }
}
