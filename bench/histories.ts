import { table } from '../tools/reference/markdown.ts'
import type { Context } from './context.ts'
import { transferGenesis } from './genesis.ts'
import type { NodeOptions } from './node.ts'
import { number } from './report.ts'
import { medianFigure, ratioOf, type Sample } from './sample.ts'
import { runTxLoad, TRANSFER_LOADS, withNode } from './transactions.ts'

const [LOAD] = TRANSFER_LOADS as [(typeof TRANSFER_LOADS)[number]]

/** How the same node keeps histories: not at all, in its own index, or in CometBFT's. */
const KEEPERS: Readonly<Record<string, Pick<NodeOptions, 'appFlags' | 'settings'>>> = {
  'no index': { appFlags: ['--no-history'] },
  'own index': {},
  "CometBFT's index": { appFlags: ['--no-history'], settings: { 'tx_index.indexer': 'kv' } },
}

/** Saturated transfers with and without the index of histories, and with CometBFT's, side by side in each round. */
export async function measureHistories(context: Context): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  for (let round = 0; round < context.rounds; round++) {
    const keepers = Object.entries(KEEPERS)
    for (const [subject, options] of round % 2 === 0 ? keepers : keepers.toReversed()) {
      await withNode(context, 'svcd', { appState: transferGenesis, ...options }, async (node) => {
        await runTxLoad({ ...context, samples }, node, LOAD, { pool: 'transfer', fresh: true, subject, round })
      })
    }
  }
  return samples
}

export function historyTable(samples: readonly Sample[]): string {
  const [load] = LOAD
  const rows = Object.keys(KEEPERS).map((subject) => [
    subject,
    number(medianFigure(samples, load, subject, 'perSecond'), 0),
    number(ratioOf(samples, 'perSecond', [load, subject], [load, 'no index']), 2),
    number(medianFigure(samples, load, subject, 'appUs'), 0),
    number(medianFigure(samples, load, subject, 'cometUs'), 0),
  ])
  return table(
    ['histories in', 'transfers per second', 'ratio to none', 'µs of CPU a transfer, application', 'CometBFT'],
    rows,
  )
}
