import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { signersOf } from './accounts.ts'
import type { Context } from './context.ts'
import { queryGenesis } from './genesis.ts'
import type { Measured, Target } from './load/job.ts'
import { GATEWAY_SENDERS } from './load/pool.ts'
import type { BenchNode } from './node.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import { runTxLoad, type TxLoad, withNode } from './transactions.ts'

/** Connections that ask queries at the same time. */
const ASKERS = 16
const QUERIES_A_SECOND = 500
const BESIDE_QUERIES: TxLoad = ['saturated, 200 candidacies', 'saturate', 8000]
/** The load's name in the table: of calls to a gateway, and of the same senders without one. */
export const SVC_TRANSFER = 'svc_transfer, 64 senders'
// As many senders that wait for their blocks, without a gateway between: the most that one could come to.
const WITHOUT_GATEWAY: TxLoad = [SVC_TRANSFER, 'blockLoop', GATEWAY_SENDERS]

const PROGRAM = fileURLToPath(new URL('gatewayProcess.ts', import.meta.url))

async function startGatewayProcess(node: Target, port: number) {
  const child = fork(PROGRAM, [`http://${node.host}:${node.port}`, String(port)], { stdio: 'inherit', execArgv: [] })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error('the gateway did not start')
    }),
  ])
  return {
    host: '127.0.0.1',
    port,
    pid: child.pid as number,
    close: async () => {
      child.disconnect()
      await ended
    },
  }
}

const call = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const abciQuery = (path: string): string => call('abci_query', { path, data: '', height: '0', prove: false })

const owners = signersOf('candidate', 199)
const [senders, spread] = [signersOf('caller', GATEWAY_SENDERS), 7]

/** The bodies of each kind of call, and what a good answer holds. */
const CALLS = {
  transfer: {
    good: '"gasUsed"',
    bodies: senders.map(({ address }, at) =>
      call('svc_transfer', {
        from: address,
        to: senders[(at + spread) % GATEWAY_SENDERS]?.address,
        value: '1000000000000000000',
      }),
    ),
  },
  validator: { good: '"data":{', bodies: owners.map(({ address }) => call('svc_queryValidator', [address])) },
  rawValidator: { good: '"code":0', bodies: owners.map(({ address }) => abciQuery(`/stake/validator/${address}`)) },
} as const

interface Asked {
  readonly load: string
  readonly subject: string
  readonly round: number
}

async function runCalls(
  { generator, span, samples, say }: Context,
  node: BenchNode,
  target: Target,
  kind: keyof typeof CALLS,
  lanes: number,
  asked: Asked,
): Promise<void> {
  const [appMs, cometMs] = [cpuMsOf(node.pids.app), cpuMsOf(node.pids.comet)]
  const { perSecond, p50Ms, p99Ms, refused, committed }: Measured = await generator.run({
    load: 'calls',
    target,
    lanes,
    ...CALLS[kind],
    ...span,
  })
  const per = (cpuMs: number): number => (cpuMs * 1000) / committed
  samples.push({
    ...asked,
    perSecond,
    p50Ms,
    p99Ms,
    failed: refused,
    ...memoryOf(node.pids.app as number),
    appUs: per(cpuMsOf(node.pids.app) - appMs),
    cometUs: per(cpuMsOf(node.pids.comet) - cometMs),
  })
  say(
    `round ${asked.round + 1}, ${asked.subject}, ${asked.load}: ${Math.round(perSecond)}/s, p99 ${Math.round(p99Ms)} ms` +
      (refused > 0 ? `, ${refused} FAILED` : ''),
  )
}

/**
 * Compares the gateway with direct calls to its node: transfers, queries, and queries while transfers run.
 * Whole lists are left out, because a node answers no more of them than its limit allows.
 */
export async function measureGateway(context: Context): Promise<void> {
  const { beside, span } = context
  for (let round = 0; round < context.rounds; round++) {
    const [port = 0] = await context.freePorts(1)
    const options = { appState: queryGenesis, settings: { 'mempool.recheck': true } }
    await withNode(context, 'svcd', options, async (node) => {
      const raw: Target = { host: node.host, port: node.port }
      const gateway = await startGatewayProcess(raw, port)
      try {
        const tx = { pool: 'transfer', round } as const
        await runTxLoad(context, node, WITHOUT_GATEWAY, { ...tx, fresh: true, subject: 'no gateway' })
        await runCalls(context, node, gateway, 'transfer', GATEWAY_SENDERS, {
          load: SVC_TRANSFER,
          subject: 'gateway',
          round,
        })
        const load = 'one validator of 200'
        await runCalls(context, node, raw, 'rawValidator', ASKERS, { load, subject: 'abci_query', round })
        await runCalls(context, node, gateway, 'validator', ASKERS, { load, subject: 'gateway', round })
        await runTxLoad(context, node, BESIDE_QUERIES, { ...tx, fresh: false, subject: 'no queries' })
        const asking = beside.run({
          load: 'calls',
          target: gateway,
          lanes: ASKERS,
          perSecond: QUERIES_A_SECOND,
          ...CALLS.validator,
          warmUpMs: 0,
          measuredMs: span.warmUpMs + span.measuredMs,
        })
        await runTxLoad(context, node, BESIDE_QUERIES, { ...tx, fresh: false, subject: '500 queries/s' })
        const { p99Ms, committed, refused } = await asking
        context.say(
          `round ${round + 1}: beside it ${committed} queries, ${refused} not good, p99 ${Math.round(p99Ms)} ms`,
        )
      } finally {
        await gateway.close()
      }
    })
  }
}
