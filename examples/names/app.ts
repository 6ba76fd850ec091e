/** The application: names that people register, transfer and release. CometBFT calls the handlers. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Application } from '@svcd/abci'
import * as db from '@svcd/store'
import { isKey, isName, readTx } from './tx.ts'

export const names = db.table('names', { tag: 1, key: { name: db.text }, row: { owner: db.hexOf(32) } })
export const accounts = db.table('accounts', { tag: 2, key: { publicKey: db.hexOf(32) }, row: { nonce: db.uint } })
const tables = [names, accounts]

const refuse = (code: number, log: string) => ({ code, log })

/** Executes a transaction, in CheckTx and in a block. From its nonce on it counts, even where it is refused. */
function execute(state: db.State, chainId: string, bytes: Uint8Array) {
  const tx = readTx(bytes)
  if (tx === undefined) return refuse(1, 'malformed, or not signed')
  const { sender, name, action, to } = tx
  if (tx.chainId !== chainId) return refuse(2, `chainId: expected ${chainId}`)
  const { nonce } = state.get(accounts, { publicKey: sender }) ?? { nonce: 0 }
  if (tx.nonce !== nonce) return refuse(3, `nonce: expected ${nonce}, got ${tx.nonce}`)
  state.put(accounts, { publicKey: sender, nonce: nonce + 1 })
  const owner = state.get(names, { name })?.owner
  if (action === 'register' && owner !== undefined) return refuse(4, `${name} belongs to ${owner}`)
  if (action !== 'register' && owner !== sender) return refuse(5, `${name} does not belong to ${sender}`)
  if (action === 'release') state.remove(names, { name })
  else state.put(names, { name, owner: to })
  return { code: 0 }
}

/** Opens the application whose state is in `folder`. It offers a snapshot every `snapshotEvery` blocks. */
export function openApplication(folder: string, snapshotEvery = 100) {
  mkdirSync(folder, { recursive: true })
  const paths = {
    path: join(folder, 'state.db'),
    folder: join(folder, 'snapshots'),
    restorePath: join(folder, 'new.db'),
  }
  const store = db.openSqliteStore({ path: paths.path, tables })
  const snapshots = db.openSnapshotMaker({ ...paths, tables, every: snapshotEvery })
  let chainId = store.chainId() ?? ''
  let check = db.createOverlay(store) // with what CheckTx has accepted since the last block
  let finalized: { prepared: db.PreparedBlock; block: db.BlockInfo } | undefined // and not committed yet

  const stand = () => {
    chainId = store.chainId() ?? chainId
    check = db.createOverlay(store)
  }

  const application: Application = {
    info: () => ({ lastBlockHeight: store.height(), lastBlockAppHash: store.appHash() }),
    initChain: (request) => {
      chainId = request.chainId
      return { appHash: store.appHash() }
    },
    checkTx: ({ tx }) => {
      check.savepoint()
      const result = execute(check, chainId, tx)
      if (result.code === 0) check.release()
      else check.rollback()
      return result
    },
    finalizeBlock: ({ height, time, txs }) => {
      const state = db.createOverlay(store)
      const txResults = txs.map((tx) => execute(state, chainId, tx))
      const prepared = store.prepare(state)
      const block = { chainId, height, timeMs: (time?.seconds ?? 0) * 1000, transactions: txs.length }
      finalized = { prepared, block }
      return { txResults, appHash: prepared.appHash }
    },
    commit: () => {
      if (finalized === undefined) throw new Error('commit: no block was finalized')
      store.commit(finalized.prepared, finalized.block)
      snapshots.committed()
      stand()
      return {}
    },
    query: ({ path, ...request }) => {
      const [, table, key = ''] = path.split('/')
      if (table === 'names' && isName(key)) return db.queryRow(store, names, { name: key }, request)
      if (table === 'accounts' && isKey(key)) return db.queryRow(store, accounts, { publicKey: key }, request)
      return refuse(1, 'path: expected /names/<name> or /accounts/<public key>')
    },
    ...db.stateSyncHandlers({ ...paths, store, tables, onRestored: stand }),
  }
  const close = () => {
    snapshots.close()
    store.close()
  }
  return { application, close }
}
