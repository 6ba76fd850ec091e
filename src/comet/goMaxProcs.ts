import { availableParallelism } from 'node:os'

/**
 * The fewest threads that CometBFT gets to run Go code on. With one for each of two cores its socket client starves
 * itself now and then: docs/performance-figures.md has the measurements.
 */
export const GO_THREADS_MIN = 4

/**
 * `GOMAXPROCS` for CometBFT: the user's when it is set, else GO_THREADS_MIN when there are fewer cores. Undefined leaves
 * it to Go, which takes all cores, or as many as its container may use.
 */
export const goMaxProcs = (env: NodeJS.ProcessEnv, cores = availableParallelism()): string | undefined =>
  env['GOMAXPROCS'] || (cores < GO_THREADS_MIN ? String(GO_THREADS_MIN) : undefined)

/** A line of sh that does the same, for what starts CometBFT without svcd: scripts, systemd units and the image. */
export const GO_MAX_PROCS_LINE: string =
  `[ "$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)" -ge ${GO_THREADS_MIN} ] || ` +
  `export GOMAXPROCS="\${GOMAXPROCS:-${GO_THREADS_MIN}}"`

/** A command line of CometBFT that first does what GO_MAX_PROCS_LINE says, then replaces the shell. */
export const withGoMaxProcs = (words: readonly string[]): readonly string[] => [
  '/bin/sh',
  '-c',
  `${GO_MAX_PROCS_LINE}; exec "$0" "$@"`,
  ...words,
]
