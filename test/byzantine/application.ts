import { readFileSync } from 'node:fs'
import { type CompleteApplication, ProposalStatus, type Snapshot } from '../../src/abci/types.ts'
import { createApp as createReal } from '../../src/app/app.ts'
import type { AppOptions } from '../../src/app/context.ts'
import { random } from '../chain/support.ts'
import { FORGERIES, type Forgery } from './forgeries.ts'
import { proposerOf } from './proposals.ts'
import { TRAIT_VARIABLE, type Trait } from './trait.ts'

const trait = JSON.parse(process.env[TRAIT_VARIABLE] ?? '{}') as Trait

const acceptAll: Pick<CompleteApplication, 'processProposal'> = {
  processProposal: () => ({ status: ProposalStatus.accept }),
}

/** Hands blocks on without their evidence. */
const withoutEvidence = (inner: CompleteApplication): Partial<CompleteApplication> => ({
  processProposal: (request) => inner.processProposal({ ...request, misbehavior: [] }),
  finalizeBlock: (request) => inner.finalizeBlock({ ...request, misbehavior: [] }),
})

/** Lies about snapshots; equal lies on every node that tells them. */
function lying(inner: CompleteApplication, file: string): Partial<CompleteApplication> {
  const forgery = (): Forgery => FORGERIES[readFileSync(file, 'utf8')] as Forgery
  const forged = async (snapshot: Snapshot): Promise<Snapshot> => {
    const { height, format, chunks } = snapshot
    const loaded: Uint8Array[] = []
    for (let chunk = 0; chunk < chunks; chunk++) {
      const answer = await inner.loadSnapshotChunk({ height, format, chunk })
      loaded.push(answer.chunk ?? new Uint8Array(0))
    }
    return forgery().forge(random(height), snapshot, loaded)
  }
  return {
    listSnapshots: async (request) => {
      const { snapshots = [] } = await inner.listSnapshots(request)
      return { snapshots: await Promise.all(snapshots.map((one) => forged(one as Snapshot))) }
    },
    loadSnapshotChunk: async (request) => {
      const { chunk = new Uint8Array(0) } = await inner.loadSnapshotChunk(request)
      return { chunk: forgery().chunk?.(chunk) ?? chunk }
    },
  }
}

/** The real application with the trait of this process. */
export function createApp(options: AppOptions): CompleteApplication {
  const inner = createReal(options)
  const { proposes, offers, acceptsAll, ignoresEvidence } = trait
  return {
    ...inner,
    ...(ignoresEvidence === true && withoutEvidence(inner)),
    ...(offers !== undefined && lying(inner, offers)),
    ...(acceptsAll === true && acceptAll),
    ...(proposes !== undefined && { ...acceptAll, prepareProposal: proposerOf(inner, options.store, proposes) }),
  }
}
