/** The most calls in one batch. */
export const BATCH_CALLS_MAX = 50

/** The most bytes of one HTTP body. */
export const BODY_BYTES_MAX = 1024 * 1024

/**
 * The most bytes of UTF-16 text that the answers of one batch may have together; an answer beyond it is replaced by an
 * error.
 */
export const BATCH_ANSWER_LENGTH_MAX = 16 * 1024 * 1024

/** Deepest nesting of params. What the interface takes needs three. */
export const PARAMS_DEPTH_MAX = 16

/**
 * The most transactions that this gateway signs, sends or waits for at a time; a call beyond it is answered with -32013.
 */
export const WAITING_MAX = 10_000

/** The most of them that the gateway signs itself, so that there is room for callers who sign for themselves. */
export const WAITING_SIGNED_HERE_MAX = 5_000

/** The most of them of one sender. */
export const WAITING_OF_SENDER_MAX = 1_024

/** The most queries of callers that the node is asked at a time. */
export const QUERIES_ASKED_MAX = 32

/** The most queries of callers that are under way or wait for their turn; one more is answered with -32015. */
export const QUERIES_MAX = 2_000

/** The most whole lists that the node is asked for at a time, each with a connection of its own. */
export const LISTS_ASKED_MAX = 2

/** The most other lists that wait for their turn; one more is answered with -32015. */
export const LISTS_WAITING_MAX = 32

/** How long a list waits for its turn, in ms. */
export const LIST_WAIT_MS_MAX = 10_000

/** The most bytes of lists that are kept for the callers of one head. */
export const LISTS_KEPT_BYTES_MAX = 32 * 1024 * 1024

/** What a kept list costs beside its text, in bytes. */
export const LIST_OVERHEAD_BYTES = 1024

/** How long one answer of /readyz serves all callers, in ms. The node is not asked more often, however often they call. */
export const READY_MS = 250

/** Accounts without a call under way whose next nonce is kept: their next call need not ask the node for it. */
export const NONCES_KEPT = 10_000

/** How long a transaction is waited for unless configured, in ms. Source: protocol.md §10, -32012. */
export const WAIT_MS = 30_000

/** How long a whole HTTP request may take to arrive, its headers and its body, in ms. */
export const REQUEST_MS_MAX = 10_000

/** How often that is checked, in ms. */
export const REQUEST_CHECK_MS = 1_000

/** How long a connection without a request is kept, in ms. */
export const KEEP_ALIVE_MS = 30_000

/** How long a connection may take none of the answer that waits for it, in ms; then it is closed. */
export const UNREAD_MS_MAX = 10_000

/**
 * The most bytes of answers that wait to be read, a shared one counted once. Beyond it the oldest answer's connection is
 * closed.
 */
export const UNREAD_BYTES_MAX = 64 * 1024 * 1024

/** What an answer costs beside its text, in bytes. */
export const ANSWER_OVERHEAD_BYTES = 1024

/** The most bytes that are handed to a connection at a time. Longer answers go in pieces of it. */
export const PIECE_BYTES = 64 * 1024

/**
 * The most connections from one address, unless configured; one more is closed at once. An IPv6 address counts by its /64.
 */
export const CONNECTIONS_OF_ADDRESS_MAX = 100

/** The most connections in all, unless configured; one more is closed at once. */
export const CONNECTIONS_MAX = 1_000

/** Calls a second from one address, unless configured; whole lists have a share of their own. */
export const CALLS_PER_SECOND = 500

/** Over how long calls are counted, in ms. */
export const RATE_WINDOW_MS = 10_000

/** As how many calls a whole list counts: an address has CALLS_PER_SECOND / LIST_COST of them a second. */
export const LIST_COST = 20

/** How long the first block feed may take to begin before a transaction is refused with -32011, in ms. */
export const FEED_START_MS_MAX = 10_000

/** How often a transaction that the node had already is looked up while it is waited for, in ms. */
export const LOOK_UP_MS = 500

/** Blocks whose gas price is remembered. */
export const GAS_PRICES_KEPT = 64

/** Age of the head from which the chain counts as stalled unless configured, in ms, however fast its blocks came. */
export const STALLED_MS_MIN = 10_000

/** The same for a slower chain, in block intervals: the middle one of the last five. */
export const STALLED_INTERVALS = 5

/** Longest block interval that counts, in ms: the block after genesis may be years later. */
export const STALLED_INTERVAL_MS_MAX = 600_000

/**
 * How many calls of one address begin before the others get their turn: a batch, which is some ms of verifying
 * signatures.
 */
export const TURN_CALLS = 50

/** What callers may take of a gateway, unless configured. */
export const HTTP_LIMITS = {
  connections: CONNECTIONS_MAX,
  connectionsOfAddress: CONNECTIONS_OF_ADDRESS_MAX,
  unreadMs: UNREAD_MS_MAX,
  unreadBytes: UNREAD_BYTES_MAX,
  requestMs: REQUEST_MS_MAX,
  /** 0 is no limit. */
  callsPerSecond: CALLS_PER_SECOND,
  /** Addresses of reverse proxies, alone or as networks (10.0.0.0/8), whose X-Forwarded-For says who the caller is. */
  trustProxies: [] as readonly string[],
}
