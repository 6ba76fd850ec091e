/**
 * Networks of four validators, each node in a network namespace of its own, drawn from a seed, perturbed and judged from
 * outside: `make manifests`. `--count` manifests, 50 unless told otherwise, of the seeds from `--seed` on: a single one
 * comes again with its seed and `--count 1`. Needs root and Linux, and says so.
 */
import { COMET_VERSIONS, cometProgram } from '../../tools/testing/cometVersions.ts'
import { endNetwork } from '../e2e/support/network.ts'
import { runCampaigns } from '../support/campaign.ts'
import { noManifests, runManifests } from './campaign.ts'
import { enterNamespace, openLinks, whyNoNamespaces } from './links.ts'
import { VALIDATORS } from './manifest.ts'

const MANIFESTS = 50
const INSIDE = 'TEST_MANIFESTS_INSIDE'
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const programs = (): Promise<readonly (readonly [version: string, path: string])[]> =>
  Promise.all(COMET_VERSIONS.map(async (version) => [version, await cometProgram(version, say)] as const))

if (process.env[INSIDE] === undefined) {
  const why = whyNoNamespaces()
  if (why === undefined) {
    // There is no way to load Go's modules from inside.
    await programs()
    enterNamespace({ [INSIDE]: '1' })
  }
  await runCampaigns({ manifests: ({ seed }) => noManifests(seed, why) }, 0)
} else {
  const pathOf = new Map(await programs())
  const programOf = (version: string): string => pathOf.get(version) ?? ''
  const links = openLinks(VALIDATORS + 1)
  if (links.whyNoLoss !== undefined) say(`networks run without packet loss: ${links.whyNoLoss}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      // What is paused does not end by itself. The signals are sent before this process ends.
      void endNetwork()
      process.exit(1)
    })
  await runCampaigns({ manifests: (options) => runManifests(options, { links, programOf, say }) }, MANIFESTS)
}
