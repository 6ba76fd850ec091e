/** The most calls in one batch. ethers sends up to 100 and adds `eth_chainId`; viem sends all that a page asks at a time. */
export const BATCH_CALLS_MAX = 200

/** The most bytes of one HTTP body. */
export const BODY_BYTES_MAX = 1024 * 1024

/**
 * The most of the characters `,`, `[` and `{` in one body or message, strings included: there are as many at least as
 * members and elements. To parse a body of keys alone takes up to 5 ms with them, and 90 ms without this limit.
 */
export const TEXT_MARKS_MAX = 8_192

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

/**
 * The most further calls that send the bytes of one of them again and wait with it. They take none of the places above, so
 * that strangers cannot fill these with a transaction of somebody else that waits.
 */
export const WAITING_AGAIN_MAX = 5_000

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

/** Accounts of which the gateway remembers what nonce the node expected last. */
export const NONCES_KEPT = 10_000

/** Refused transactions of which the gateway can still say what a balance lacked: at least the last ones. */
export const SHORTFALLS_KEPT = 1_000

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

/**
 * A body or message counts as a call for each so many bytes. To parse as many takes at worst as long as to verify a
 * signature (0.1 ms); a batch of transfers has about half as many for each.
 */
export const CALL_BYTES = 1024

/** Addresses whose calls are counted: the last ones. */
export const ADDRESSES_KEPT = 5_000

/** As how many calls a whole list counts: an address has CALLS_PER_SECOND / LIST_COST of them a second. */
export const LIST_COST = 20

/** The most bytes of one message on a websocket; a longer one closes it with 1009. */
export const SOCKET_MESSAGE_BYTES_MAX = 1024 * 1024

/**
 * The most frames of one message on a websocket, and the most packets of one frame; with more it is closed with 1008. Each
 * costs up to 800 bytes of memory, however short it is. The longest message has fewer on a path with the smallest packets
 * that IPv4 promises.
 */
export const SOCKET_PIECES_MAX = 2_048

/** The most messages of one websocket that are worked on at a time; it is not read further until one is answered. */
export const SOCKET_MESSAGES_MAX = 64

/** The most bytes that wait for the reader of one websocket; beyond them it is closed with 1013. */
export const SOCKET_QUEUE_BYTES_MAX = 8 * 1024 * 1024

/** How often a websocket is pinged, in ms. One that has not answered by the next ping is closed. */
export const SOCKET_PING_MS = 30_000

/** How long a websocket that was closed may take to say so too, in ms. */
export const SOCKET_CLOSE_MS = 2_000

/** The most subscriptions of one websocket; one more is answered with -32015. */
export const SUBSCRIPTIONS_OF_SOCKET_MAX = 16

/** The most subscriptions of one address, unless configured; one more is answered with -32015. */
export const SUBSCRIPTIONS_OF_ADDRESS_MAX = 500

/** The most subscriptions in all; one more is answered with -32015. */
export const SUBSCRIPTIONS_MAX = 10_000

/** How far behind the head a subscription may begin or be, in blocks. What lies before it is told as a gap. */
export const REFILL_BLOCKS_MAX = 100

/** After how many blocks without news a subscription is told that there was nothing. */
export const PROGRESS_BLOCKS = 16

/** How long the gateway waits until it reads a block for a subscription again that the node did not give it, in ms. */
export const REFILL_PAUSE_MS = 500

/** How long the first block feed may take to begin before a transaction is refused with -32011, in ms. */
export const FEED_START_MS_MAX = 10_000

/** How often a transaction that the node had already is looked up while it is waited for, in ms. */
export const LOOK_UP_MS = 500

/** Blocks whose gas price is remembered. */
export const GAS_PRICES_KEPT = 1_024

/** Rows of one page of a history, at most. */
export const PAGE_ROWS_MAX = 100

/** Rows of one page of a history when the caller names no number. */
export const PAGE_ROWS = 20

/** Histories that the node's index is asked for at a time, each by another address. */
export const HISTORIES_ASKED_MAX = 4

/** The most histories of one address that wait for its turn; one more is answered with -32015. */
export const HISTORIES_OF_ADDRESS_MAX = 32

/** The most histories in all that wait for their turn; one more is answered with -32015. */
export const HISTORIES_WAITING_MAX = 2_000

/** How long a history waits for its turn, in ms. */
export const HISTORY_WAIT_MS_MAX = 10_000

/** How often the index is asked for a transaction that it does not have while it is behind the blocks. */
export const INDEX_TRIES = 20

/** The pause before it is asked again, in ms. */
export const INDEX_PAUSE_MS = 25

/** Whole blocks that the node is asked for at a time, for callers. */
export const BLOCKS_ASKED_MAX = 2

/** The most blocks that are asked for or wait for their turn; one more is answered with -32015. */
export const BLOCKS_MAX = 64

/** The most bytes of one body of POST /light. A call of svc.verified has about 90. */
export const LIGHT_BODY_BYTES_MAX = 1_024

/** Calls that the light client is asked at a time. It verifies one header after another, so more would only wait there. */
export const LIGHT_ASKED_MAX = 1

/**
 * The most calls to the light client that are under way or wait for their turn; one more is answered with -32015. A page
 * that verifies a table of 20 rows makes 40 calls at once.
 */
export const LIGHT_CALLS_MAX = 64

/** How long a call to the light client may take, in ms. It ends its search for a header when the caller goes away. */
export const LIGHT_MS_MAX = 10_000

/** The most bytes of an answer of the light client: a commit with the signatures of 400 keys has about 110,000. */
export const LIGHT_ANSWER_BYTES_MAX = 1024 * 1024

/** How many blocks behind the head a header may be that the light client is asked for. The client wants the newest. */
export const LIGHT_BLOCKS_MAX = 100

/** Age of the head from which the chain counts as stalled unless configured, in ms, however fast its blocks came. */
export const STALLED_MS_MIN = 10_000

/** The same for a slower chain, in block intervals: the middle one of the last five. */
export const STALLED_INTERVALS = 5

/** Longest block interval that counts, in ms: the block after genesis may be years later. */
export const STALLED_INTERVAL_MS_MAX = 600_000

/**
 * How many calls of one address begin before the others get their turn: some ms of verifying signatures. A longer batch
 * begins in several turns. The longest body counts as more.
 */
export const TURN_CALLS = 50

/** What callers may take of a gateway, unless configured. */
export const HTTP_LIMITS = {
  connections: CONNECTIONS_MAX,
  connectionsOfAddress: CONNECTIONS_OF_ADDRESS_MAX,
  unreadMs: UNREAD_MS_MAX,
  unreadBytes: UNREAD_BYTES_MAX,
  requestMs: REQUEST_MS_MAX,
  pingMs: SOCKET_PING_MS,
  subscriptionsOfAddress: SUBSCRIPTIONS_OF_ADDRESS_MAX,
  /** 0 is no limit. */
  callsPerSecond: CALLS_PER_SECOND,
  /** Addresses of reverse proxies, alone or as networks (10.0.0.0/8), whose X-Forwarded-For says who the caller is. */
  trustProxies: [] as readonly string[],
}

/** The most blocks that one call of svc_mine makes. A devnet makes up to 170 in a second on two idle cores. */
export const MINE_BLOCKS_MAX = 5_000

/** How long one call of svc_mine may take. */
export const MINE_MS_MAX = 120_000
