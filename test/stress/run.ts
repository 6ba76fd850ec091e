import { setTimeout as sleep } from 'node:timers/promises'
import { collectGarbage } from '../support/garbage.ts'
import { runAttack } from './attackerProcess.ts'
import type { Attack } from './attacks.ts'
import type { StressChain } from './chain.ts'
import type { Honest, Met } from './honest.ts'
import { BACK_MS_MAX, type Endured, MEMORY_LEFT_MB_MAX, slowerThan } from './limits.ts'
import { eachPart, type Megabytes, type ResourceWatch } from './resources.ts'

/** How long the parts of a run are, in ms. */
export interface Times {
  /** Of each kind of call that one caller asks before anything is measured. */
  readonly warmUpMs: number
  readonly quietMs: number
  readonly attackMs: number
  /** How long an attack waits for its first answer before its time begins. */
  readonly firstMsMax: number
  /** The chain is calm when nothing has been slow for this long. */
  readonly calmMs: number
  /** How long calm is waited for: what has not come back by then counts as not back. */
  readonly calmMsMax: number
  /** How long memory is waited for, from the last call on. */
  readonly memoryMsMax: number
}

/** What a run works with. */
export interface Setting {
  readonly chain: StressChain
  readonly honest: Honest
  readonly resources: ResourceWatch
  readonly times: Times
  /** How many times a limit may be exceeded: 1, or more where there is little time to measure. */
  readonly slack: number
  readonly addresses: number
}

/** Attacks with what honest callers of histories ask too, through the gateway. */
const HISTORY_ATTACKS = new Set(['histories', 'awards'])
/** Below this, a time says more of the machine than of the attack. */
const HISTORY_MS_MIN = 20
const LOOK_EVERY_MS = 100
const REST_MS = 1500
const COLLECT_EVERY_MS = 1000

const jobOf = (
  { chain, addresses }: Setting,
  { port, manner, connections, bodies, subscriptions = [], addresses: own = addresses }: Attack,
  durationMs: number,
  firstMsMax: number,
) => ({
  target: chain[port],
  manner,
  connections,
  addresses: own,
  bodies,
  subscriptions,
  durationMs,
  firstMsMax,
})

const above = (memory: Megabytes, before: Megabytes): Megabytes => eachPart((part) => memory[part] - before[part])

/**
 * One caller asks what the attacks will ask, so that what is compiled, cached and grown once is there before anything
 * is measured.
 */
export async function warmUp(setting: Setting, attacks: readonly Attack[]): Promise<void> {
  for (const attack of attacks)
    await runAttack(jobOf(setting, { ...attack, manner: 'ask', connections: 1 }, setting.times.warmUpMs, 0))
  await sleep(REST_MS)
}

/** The chain without strangers: what everything else is compared with. */
export async function measureQuiet({ honest, times: { quietMs } }: Setting): Promise<Met> {
  const fromMs = performance.now()
  await sleep(quietMs)
  const toMs = performance.now()
  // The last calls of the span answer.
  await sleep(REST_MS)
  return honest.met(fromMs, toMs)
}

async function backMsOf(
  { honest, slack, times: { calmMs, calmMsMax } }: Setting,
  quiet: Met,
  endMs: number,
): Promise<number> {
  const slow = slowerThan(quiet, slack)
  for (;;) {
    const lastMs = honest.slowUntilMs(endMs, slow)
    const nowMs = performance.now()
    if (nowMs - lastMs >= calmMs || nowMs - endMs >= calmMsMax) return lastMs - endMs
    await sleep(LOOK_EVERY_MS)
  }
}

// CometBFT gives its memory back by itself.
const collect = async ({ pids: { application, gateway } }: StressChain): Promise<unknown> =>
  Promise.all([application, gateway].map(collectGarbage))

async function memoryLeft(
  { chain, resources, slack, times: { memoryMsMax } }: Setting,
  before: Megabytes,
  endMs: number,
): Promise<Megabytes> {
  for (;;) {
    // Again and again: what one collection finds free is given back to the system by a later one.
    await collect(chain)
    const left = above(resources.now(), before)
    const isBack = Math.max(...Object.values(left)) <= MEMORY_LEFT_MB_MAX * slack
    if (isBack || performance.now() - endMs >= memoryMsMax) return left
    await sleep(COLLECT_EVERY_MS)
  }
}

/** How many subscriptions the gateway counts. */
async function subscriptionsOf({ metrics: { host, port } }: StressChain): Promise<number> {
  const text = await (await fetch(`http://${host}:${port}/metrics`)).text()
  return Number(/^svc_subscriptions (\d+)$/m.exec(text)?.[1])
}

/** How many transactions of the blocks above `from` succeeded without a fee. */
async function freeWrites({ node }: StressChain, from: number): Promise<number> {
  const { latestHeight: to } = await node.status()
  let free = 0
  for (let height = from + 1; height <= to; height++) {
    const { results } = await node.blockResults(height)
    free += results.filter(({ code, gasUsed }) => code === 0 && gasUsed === 0).length
  }
  return free
}

/** One attack, the way back to quiet, and the wait for memory. `onBegin`: called as the attack begins. */
export async function endure(setting: Setting, quiet: Met, attack: Attack, onBegin?: () => void): Promise<Endured> {
  const {
    chain,
    honest,
    resources,
    times: { attackMs, firstMsMax },
  } = setting
  await collect(chain)
  const before = resources.now()
  resources.takePeaks()
  const { latestHeight: fromHeight } = await chain.node.status()
  const fromMs = performance.now()
  onBegin?.()
  const strangers = await runAttack(jobOf(setting, attack, attackMs, firstMsMax))
  const endMs = performance.now()
  const backMs = await backMsOf(setting, quiet, endMs)
  const calmAtMs = performance.now()
  const { memory, walMb } = resources.takePeaks()
  const left = await memoryLeft(setting, before, endMs)
  const { blockP95Ms, transferP95Ms, historyP95Ms } = honest.met(fromMs, endMs)
  const transferRatio = transferP95Ms / quiet.transferP95Ms
  const { calls, refused } = honest.met(fromMs, calmAtMs)
  return {
    name: attack.name,
    title: attack.title,
    strangers,
    calls,
    refused,
    blockRatio: blockP95Ms / quiet.blockP95Ms,
    transferRatio: Number.isNaN(transferRatio) ? null : transferRatio,
    historyRatio: historyP95Ms / Math.max(quiet.historyP95Ms, HISTORY_MS_MIN),
    asksHistories: HISTORY_ATTACKS.has(attack.name),
    ofOneAddress: attack.addresses === 1,
    back: backMs / BACK_MS_MAX,
    memoryPeakMb: above(memory, before),
    memoryLeftMb: left,
    walPeakMb: walMb,
    subscriptionsLeft: await subscriptionsOf(chain),
    freeWrites: await freeWrites(chain, fromHeight),
  }
}
