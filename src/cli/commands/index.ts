import { openNodeRpc } from '../../comet/rpc.ts'
import { openHistoryWriter, prepareHistory } from '../../node/history/file.ts'
import { rebuildHistory } from '../../node/history/rebuild.ts'
import { UserError } from '../../node/errors.ts'
import { historyPathOf, needState } from '../../node/homes.ts'
import {
  commonOptions,
  type Configure,
  type FlagsOf,
  nodeOption,
  nodeUrl,
  option,
  subcommand,
  withOptions,
} from '../options.ts'
import { note, printAnswer, progressOn } from '../output.ts'
import { readState } from '../../node/stateFile.ts'

/** With an eighth of it, indexing 800,000 transactions takes half as long again. */
const CACHE_KIB = 64 * 1024

const rebuildOptions = [
  ...commonOptions,
  nodeOption,
  option('--all', 'remove what the index holds first, and read every block anew'),
] as const

async function rebuild(flags: FlagsOf<typeof rebuildOptions>): Promise<void> {
  const { home, json, all = false } = flags
  const { chainId, head } = readState(needState(home), (state) => ({ chainId: state.chainId(), head: state.height() }))
  if (chainId === undefined) throw new UserError(`${home}: no block has been committed yet`)
  const rpc = openNodeRpc(nodeUrl(flags))
  try {
    const status = await rpc.status()
    if (status.chainId !== chainId)
      throw new UserError(`--node: ${rpc.url} is a node of ${status.chainId}, but this home is of ${chainId}`)
    const path = historyPathOf(home)
    const why = prepareHistory(path, chainId)
    if (why !== undefined) note(`${path} was unusable (${why}) and begins anew`)
    const index = openHistoryWriter(path, CACHE_KIB)
    try {
      if (all) index.clear()
      const progress = progressOn(process.stderr)
      const added = await rebuildHistory({
        index,
        rpc,
        head: Math.min(head, status.latestHeight),
        onProgress: ({ first }) => progress(`blocks from ${first} on`),
      })
      const span = index.span()
      printAnswer(json, { path, added, first_height: span?.first ?? null, last_height: span?.last ?? null })
    } finally {
      index.close()
    }
  } finally {
    rpc.close()
  }
}

/** Configures `svcd index`. */
export const configure: Configure = (command) => {
  withOptions(command, 'svcd index rebuild --home ~/my-chain')
  const doc = 'Adds the blocks that the index of histories lacks, from a node that has them, also while the node runs.'
  subcommand(command, 'rebuild', doc, 'svcd index rebuild --home ~/my-chain', rebuildOptions).action(rebuild)
}
