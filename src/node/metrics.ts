/** Metrics of the application. They are taken around its ABCI handlers, so that nothing below them reads a clock. */
import { statSync } from 'node:fs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { type CompleteApplication, type CheckTxResponse, CheckTxType } from '../abci/types.ts'
import type { TxOutcome } from '../app/context.ts'
import { addGauge } from '../base/gauge.ts'
import { VERSION } from '../base/version.ts'
import { programVersion } from '../modules/chain/keeper.ts'
import { countOpen } from '../modules/governance/keeper.ts'
import { txEntries } from '../modules/registry.ts'
import { listSet } from '../modules/stake/keeper.ts'
import { newestHeights, type Store } from '../store/index.ts'
import { snapshotsOf, statePathOf } from './homes.ts'
import type { Libraries } from './libraries.ts'
import type { SignaturePool } from './signatures/pool.ts'

/** What the metrics are read from. */
export interface MetricsSources {
  readonly store: Store
  readonly home: string
  readonly libraries: Pick<Libraries, 'count'>
  readonly signatures?: Pick<SignaturePool, 'used'> | undefined
  /** What `svc_app_build_info` says beside the versions of svcd and Node, and the chain's program version. */
  readonly build: { readonly program_version: number; readonly os: string }
}

/** The metrics of one application. */
export type AppMetrics = ReturnType<typeof createAppMetrics>

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const UNKNOWN = 'unknown'

/** A gauge, whose value is read with each request. */
type GaugeLine = readonly [name: string, help: string, read: () => number]

const gaugesOf = ({ store, home, libraries }: MetricsSources): readonly GaugeLine[] => [
  ['svc_app_height', 'Last committed block', () => store.height()],
  ['svc_app_snapshot_height', 'Newest snapshot, 0 while there is none', () => newestHeights(snapshotsOf(home))[0] ?? 0],
  ['svc_app_wal_bytes', 'Size of the write-ahead log of state.db, which SQLite reuses', () => walBytes(home)],
  ['svc_app_open_proposals', 'Proposals that are open for votes', () => countOpen(store)],
  ['svc_app_validators', "Keys in CometBFT's validator set, as last sent", () => listSet(store).length],
  [
    'svc_app_validators_joining',
    'Keys among them that have not signed a block yet',
    () => listSet(store).filter(({ proven }) => !proven).length,
  ],
  ['svc_eni_staged', 'Libraries that are fetched and wait for their block', () => libraries.count('ready')],
  ['svc_eni_deployed', 'Libraries in place', () => libraries.count('deployed')],
  ['svc_eni_failed', 'Libraries that no URL gave so far', () => libraries.count('failed', 'collapsed')],
]

/** Adds the gauges, and build info, to a registry. */
function addGauges(registry: Registry, sources: MetricsSources): void {
  for (const [name, help, read] of gaugesOf(sources)) addGauge(registry, name, help, read)
  const { store, build } = sources
  // Before the first commit the chain's version is unknown: state sync may bring any.
  const labels = () => ({
    version: VERSION,
    node: process.versions.node,
    ...build,
    chain_program_version: store.height() === 0 ? '' : programVersion(store),
  })
  new Gauge({
    name: 'svc_app_build_info',
    help: 'Always 1; its labels say what runs, and at which program version the chain is',
    labelNames: ['version', 'node', ...Object.keys(build), 'chain_program_version'],
    registers: [registry],
    collect() {
      this.reset()
      this.set(labels(), 1)
    },
  })
}

const walBytes = (home: string): number => statSync(`${statePathOf(home)}-wal`, { throwIfNoEntry: false })?.size ?? 0

/**
 * Creates a counter with the labels `label` and `code`. A value that is not in `values` counts as `unknown`. An event
 * costs two look-ups in maps: prom-client's own `inc` costs about a microsecond for its labels, which is much of a
 * recheck.
 */
function countByCode(registry: Registry, name: string, help: string, label: string, values: readonly string[]) {
  const counts = new Map([...values, UNKNOWN].map((value) => [value, new Map(value === UNKNOWN ? [] : [[0, 0]])]))
  new Counter({
    name,
    help,
    labelNames: [label, 'code'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [value, byCode] of counts)
        for (const [code, count] of byCode) this.inc({ [label]: value, code: String(code) }, count)
    },
  })
  return (value: string, code: number): void => {
    const byCode = (counts.get(value) ?? counts.get(UNKNOWN)) as Map<number, number>
    byCode.set(code, (byCode.get(code) ?? 0) + 1)
  }
}

/** Runs `work` and reports how long it took, in seconds. */
function timed<T>(work: () => T, report: (seconds: number) => void): T {
  const begunMs = performance.now()
  try {
    return work()
  } finally {
    report((performance.now() - begunMs) / 1000)
  }
}

/** Creates the metrics in a registry of their own; every series that always exists starts at 0. */
export function createAppMetrics(sources: MetricsSources) {
  const registry = new Registry()
  const registers = [registry]
  addGauges(registry, sources)
  const execution = new Histogram({
    name: 'svc_app_block_execution_seconds',
    help:
      'Time to execute a block: stage proposed before the decision, and stage decided in FinalizeBlock, which is ' +
      'near 0 for a block that was executed before',
    labelNames: ['stage'],
    buckets: SECONDS,
    registers,
  })
  const commit = new Histogram({
    name: 'svc_app_commit_seconds',
    help: 'Time to write a block to disk',
    buckets: SECONDS,
    registers,
  })
  const onCheck = countByCode(
    registry,
    'svc_app_check_tx_total',
    'Mempool checks by type (new or recheck) and code',
    'type',
    Object.keys(CheckTxType),
  )
  const operations = txEntries.map(({ operation }) => operation)
  const onTransaction = countByCode(
    registry,
    'svc_app_tx_total',
    'Transactions in committed blocks by operation and code',
    'operation',
    operations,
  )
  new Counter({
    name: 'svc_app_signatures_ahead_total',
    help: 'Signatures whose verdict came from a thread of --verify-threads',
    registers,
    collect() {
      this.reset()
      this.inc(sources.signatures?.used() ?? 0)
    },
  })
  for (const stage of ['proposed', 'decided']) execution.zero({ stage })
  const onExecuted =
    (stage: string) =>
    (seconds: number): void =>
      execution.observe({ stage }, seconds)

  /** The application, with its blocks and mempool checks measured. */
  const measure = (application: CompleteApplication): CompleteApplication => {
    // The 0.37 dialect executes a block in several requests.
    let executed = 0
    const add = (seconds: number): void => {
      executed += seconds
    }
    return {
      ...application,
      checkTx: (request) => {
        const response = application.checkTx(request) as CheckTxResponse
        onCheck(request.type === CheckTxType.recheck ? 'recheck' : 'new', response.code ?? 0)
        return response
      },
      finalizeBlock: (request) => timed(() => application.finalizeBlock(request), onExecuted('decided')),
      beginBlock: (request) => {
        executed = 0
        return timed(() => application.beginBlock(request), add)
      },
      deliverTx: (request) => timed(() => application.deliverTx(request), add),
      endBlock: (request) => {
        const response = timed(() => application.endBlock(request), add)
        onExecuted('decided')(executed)
        return response
      },
      commit: (request) =>
        timed(
          () => application.commit(request),
          (seconds) => commit.observe(seconds),
        ),
    }
  }

  return {
    registry,
    measure,
    /** Runs the optimistic execution of a proposal, measured. */
    runProposal: (work: () => void): void => timed(work, onExecuted('proposed')),
    /** Counts the transactions of a committed block. */
    onTransactions: (outcomes: readonly TxOutcome[]): void => {
      for (const { operation, verdict } of outcomes) onTransaction(operation ?? UNKNOWN, verdict.code)
    },
  }
}
