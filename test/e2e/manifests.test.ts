import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { COMETBFT_VERSION, findCometBft } from '../../src/comet/find.ts'
import { loopbackLinks } from '../manifests/links.ts'
import { drawManifest, type Kind, type Manifest, type Perturbation, VALIDATORS } from '../manifests/manifest.ts'
import type { Faults } from '../manifests/network.ts'
import { type Outcome, runManifest } from '../manifests/run.ts'
import { anySeed } from '../support/campaign.ts'
import { endNetwork } from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

const LIMIT_MS = 600_000
const folder = testFolder(endNetwork)
const seed = anySeed()
let program = ''
beforeAll(async () => {
  program = (await findCometBft()).path
})

const drawn = drawManifest(seed, { hasLinks: false, versions: [COMETBFT_VERSION] })
const perturbation = (kind: Kind, ...victims: readonly number[]): Perturbation => ({
  kind,
  victims,
  part: drawn.perturbations[0]?.part ?? 'both',
  holdMs: 500,
})

/** A manifest of the seed with these perturbations, without what makes it slow. */
function runShort(name: string, perturbations: Manifest['perturbations'], faults: Faults = {}): Promise<Outcome> {
  const nodes = drawn.nodes.slice(0, VALIDATORS)
  const manifest = { ...drawn, nodes, blockTimeMs: 200, latencyMs: new Map(), perturbations }
  const links = loopbackLinks(VALIDATORS)
  return runManifest(manifest, { output: join(folder, name), links, programOf: () => program, faults })
}

// The short form of `make manifests`: it needs neither root nor namespaces.
describe(`a network of four: SEED=${seed}`, () => {
  test('one node is killed, two are paused, one is restarted: one chain, nothing acknowledged is lost, and halts end', async () => {
    const some = [perturbation('kill', seed % VALIDATORS), perturbation('pause', 1, 2), perturbation('restart', 3)]
    const { recoveries, acknowledged, compared } = await runShort('net', some)
    expect(recoveries).toHaveLength(some.length)
    expect(recoveries[1]?.halted).toBe(true)
    expect(acknowledged).toBeGreaterThan(some.length)
    expect(compared).toBeGreaterThan(some.length)
  })
})

/** A mistake that somebody could make. */
describe('finds', () => {
  test(
    'a node whose state differs',
    () => expect(runShort('other', [], { hasOtherGenesis: true })).rejects.toThrow(/AppHash|app hash/),
    LIMIT_MS,
  )

  test(
    'a chain that goes on without a quorum',
    () =>
      expect(
        runShort('paused', [{ ...perturbation('pause', 1, 2), holdMs: 60_000 }], { pausesNothing: true }),
      ).rejects.toThrow(/pause 1 and 2 .* without a quorum/),
    LIMIT_MS,
  )
})
