import { join } from 'node:path'
import type { CampaignOptions, CampaignReport } from '../support/campaign.ts'
import { COMET_VERSIONS } from '../../tools/testing/cometVersions.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { describeManifest, drawManifest, KINDS, type Manifest } from './manifest.ts'
import { type Outcome, type RunOptions, runManifest } from './run.ts'

const BACK_MS_MAX = 30_000
const BACK_FROM_HALT_MS_MAX = 60_000

const NAME = 'networks of four'
const TARGET =
  `a new block everywhere within ${BACK_MS_MAX / 1000} s of healing, ${BACK_FROM_HALT_MS_MAX / 1000} s after a halt; ` +
  'one chain, one state, nothing acknowledged lost'

type Run = Manifest & Outcome

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** What the runs had in them, and how slow the slowest was. */
function tell(runs: readonly Run[], { whyNoLoss }: RunOptions['links']): string {
  const happened = runs.flatMap(({ perturbations }) => perturbations)
  const back = (halted: boolean): number =>
    Math.max(0, ...runs.flatMap(({ recoveries }) => recoveries.flatMap((one) => (one.halted === halted ? one.ms : []))))
  const count = (holds: (run: Run) => boolean): number => runs.filter(holds).length
  return [
    KINDS.map((kind) => `${kind} ${happened.filter((one) => one.kind === kind).length} times`).join(', '),
    `${happened.filter(({ victims }) => victims.length > 1).length} of them to two nodes at once`,
    `${runs.flatMap(({ recoveries }) => recoveries).filter(({ halted }) => halted).length} halts`,
    `back after ${seconds(back(false))} at the slowest, after ${seconds(back(true))} from a halt`,
    `${sum(runs.map(({ acknowledged }) => acknowledged)).toLocaleString('en')} transactions acknowledged`,
    `${sum(runs.map(({ compared }) => compared)).toLocaleString('en')} headers compared`,
    `${sum(runs.map(({ pruned }) => pruned))} nodes removed blocks, ${sum(runs.map((run) => run.withSnapshots))} made snapshots`,
    `${count(({ nodes }) => new Set(nodes.map(({ comet }) => comet)).size > 1)} networks mix lines of CometBFT`,
    `${count(({ latencyMs }) => latencyMs.size > 0)} have latency`,
    whyNoLoss === undefined
      ? `${count(({ loss }) => loss > 0)} lose packets, ${sum(runs.map(({ lost }) => lost)).toLocaleString('en')} in all`
      : `no packet is lost: ${whyNoLoss}`,
  ].join('; ')
}

/** The first recovery that took longer than it may. */
function lateIn({ seed, recoveries }: Run): string | undefined {
  const late = recoveries.find(({ ms, halted }) => ms > (halted ? BACK_FROM_HALT_MS_MAX : BACK_MS_MAX))
  return late && `seed ${seed}: back after ${seconds(late.ms)}${late.halted ? ' from a halt' : ''}`
}

/** What is reported where none can run. */
export const noManifests = (seed: number, why: string): CampaignReport => ({
  name: NAME,
  target: TARGET,
  ran: 0,
  seed,
  result: why,
  passed: false,
})

/** Runs the manifests of the seeds from `seed` on. The homes of one that is broken are kept. */
export async function runManifests(
  { count, seed }: CampaignOptions,
  options: Omit<RunOptions, 'output'>,
): Promise<CampaignReport> {
  const { links, say = () => undefined } = options
  const runs: Run[] = []
  const broken: string[] = []
  for (let at = 0; at < count; at++) {
    const manifest = drawManifest(seed + at, { hasLinks: links.setLink !== undefined, versions: COMET_VERSIONS })
    say(`${at + 1}/${count} ${describeManifest(manifest)}`)
    const folder = tempFolder('manifest')
    const end = (): void => {
      process.off('exit', end)
      folder.remove()
    }
    process.once('exit', end)
    const begunMs = performance.now()
    try {
      const outcome = await runManifest(manifest, { ...options, output: join(folder.path, 'net') })
      runs.push({ ...manifest, ...outcome })
      end()
      say(`  held, in ${seconds(performance.now() - begunMs)}`)
    } catch (error) {
      process.off('exit', end)
      broken.push(`seed ${manifest.seed}: ${String(error)}`)
      say(`  BROKEN: ${String(error)}; the homes are kept in ${folder.path}`)
    }
  }
  const late = runs.flatMap((run) => lateIn(run) ?? [])
  const wrong = [...broken, ...late]
  return {
    name: NAME,
    target: TARGET,
    ran: count,
    seed,
    result: [
      ...(wrong.length > 0 ? [`${wrong.length} broken: ${wrong.slice(0, 3).join('; ')}`] : []),
      tell(runs, links),
    ].join('; '),
    passed: wrong.length === 0,
  }
}
