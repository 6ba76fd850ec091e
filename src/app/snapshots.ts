/** Offers the snapshots of this node, and restores those of peers. Source: src/store/README.md, Snapshots. */
import { baseApplication } from '../abci/baseApplication.ts'
import { OfferSnapshotResult } from '../abci/types.ts'
import { headOfState } from '../modules/chain/keeper.ts'
import { loadAnswers } from '../modules/governance/keeper.ts'
import { tables } from '../modules/registry.ts'
import { stateSyncHandlers } from '../store/index.ts'
import { type AppContext, resetTo } from './context.ts'

/** The handlers of state sync. A restored state becomes the head. */
export function snapshotHandlers(app: AppContext) {
  const { store, snapshots, logger } = app.options
  if (snapshots === undefined)
    return { ...baseApplication, offerSnapshot: () => ({ result: OfferSnapshotResult.reject }) }
  const { folder, restorePath, chainId, replaceBy, beginAt } = snapshots
  return stateSyncHandlers({
    store: { height: store.height, chainId: store.chainId, replaceBy },
    tables,
    folder,
    isOffering: beginAt !== undefined,
    restorePath,
    chainId,
    headOf: headOfState,
    onRestored: () => {
      loadAnswers(store)
      resetTo(app, store)
    },
    logger,
  })
}
