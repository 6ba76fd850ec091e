import type { Handler } from '../abci/types.ts'
import type { Chain } from './chain.ts'

/** Never changes: CometBFT writes it into every header, and a changed one would be another chain. */
export const APP_VERSION = 1

/** Tells the committed height only: a block that FinalizeBlock ran and Commit did not write is nothing. */
export const info =
  ({ options: { store, version } }: Chain): Handler<'info'> =>
  () => ({
    data: 'svcd',
    version,
    appVersion: APP_VERSION,
    lastBlockHeight: store.height(),
    lastBlockAppHash: store.height() === 0 ? new Uint8Array(0) : store.appHash(),
  })
