import { writeFileSync } from 'node:fs'
import { type CommonFlags, type Configure, example, homeFrom, withCommon } from '../command.ts'
import { genesisTimeNow } from '../genesis.ts'
import { note, say } from '../output.ts'
import { needState } from '../statePaths.ts'
import { UserError } from '../userError.ts'

interface Flags extends CommonFlags {
  readonly chainId: string
  readonly output?: string
  readonly genesisTime?: string
}

async function run(flags: Flags): Promise<void> {
  const path = needState(homeFrom(flags))
  const { openSqliteReader } = await import('../../store/sqlite/sqliteReader.ts')
  const { tables } = await import('../../modules/registry.ts')
  const { exportState } = await import('../exportGenesis.ts')
  const { genesisJson } = await import('../../comet/config.ts')
  const { addressOfPubKey } = await import('../../comet/nodeKeys.ts')
  const reader = openSqliteReader({ path, tables })
  try {
    const { height, exported, chainId } = reader.read((state) => {
      if (state.height() === 0) throw new UserError(`${path}: no block is committed yet`)
      return { height: state.height(), chainId: state.chainId(), exported: exportState(state, state.height()) }
    })
    // One transaction would be valid on both chains, and could be sent again on the other.
    if (flags.chainId === chainId) throw new UserError(`--chain-id: the new chain needs another name than ${chainId}`)
    const text = genesisJson({
      chainId: flags.chainId,
      genesisTime: flags.genesisTime ?? genesisTimeNow(),
      appState: exported.appState,
      validators: exported.validators.map((one) => ({ ...one, address: addressOfPubKey(one.pubKey) })),
    })
    if (flags.output === undefined) say(text.trimEnd())
    else writeFileSync(flags.output, text)
    note(
      `the state of ${chainId} at height ${height}, supply ${exported.supply} base units, as the start of ${flags.chainId}`,
    )
    note('not carried over:')
    for (const line of exported.left) note(`  ${line}`)
  } finally {
    reader.close()
  }
}

/** `svcd export`. The genesis file is JSON with and without `--json`; what it does not carry goes to stderr. */
export const configure: Configure = (command) => {
  withCommon(example(command, 'svcd export --chain-id my-chain-2 --output genesis.json'))
    .requiredOption('--chain-id <id>', 'name of the new chain: another one than the old')
    .option('--output <file>', 'write it there (default: stdout)')
    .option('--genesis-time <time>', 'when the new chain starts, such as 2026-11-20T10:00:00Z (default: now)')
    .action(run)
}
