/** How a node and the application meet: Info, and InitChain where there is no block yet. */
import type { InfoResponse, InitChainRequest, InitChainResponse } from '../abci/types.ts'
import { fromUtf8 } from '../base/bytes.ts'
import { parseJson, show } from '../base/json.ts'
import { secondsOf } from '../base/time.ts'
import { evidenceParamsOf } from '../modules/endBlock.ts'
import { programVersion } from '../modules/chain/keeper.ts'
import { applyGenesis, type Genesis, GenesisError, readGenesis } from '../modules/genesis.ts'
import { createOverlay } from '../store/index.ts'
import { type AppContext, resetTo } from './context.ts'
import { printUpdates, timeMsOf } from './convert.ts'
import { assertProgramVersion } from './programVersion.ts'

/**
 * The application's protocol version. It never changes: CometBFT writes it into every header, so another number would
 * be another chain.
 */
export const APP_VERSION = 1

/**
 * The largest `consensus_params.block.max_bytes` of a chain. The ABCI server accepts frames that hold such a block
 * (FRAME_BYTES_MAX in src/abci).
 */
export const BLOCK_BYTES_MAX: number = 64 * 1024 * 1024

/**
 * The largest initial height. It leaves room for 7.5 × 10^9 blocks, whose transactions the index of histories can number
 * with exact JavaScript numbers: height × 2^20 + index.
 */
export const INITIAL_HEIGHT_MAX: number = 10 ** 9

/** The largest time that a timestamp can name: the end of the year 9999. */
const GENESIS_TIME_MS_MAX = 253_402_300_799_999

/** What a genesis file asks of CometBFT that the application must be able to serve. */
interface GenesisLimits {
  /** `consensus_params.block.max_bytes`; undefined for CometBFT's own default, which is below the limit. */
  readonly blockMaxBytes: number | undefined
  /** `consensus_params.validator.pub_key_types` as the file has it; undefined for CometBFT's own default, ed25519. */
  readonly pubKeyTypes: unknown
  /** 0 means 1. */
  readonly initialHeight: number
}

/** The only type of validator keys that a candidacy can have. */
const PUB_KEY_TYPE = 'ed25519'

/**
 * Throws a GenesisError for a chain whose blocks exceed a frame, whose validators could have keys that no candidacy can
 * have, or whose heights are not exact numbers. Source: protocol.md §4, Consensus parameters.
 */
export function assertGenesisLimits({ blockMaxBytes, pubKeyTypes, initialHeight }: GenesisLimits): void {
  if (
    blockMaxBytes !== undefined &&
    !(Number.isInteger(blockMaxBytes) && blockMaxBytes >= 1 && blockMaxBytes <= BLOCK_BYTES_MAX)
  ) {
    throw new GenesisError(
      `genesis consensus_params: block.max_bytes: expected 1 to ${BLOCK_BYTES_MAX} (64 MiB), got ${blockMaxBytes}`,
    )
  }
  if (pubKeyTypes !== undefined && !(Array.isArray(pubKeyTypes) && pubKeyTypes.join() === PUB_KEY_TYPE)) {
    throw new GenesisError(
      `genesis consensus_params: validator.pub_key_types: expected ["${PUB_KEY_TYPE}"] alone, got ${show(pubKeyTypes)}`,
    )
  }
  if (!(Number.isInteger(initialHeight) && initialHeight >= 0 && initialHeight <= INITIAL_HEIGHT_MAX)) {
    throw new GenesisError(`genesis initial_height: expected 0 to ${INITIAL_HEIGHT_MAX}, got ${initialHeight}`)
  }
}

/**
 * Reports the committed height only: a block that FinalizeBlock executed does not exist until Commit has written it.
 * `data` is JSON, which tells the program version that this program runs and, from the first commit on, the chain's.
 */
export function info({ options: { store, version, programVersion: runs } }: AppContext): InfoResponse {
  const chain = store.height() === 0 ? undefined : programVersion(store)
  return {
    data: JSON.stringify({ name: 'svcd', program_version: runs, chain_program_version: chain }),
    version,
    appVersion: APP_VERSION,
    lastBlockHeight: store.height(),
    lastBlockAppHash: store.height() === 0 ? new Uint8Array(0) : store.appHash(),
  }
}

function readAppState(bytes: Uint8Array): Genesis {
  const json = parseJson(fromUtf8(bytes) ?? '')
  if (json === undefined)
    throw new GenesisError(`genesis app_state: expected a JSON object, got ${bytes.length} bytes that are not JSON`)
  return readGenesis(json)
}

function genesisTime(request: InitChainRequest): number {
  const timeMs = timeMsOf(request.time)
  if (timeMs < 0 || timeMs > GENESIS_TIME_MS_MAX) {
    throw new GenesisError(`genesis_time: expected the years 1970 to 9999, got Unix ms ${timeMs}`)
  }
  return timeMs
}

/**
 * Makes the state of genesis.json. It stays in memory until the first commit, because CometBFT sends InitChain again
 * after a crash before it. The validator set in the response follows our rules, whatever powers the genesis file lists.
 * The block's max_bytes is settled here for good: no later response sends that group of parameters. Source: protocol.md
 * §4, InitChain.
 */
export function initChain(app: AppContext, request: InitChainRequest): InitChainResponse {
  const { store } = app.options
  if (store.height() > 0) {
    throw new Error(
      `InitChain for ${request.chainId}, but the state of ${store.chainId()} is at height ${store.height()}`,
    )
  }
  const { block, validator } = request.consensusParams ?? {}
  const blockMaxBytes = block?.maxBytes
  assertGenesisLimits({
    blockMaxBytes,
    pubKeyTypes: validator?.pubKeyTypes,
    initialHeight: request.initialHeight,
  })
  const timeMs = genesisTime(request)
  const genesis = readAppState(request.appStateBytes)
  const evidenceMaxBytes = request.consensusParams?.evidence?.maxBytes ?? 0
  const state = createOverlay(store)
  const initialHeight = Math.max(1, request.initialHeight)
  const start = { chainId: request.chainId, initialHeight, evidenceMaxBytes, timeMs, time: secondsOf(timeMs) }
  const validators = applyGenesis(state, genesis, start)
  assertProgramVersion(app, state)
  resetTo(app, state)
  const period = Number(genesis.params.get('unstake_wait_period'))
  return {
    appHash: store.prepare(state).appHash,
    validators: printUpdates(validators),
    consensusParams: {
      ...(blockMaxBytes === undefined ? {} : { block: { maxBytes: blockMaxBytes, maxGas: -1 } }),
      evidence: evidenceParamsOf(period, evidenceMaxBytes),
      // State sync refuses an application whose Info reports another version than the header has.
      version: { app: APP_VERSION },
    },
  }
}
