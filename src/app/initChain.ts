import type { Handler, InitChainRequest } from '../abci/types.ts'
import { fromUtf8 } from '../base/bytes.ts'
import { secondsOf } from '../base/time.ts'
import { evidenceParamsOf } from '../modules/endBlock.ts'
import { applyGenesis, type Genesis, GenesisError, readGenesis } from '../modules/genesis.ts'
import { makeOverlay } from '../store/overlay.ts'
import type { Chain } from './chain.ts'
import { printEvidence, printUpdates, timeMsOf } from './convert.ts'
import { assertGenesisLimits } from './genesisLimits.ts'
import { APP_VERSION } from './info.ts'

function readAppState(bytes: Uint8Array): Genesis {
  const text = fromUtf8(bytes)
  let json: unknown
  try {
    json = JSON.parse(text ?? '')
  } catch {
    throw new GenesisError(`genesis app_state: expected a JSON object, got ${bytes.length} bytes that are not JSON`)
  }
  return readGenesis(json)
}

/** The largest time a timestamp can name: the end of the year 9999. */
const GENESIS_TIME_MS_MAX = 253_402_300_799_999

function genesisTime(request: InitChainRequest): number {
  const timeMs = timeMsOf(request.time)
  if (timeMs < 0 || timeMs > GENESIS_TIME_MS_MAX) {
    throw new GenesisError(`genesis_time: expected the years 1970 to 9999, got Unix ms ${timeMs}`)
  }
  return timeMs
}

/**
 * Makes the state of genesis.json, in memory until the first commit: a crash before it makes CometBFT ask again. The
 * answer is the validator set by our rules, whatever powers genesis lists. The block's max_bytes is decided here for
 * good: no later answer sends that group. Source: protocol.md §4, InitChain.
 */
export const initChain =
  (chain: Chain): Handler<'initChain'> =>
  (request) => {
    const { store } = chain.options
    if (store.height() > 0) {
      throw new Error(
        `InitChain for ${request.chainId}, but the state of ${store.chainId()} is at height ${store.height()}`,
      )
    }
    const blockMaxBytes = request.consensusParams?.block?.maxBytes
    assertGenesisLimits({ blockMaxBytes, initialHeight: request.initialHeight })
    const timeMs = genesisTime(request)
    const genesis = readAppState(request.appStateBytes)
    const evidenceMaxBytes = request.consensusParams?.evidence?.maxBytes ?? 0
    const state = makeOverlay(store)
    const initialHeight = Math.max(1, request.initialHeight)
    const start = { chainId: request.chainId, initialHeight, evidenceMaxBytes, timeMs, time: secondsOf(timeMs) }
    const validators = applyGenesis(state, genesis, start)
    chain.genesis = state
    chain.open = undefined
    chain.ahead = undefined
    chain.check = undefined
    const period = Number(genesis.params.get('unstake_wait_period'))
    return {
      appHash: store.prepare(state).appHash,
      validators: printUpdates(validators),
      consensusParams: {
        ...(blockMaxBytes === undefined ? {} : { block: { maxBytes: blockMaxBytes, maxGas: -1 } }),
        evidence: printEvidence(evidenceParamsOf(period, evidenceMaxBytes)),
        // Into every header: state sync refuses an application whose Info tells of another version than the header.
        version: { app: APP_VERSION },
      },
    }
  }
