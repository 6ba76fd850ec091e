/**
 * Every limit of the gateway: what a caller may send, how much of it at once, and how long anything may take. `Attack:`
 * names the attacks of `make stress` (test/stress/attacks.ts) that a limit is there for.
 */

/** What callers may take of a gateway, unless configured. An IPv6 address counts by its /64. */
export const HTTP_LIMITS = {
  /** Connections in all; one more is closed at once. Attack: slow-writers. */
  connections: 1_000,
  /** Connections from one address; one more is closed at once. Attack: slow-readers. */
  connectionsOfAddress: 100,
  /**
   * How long a connection may take none of the answer that waits for it, in ms; then it is closed. Attack: slow-readers.
   */
  unreadMs: 10_000,
  /**
   * Bytes of answers and of messages on websockets that wait to be read, a shared one counted once. Beyond it the oldest
   * one's connection is closed. Attack: slow-readers, socket-slow-readers.
   */
  unreadBytes: 64 * 1024 * 1024,
  /** Bytes of unfinished requests and messages in all. Beyond it the connection with the longest one is closed. */
  partBytes: 64 * 1024 * 1024,
  /**
   * How long a whole HTTP request may take to arrive, its headers and its body, in ms; and a message on a websocket, from
   * its first 64 KiB on. Attack: slow-writers.
   */
  requestMs: 10_000,
  /** How long the answers that are on their way may take once the gateway closes, in ms; then their connections are closed. */
  closeMs: 30_000,
  /** How often a websocket is pinged, in ms. One that has not answered by the next ping is closed. */
  pingMs: 30_000,
  /** Subscriptions of one address; one more is answered with -32015. Attack: subscribers. */
  subscriptionsOfAddress: 500,
  /** Calls a second from one address, 0 for no limit; whole lists have a share of their own. Attack: lists, garbage. */
  callsPerSecond: 500,
  /** Addresses of reverse proxies, alone or as networks (10.0.0.0/8), whose X-Forwarded-For says who the caller is. */
  trustProxies: [] as readonly string[],
}

// What a caller may send.

/**
 * Calls in one batch. ethers sends up to 100 and adds `eth_chainId`; viem sends all that a page asks at a time. Attack:
 * garbage.
 */
export const BATCH_CALLS_MAX = 200
/** Bytes of one HTTP body. Attack: garbage, keys. */
export const BODY_BYTES_MAX = 1024 * 1024
/** Chunks of one HTTP body of no stated length; with more its connection is cut off. */
export const BODY_CHUNKS_MAX = 2_048
/**
 * The characters `,`, `[` and `{` in one body or message, strings included: members and elements are no more. To parse a
 * body of keys alone takes up to 5 ms with them, and 90 ms without this limit. Attack: keys.
 */
export const TEXT_MARKS_MAX = 8_192
/** Deepest nesting of params. What the interface takes needs three. Attack: keys. */
export const PARAMS_DEPTH_MAX = 16
/** Bytes of UTF-16 text of the answers to one batch; a longer answer beyond it is replaced by an error. Attack: lists. */
export const BATCH_ANSWER_LENGTH_MAX = 16 * 1024 * 1024
/**
 * An answer up to this length is given however long the others of its batch are. That of a transaction is shorter, and an
 * error in its place would say that nothing was sent.
 */
export const SHORT_ANSWER_LENGTH = 16 * 1024
/** Bytes of one message on a websocket; a longer one closes it with 1009. */
export const SOCKET_MESSAGE_BYTES_MAX = 1024 * 1024
/**
 * Frames of one message on a websocket, and packets of one frame; with more it is closed with 1008. Each costs up to 800
 * bytes of memory, however short it is. The longest message has fewer on a path with the smallest packets that IPv4
 * promises. `make fuzz` sends more.
 */
export const SOCKET_PIECES_MAX = 2_048
/** Bytes of one body of POST /light. A call of svc.verified has about 90. */
export const LIGHT_BODY_BYTES_MAX = 1_024
/** Rows of one page of a history. Attack: histories, awards. */
export const PAGE_ROWS_MAX = 100
/** Rows of one page of a history when the caller names no number. */
export const PAGE_ROWS = 20

// How often a caller may call.

/** Over how long calls are counted, in ms. */
export const RATE_WINDOW_MS = 10_000
/**
 * A body or message counts as a call for each so many bytes. To parse as many takes at worst as long as to verify a
 * signature (0.1 ms); a batch of transfers has about half as many for each. Attack: keys.
 */
export const CALL_BYTES = 1024
/** Addresses whose calls are counted: at least the last ones. */
export const ADDRESSES_KEPT = 5_000
/**
 * An address may ask for `callsPerSecond` / LIST_COST lists a second, and in its turn a list counts as so many calls.
 * Attack: lists.
 */
export const LIST_COST = 20
/**
 * How many calls of one address begin before the others get their turn: some ms of verifying signatures, of which each
 * counts. A longer batch begins in several turns. The longest body counts as more. Attack: unsigned, several.
 */
export const TURN_CALLS = 50

/** Errors of calls that are logged in ERROR_LINES_MS; of further ones the log has only their number. */
export const ERROR_LINES_MAX = 100
/** Over how long they are counted, in ms. */
export const ERROR_LINES_MS = 10_000

// Connections and websockets.

/** How long a caller may keep a connection without a request, as the gateway tells it, in ms. */
export const KEEP_ALIVE_MS = 30_000
/** How much longer the gateway keeps it, so that a busy caller's next request does not meet its end. */
export const KEEP_ALIVE_GRACE_MS = 10_000
/** What an answer costs beside its text, in bytes. */
export const ANSWER_OVERHEAD_BYTES = 1024
/**
 * Bytes that are handed to a connection at a time, and to all in one turn of the event loop. Longer answers go in pieces of
 * it. Attack: slow-readers, socket-slow-readers, socket-subscriptions.
 */
export const PIECE_BYTES = 64 * 1024
/** Requests of one connection that are not answered yet; with one more it is cut off. */
export const REQUESTS_OF_CONNECTION_MAX = 64
/** Messages of one websocket that are worked on at a time; it is not read further until one is answered. */
export const SOCKET_MESSAGES_MAX = 64
/** Bytes that wait for the reader of one websocket; beyond them it is closed with 1013. Attack: socket-slow-readers. */
export const SOCKET_QUEUE_BYTES_MAX = 8 * 1024 * 1024
/** How long a websocket that was closed may take to say so too, in ms. */
export const SOCKET_CLOSE_MS = 2_000

// Transactions.

/** Transactions that wait at this gateway for their blocks; a call beyond it is answered with -32013. */
export const WAITING_MAX = 10_000
/** Accounts of which the gateway remembers what nonce the node expected last. */
export const NONCES_KEPT = 10_000
/** Refused transactions of which the gateway can still say what a balance lacked: at least the last ones. */
export const SHORTFALLS_KEPT = 1_000
/** How long a transaction is waited for unless configured, in ms. Source: protocol.md §10, -32012. */
export const WAIT_MS = 30_000
/** How long the first block feed may take to begin before a transaction is refused with -32011, in ms. */
export const FEED_START_MS_MAX = 10_000

// What the node is asked.

/**
 * How long a list, a history, a whole block or another call of an address waits for its turn, in ms. `make outage` asks for
 * several histories while the node says nothing. Attack: lists.
 */
export const TURN_WAIT_MS_MAX = 10_000
/**
 * Calls of one address that are under way, but for those that wait for a block or have another turn; one more waits for
 * its own, and delays only that address. Attack: queries.
 */
export const CALLS_OF_ADDRESS_MAX = 64
/**
 * Proposals with their votes, and rows of delegators, that the node is asked for at a time for one address: a quarter of the
 * lists that may wait there.
 */
export const ROWS_OF_ADDRESS_MAX = 4
/** Queries of callers that the node is asked at a time. Attack: batch, proofs. */
export const QUERIES_ASKED_MAX = 32
/** Queries of callers that are under way or wait for their turn; one more is answered with -32015. Attack: proofs. */
export const QUERIES_MAX = 2_000
/** Whole lists that the node is asked for at a time, each with a connection of its own. Attack: lists, proposals. */
export const LISTS_ASKED_MAX = 2
/** Other lists that wait for their turn; one more is answered with -32015. Attack: lists. */
export const LISTS_WAITING_MAX = 32
/** Of these, the lists that one address may have waiting; one more is answered with -32015. Attack: lists. */
export const LISTS_WAITING_OF_ADDRESS_MAX = 8
/** Bytes of lists that are kept for the callers of one head. Attack: lists. */
export const LISTS_KEPT_BYTES_MAX = 32 * 1024 * 1024
/**
 * How long one answer of /readyz serves all callers, in ms. The node is not asked more often, however often they call.
 */
export const READY_MS = 250
/** Blocks whose gas price is remembered. */
export const GAS_PRICES_KEPT = 1_024
/** Histories that the node's index is asked for at a time, each by another address. Attack: histories, awards. */
export const HISTORIES_ASKED_MAX = 4
/** How often the index is asked for a transaction that it does not have while it is behind the blocks. */
export const INDEX_TRIES = 20
/** The pause before it is asked again, in ms. */
export const INDEX_PAUSE_MS = 25
/** Whole blocks that the node is asked for at a time, for callers. */
export const BLOCKS_ASKED_MAX = 2
/** Blocks that are asked for or wait for their turn; one more is answered with -32015. */
export const BLOCKS_MAX = 64

// Subscriptions.

/** Subscriptions in all; one more is answered with -32015. Attack: subscribers. */
export const SUBSCRIPTIONS_MAX = 10_000
/** How far behind the head a subscription may begin or be, in blocks. What lies before it is told as a gap. */
export const REFILL_BLOCKS_MAX = 100
/** After how many blocks without news a subscription is told that there was nothing. */
export const PROGRESS_BLOCKS = 16
/** How long the gateway waits until it reads a block for a subscription again that the node did not give it, in ms. */
export const REFILL_PAUSE_MS = 500

// The light client, for `POST /light`.

/**
 * Calls that the light client is asked at a time. It verifies one header after another, so more would only wait there.
 */
export const LIGHT_ASKED_MAX = 1
/**
 * Calls to the light client that are under way or wait for their turn; one more is answered with -32015. An
 * address has one of them, and waits with the others for its own turn.
 */
export const LIGHT_CALLS_MAX = 64
/** How long a call to the light client may take, in ms. It ends its search for a header when the caller goes away. */
export const LIGHT_MS_MAX = 10_000
/** Bytes of an answer of the light client: a commit with the signatures of 400 keys has about 110,000. */
export const LIGHT_ANSWER_BYTES_MAX = 1024 * 1024
/** How many blocks behind the head a header may be that the light client is asked for. The client wants the newest. */
export const LIGHT_BLOCKS_MAX = 100

// When the chain counts as stalled.

/** Age of the head from which the chain counts as stalled unless configured, in ms, however fast its blocks came. */
export const STALLED_MS_MIN = 10_000
/** The same for a slower chain, in block intervals: the middle one of the last five. */
export const STALLED_INTERVALS = 5
/** Longest block interval that counts, in ms: the block after genesis may be years later. */
export const STALLED_INTERVAL_MS_MAX = 600_000

// A devnet.

/** STALLED_MS_MIN of a devnet, in ms: its machine has other work too, and all of its parts end when one does. */
export const DEVNET_STALLED_MS_MIN = 60_000
/** Blocks that one call of svc_mine makes. A devnet makes up to 170 in a second on two idle cores. */
export const MINE_BLOCKS_MAX = 5_000
/** How long one call of svc_mine may take. */
export const MINE_MS_MAX = 120_000
/** Tokens that one call of svc_faucet sends. */
export const FAUCET_TOKENS = 10
/** Over how long calls of svc_faucet are counted, in ms. */
export const FAUCET_WINDOW_MS = 600_000
/** Payments of svc_faucet to one account in that time; one more is answered with -32015. */
export const FAUCET_PAYMENTS_MAX = 10
/**
 * Calls of svc_faucet from one address in that time; one more is answered with -32015. They take 600 of the 100,000 tokens
 * that an account of a devnet has, so one address empties it in 28 hours.
 */
export const FAUCET_CALLS_MAX = 60
