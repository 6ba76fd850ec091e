import type {
  CompleteApplication,
  CheckTxResponse,
  FinalizeBlockResponse,
  InitChainResponse,
} from '../src/abci/types.ts'
import { createApp } from '../src/app/app.ts'
import { addressBytes, addressOfKey } from '../src/values/address.ts'
import { tables, views } from '../src/modules/registry.ts'
import { openSqliteStore } from '../src/store/sqlite/sqliteStore.ts'
import { CHAIN_ID } from './accounts.ts'

const nothing = new Uint8Array(0)
const GENESIS_SECONDS = 1_700_000_000
const BLOCK_BYTES_MAX = 4_000_000

function mustSucceed(results: readonly { readonly code?: number; readonly log?: string }[]): void {
  const failed = results.find(({ code = 0 }) => code !== 0)
  if (failed !== undefined) throw new Error(`a transaction failed: ${failed.code} ${failed.log}`)
}

function makeGenesis(app: CompleteApplication, appState: object): void {
  const { validators = [] } = app.initChain({
    time: { seconds: GENESIS_SECONDS, nanos: 0 },
    chainId: CHAIN_ID,
    validators: [],
    initialHeight: 1,
    appStateBytes: Buffer.from(JSON.stringify(appState)),
    consensusParams: {
      block: { maxBytes: BLOCK_BYTES_MAX, maxGas: -1 },
      evidence: { maxAgeNumBlocks: 1, maxAgeDuration: { seconds: 1, nanos: 0 }, maxBytes: 100_000 },
    },
  }) as InitChainResponse
  if (validators.length === 0) throw new Error('genesis without validators')
}

/**
 * Opens the application on the SQLite file `path`, driven as a node would, without the node: what it costs is the
 * application's alone. A new file begins with `appState`. `signers`: the validator keys (32 bytes) that sign every block.
 */
export function openDriver(
  path: string,
  signers: readonly { readonly key: Uint8Array; readonly power: number }[],
  appState?: () => object,
) {
  const store = openSqliteStore({ path, tables, views })
  const logger = { info: () => undefined, error: () => undefined }
  const app = createApp({ store, version: 'bench', node: { os: 'ubuntu' }, logger })
  if (store.height() === 0 && appState !== undefined) makeGenesis(app, appState())
  let height = store.height()
  const signed = signers.map(({ key, power }) => ({
    validator: { address: addressBytes(addressOfKey(key)), power },
    signedLastBlock: true,
    blockIdFlag: 2,
  }))
  return {
    store,
    check: (txs: readonly Uint8Array[], type: 0 | 1) =>
      mustSucceed(txs.map((tx) => app.checkTx({ tx, type }) as CheckTxResponse)),
    /** PrepareProposal, ProcessProposal, FinalizeBlock and Commit. Throws when a transaction fails. */
    block: (txs: readonly Uint8Array[]) => {
      height++
      const time = { seconds: GENESIS_SECONDS + height, nanos: 0 }
      const votes = height === 1 ? [] : signed
      const common = {
        hash: nothing,
        height,
        time,
        nextValidatorsHash: nothing,
        proposerAddress: nothing,
        misbehavior: [],
      }
      const proposal = { ...common, maxTxBytes: BLOCK_BYTES_MAX, txs, localLastCommit: { round: 0, votes: [] } }
      const { txs: chosen } = app.prepareProposal(proposal) as { readonly txs: readonly Uint8Array[] }
      if (chosen.length !== txs.length)
        throw new Error(`${txs.length - chosen.length} transactions were left out of a block`)
      const commit = { round: 0, votes }
      app.processProposal({ ...common, txs: chosen, proposedLastCommit: commit })
      const { txResults = [] } = app.finalizeBlock({
        ...common,
        txs: chosen,
        decidedLastCommit: commit,
      }) as FinalizeBlockResponse
      mustSucceed(txResults)
      app.commit({})
    },
    close: () => store.close(),
  }
}
