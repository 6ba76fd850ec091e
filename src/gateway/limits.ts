/** Most calls in one batch. */
export const BATCH_CALLS_MAX = 50

/** Most bytes of one HTTP body. */
export const BODY_BYTES_MAX = 1024 * 1024

/** Most bytes of UTF-16 text that the answers of one batch may have together; an answer beyond it is replaced by an error. */
export const BATCH_ANSWER_LENGTH_MAX = 16 * 1024 * 1024

/** Deepest nesting of params. What the interface takes needs three. */
export const PARAMS_DEPTH_MAX = 16

/** Most transactions that this gateway signs, sends or waits for at a time; a call beyond it is answered with -32013. */
export const WAITING_MAX = 10_000

/** Accounts without a call under way whose next nonce is kept: their next call need not ask the node for it. */
export const NONCES_KEPT = 10_000

/** How long a transaction is waited for unless configured, in ms. Source: protocol.md §10, -32012. */
export const WAIT_MS = 30_000

/** How long a whole HTTP request may take to arrive, in ms. */
export const REQUEST_MS_MAX = 10_000

/** How long the first block feed may take to begin before a transaction is refused with -32011, in ms. */
export const FEED_START_MS_MAX = 10_000

/** How often a transaction that the node had already is looked up while it is waited for, in ms. */
export const LOOK_UP_MS = 500

/** Blocks whose gas price is remembered. */
export const GAS_PRICES_KEPT = 64

/**
 * How often a transaction without a nonce of the caller's is signed again with the nonce that the node expects. Once is enough for one
 * gateway; two that sign for one account overtake each other at about every second try (6 of 1,000 calls lost ten tries in a row).
 */
export const RESIGNS_MAX = 50

/** Age of the head from which the chain counts as stalled unless configured, in ms, however fast its blocks came. */
export const STALLED_MS_MIN = 10_000

/** The same for a slower chain, in block intervals: the middle one of the last five. */
export const STALLED_INTERVALS = 5

/** Longest block interval that counts, in ms: the block after genesis may be years later. */
export const STALLED_INTERVAL_MS_MAX = 600_000
