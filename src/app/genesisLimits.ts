import { GenesisError } from '../modules/genesis.ts'

/**
 * Largest `consensus_params.block.max_bytes` of a chain: the server takes frames that hold such a block (src/abci,
 * FRAME_BYTES_MAX).
 */
export const BLOCK_BYTES_MAX: number = 64 * 1024 * 1024

/** Largest initial height. Above it there is room for 8 × 10^15 blocks that a number still counts exactly. */
export const INITIAL_HEIGHT_MAX: number = 10 ** 15

/** What a genesis file says to CometBFT and the application has to be able to serve. */
interface GenesisLimits {
  /** `consensus_params.block.max_bytes`; undefined where it is CometBFT's own default, which is below the limit. */
  readonly blockMaxBytes: number | undefined
  /** 0 counts as 1. */
  readonly initialHeight: number
}

/**
 * Throws a GenesisError for a chain whose blocks would be larger than a frame, or whose heights would be no exact
 * numbers.
 */
export function assertGenesisLimits({ blockMaxBytes, initialHeight }: GenesisLimits): void {
  if (
    blockMaxBytes !== undefined &&
    !(Number.isInteger(blockMaxBytes) && blockMaxBytes >= 1 && blockMaxBytes <= BLOCK_BYTES_MAX)
  ) {
    throw new GenesisError(
      `genesis consensus_params: block.max_bytes: expected 1 to ${BLOCK_BYTES_MAX} (64 MiB), got ${blockMaxBytes}`,
    )
  }
  if (!(Number.isInteger(initialHeight) && initialHeight >= 0 && initialHeight <= INITIAL_HEIGHT_MAX)) {
    throw new GenesisError(`genesis initial_height: expected 0 to ${INITIAL_HEIGHT_MAX}, got ${initialHeight}`)
  }
}
