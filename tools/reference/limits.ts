import { CONNECTIONS_MAX, FRAME_BYTES_MAX } from '../../src/abci/index.ts'
import { FREE_TXS_MAX, PASSES_MAX, TX_CACHE_BYTES_MAX } from '../../src/app/mempool.ts'
import { BLOCK_BYTES_MAX } from '../../src/app/genesis.ts'
import { QUERY_PATH_MAX } from '../../src/app/query.ts'
import { DEVNET_ACCOUNTS_MAX, DEVNET_VALIDATORS_MAX } from '../../src/cli/devnet/chain.ts'
import { ANSWER_BYTES_MAX, CALL_MS_MAX } from '../../src/cli/gatewayClient.ts'
import { DEVNET_SNAPSHOTS_MAX } from '../../src/cli/devnet/snapshots.ts'
import { QUERY_LIMITS } from '../../src/node/queries/queue.ts'
import { SLOT_BYTES, SLOTS } from '../../src/node/signatures/ring.ts'
import { LOG_FILE_BYTES_MAX, LOG_FILES_MAX } from '../../src/base/logFile.ts'
import { PORTS } from '../../src/base/ports.ts'
import { AMOUNT_MAX, TOKEN } from '../../src/base/amount.ts'
import { FILE_BYTES_MAX, REDIRECTS_MAX } from '../../src/eni/download.ts'
import { LIMITS } from '../../src/eni/thread.ts'
import * as gateway from '../../src/gateway/http/limits.ts'
import { GENESIS_SUPPLY_MAX } from '../../src/modules/genesis.ts'
import { NONCES_OF_TX_MAX, REBROADCAST_MS } from '../../src/tx/nonceQueue.ts'
import {
  OPEN_PROPOSALS_BY_POWER,
  OPEN_PROPOSALS_MAX,
  OPEN_PROPOSALS_OF_ONE_MAX,
} from '../../src/modules/governance/keeper.ts'
import { OS_NAMES, URLS_MAX } from '../../src/values/library.ts'
import { POINT_BLOCKS_MAX, POINT_SECONDS_MAX } from '../../src/values/point.ts'
import { PARAMETERS } from '../../src/modules/params/definitions.ts'
import { UNDO_BYTES_MAX } from '../../src/store/undo.ts'
import { TX_BYTES_MAX } from '../../src/tx/envelope.ts'
import { mebibytes, seconds, table, thousands } from './markdown.ts'

/** The system parameters: what they mean, their ranges, their values at genesis and their units. */
export function paramsTable(): string {
  const rows = [...PARAMETERS].map(([name, { type, proposedType = type, fallback, unit, doc }]) => [
    `\`${name}\``,
    doc,
    proposedType.exactForm.replace(/\d{4,}/g, (digits) => thousands(BigInt(digits))),
    fallback,
    unit,
  ])
  return table(['Parameter', 'Meaning', 'Range', 'Default', 'Unit'], rows)
}

type Row = readonly [what: string, limit: string]

const chainRows: readonly Row[] = [
  ['A transaction', `${thousands(TX_BYTES_MAX)} bytes`],
  ['OS names in `fileUrl` and `md5`', `${OS_NAMES.join(', ')}; 1 to ${URLS_MAX} URLs for each`],
  [
    'An amount',
    `0 to 10^${AMOUNT_MAX.toString().length - 1} base units; one token is 10^${TOKEN.toString().length - 1}`,
  ],
  ['Supply at genesis', `${thousands(GENESIS_SUPPLY_MAX / TOKEN)} tokens`],
  [
    'The point at which a proposal expires or takes effect',
    `${thousands(POINT_BLOCKS_MAX)} blocks or ${thousands(POINT_SECONDS_MAX)} s ahead`,
  ],
  [
    'Open proposals',
    `1 to ${OPEN_PROPOSALS_OF_ONE_MAX} from one candidacy, one for each ${thousands(OPEN_PROPOSALS_BY_POWER)}th of the power; ` +
      `${thousands(OPEN_PROPOSALS_MAX)} in all`,
  ],
  ['Waiting transactions that cost no gas', `${FREE_TXS_MAX} from one sender`],
  ['Blocks that pass a waiting transaction by', `${PASSES_MAX}, then the mempool forgets it`],
  ['`block.max_bytes` of genesis', mebibytes(BLOCK_BYTES_MAX)],
  ['A genesis file', mebibytes(BLOCK_BYTES_MAX)],
]

const nodeRows: readonly Row[] = [
  [
    'A log in a file, and that of a CometBFT which a devnet runs',
    `${LOG_FILES_MAX} files of ${mebibytes(LOG_FILE_BYTES_MAX)}`,
  ],
  ['The path of an `abci_query`', `${thousands(QUERY_PATH_MAX)} characters`],
  ['An ABCI frame', mebibytes(FRAME_BYTES_MAX)],
  ['ABCI connections', String(CONNECTIONS_MAX)],
  ['Verified transactions that are remembered', mebibytes(TX_CACHE_BYTES_MAX)],
  [
    'Transactions that wait for a thread of `--verify-threads`',
    `${thousands(SLOTS)} of ${SLOT_BYTES} bytes, ${mebibytes(SLOTS * SLOT_BYTES)} in all; the application verifies the others itself`,
  ],
  [
    'Queries that wait',
    `${thousands(QUERY_LIMITS.waitingMax)} for ${seconds(QUERY_LIMITS.waitMsMax)} each, and ` +
      `${QUERY_LIMITS.listsWaitingMax} whole lists for ${seconds(QUERY_LIMITS.listWaitMsMax)} each; then code 30`,
  ],
  ['Reading for one answer', `${seconds(QUERY_LIMITS.answerMsMax)}, then code 31`],
  ['Whole lists', `${mebibytes(QUERY_LIMITS.listBytesPerSecond)} a second together, then code 30`],
  [
    'A library that is fetched',
    `${mebibytes(FILE_BYTES_MAX)}, ${seconds(LIMITS.tryMs)} a try, ${REDIRECTS_MAX} redirects`,
  ],
  ['Fetched libraries that wait for their block', mebibytes(LIMITS.stagingBytesMax)],
  [
    'What is kept to roll a block back',
    `${mebibytes(UNDO_BYTES_MAX)}; a block that changes more cannot be rolled back`,
  ],
]

const gatewayRows: readonly Row[] = [
  ['An HTTP body', mebibytes(gateway.BODY_BYTES_MAX)],
  [
    'Members and elements in it',
    `${thousands(gateway.TEXT_MARKS_MAX)} of the characters \`,\`, \`[\` and \`{\` together, then -32600`,
  ],
  ['Chunks of an HTTP body', `${thousands(gateway.BODY_CHUNKS_MAX)}, then its connection is cut off`],
  ['Calls in a batch', String(gateway.BATCH_CALLS_MAX)],
  [
    'The answers to a batch',
    `${mebibytes(gateway.BATCH_ANSWER_LENGTH_MAX)} of UTF-16 text, then answers over ` +
      `${gateway.SHORT_ANSWER_LENGTH / 1024} KiB are replaced by -32600`,
  ],
  ['Nesting of `params`', `${gateway.PARAMS_DEPTH_MAX} levels`],
  [
    'Refusals for a low balance that `svc_getShortfall` knows',
    `at least the last ${thousands(gateway.SHORTFALLS_KEPT)}`,
  ],
  [
    `A request, and a message on a websocket from its first ${gateway.PIECE_BYTES / 1024} KiB on`,
    `${seconds(gateway.HTTP_LIMITS.requestMs)} to arrive`,
  ],
  [
    'Requests and messages that have arrived in part',
    `${mebibytes(gateway.HTTP_LIMITS.partBytes)} in all; beyond it the connection with the longest one is closed`,
  ],
  [
    'An answer that the caller does not read',
    `${seconds(gateway.HTTP_LIMITS.unreadMs)} without progress; ${mebibytes(gateway.HTTP_LIMITS.unreadBytes)} of such answers in all`,
  ],
  [
    'Calls from one address',
    `${gateway.HTTP_LIMITS.callsPerSecond} a second, counted over ${seconds(gateway.RATE_WINDOW_MS)}, of which at most one in ` +
      `${gateway.LIST_COST} may ask for lists or blocks; a body or message counts as a call for every ` +
      `${thousands(gateway.CALL_BYTES)} bytes, if those are more`,
  ],
  [
    'Connections',
    `${gateway.HTTP_LIMITS.connectionsOfAddress} from one address, ${thousands(gateway.HTTP_LIMITS.connections)} in all`,
  ],
  ['Transactions that wait for their blocks', `${thousands(gateway.WAITING_MAX)}; then -32013`],
  ['Waiting for a block', `${seconds(gateway.WAIT_MS)}, then -32012 with the hash`],
  ['A transaction that waits is given to the node again', `every ${seconds(REBROADCAST_MS)}`],
  ['Nonces with which a client signs one transaction', `${NONCES_OF_TX_MAX}; then code 6`],
  [
    'Calls of one address, but for those that wait for a block and for lists, histories and blocks',
    `${gateway.CALLS_OF_ADDRESS_MAX} at a time; the others wait up to ${seconds(gateway.TURN_WAIT_MS_MAX)}; then -32015`,
  ],
  [
    'Proposals with their votes, and rows of delegators',
    `${gateway.ROWS_OF_ADDRESS_MAX} of one address at a time; the others wait up to ${seconds(gateway.TURN_WAIT_MS_MAX)}; then -32015`,
  ],
  [
    'Queries to the node',
    `${gateway.QUERIES_ASKED_MAX} at a time, ${thousands(gateway.QUERIES_MAX)} with those that wait; then -32015`,
  ],
  [
    'Whole lists from the node',
    `${gateway.LISTS_ASKED_MAX} at a time; ${gateway.LISTS_WAITING_MAX} more, ` +
      `${gateway.LISTS_WAITING_OF_ADDRESS_MAX} of one address, wait up to ` +
      `${seconds(gateway.TURN_WAIT_MS_MAX)}; then -32015`,
  ],
  ['A message on a websocket', `${mebibytes(gateway.SOCKET_MESSAGE_BYTES_MAX)}, then it is closed with 1009`],
  [
    'The frames of a message on a websocket, and the packets of a frame',
    `${thousands(gateway.SOCKET_PIECES_MAX)} each, then it is closed with 1008`,
  ],
  [
    'Requests of one connection without an answer',
    `${gateway.REQUESTS_OF_CONNECTION_MAX}; with one more it is cut off`,
  ],
  ['Messages of one websocket that are worked on at a time', `${gateway.SOCKET_MESSAGES_MAX}; it is not read further`],
  [
    'What waits for the reader of a websocket',
    `${mebibytes(gateway.SOCKET_QUEUE_BYTES_MAX)}; then it is closed with 1013`,
  ],
  ['A websocket that does not answer a ping', `${seconds(gateway.HTTP_LIMITS.pingMs)}, then it is closed`],
  [
    'Subscriptions',
    `${gateway.HTTP_LIMITS.subscriptionsOfAddress} of one address, ` +
      `${thousands(gateway.SUBSCRIPTIONS_MAX)} in all; then -32015`,
  ],
  ['How far back a subscription may begin', `${gateway.REFILL_BLOCKS_MAX} blocks; what lies before is told as a gap`],
  ['Whole lists that are kept until the next block', mebibytes(gateway.LISTS_KEPT_BYTES_MAX)],
  ['A page of a history, and the transactions of one `svc_getBlock`', `${gateway.PAGE_ROWS_MAX} rows`],
  [
    'Histories',
    `1 of an address at a time, of ${gateway.HISTORIES_ASKED_MAX} addresses; the others wait up to ` +
      `${seconds(gateway.TURN_WAIT_MS_MAX)}; then -32015`,
  ],
  [
    'Whole blocks from the node',
    `1 of an address at a time; the others wait up to ${seconds(gateway.TURN_WAIT_MS_MAX)}. Of all addresses ` +
      `${gateway.BLOCKS_ASKED_MAX} at a time, ${gateway.BLOCKS_MAX} with those that wait; then -32015`,
  ],
  [
    'Calls to the light client (`POST /light`)',
    `${gateway.LIGHT_ASKED_MAX} at a time, ${gateway.LIGHT_CALLS_MAX} with those that wait; then -32015; ` +
      `${seconds(gateway.LIGHT_MS_MAX)} each, then -32011`,
  ],
  [
    'A call to the light client, and its answer',
    `${thousands(gateway.LIGHT_BODY_BYTES_MAX)} bytes, and ${mebibytes(gateway.LIGHT_ANSWER_BYTES_MAX)}`,
  ],
  ['Headers that the light client is asked for', `those of the last ${gateway.LIGHT_BLOCKS_MAX} blocks`],
  ['What `svcd` reads of an answer of a gateway', `${mebibytes(ANSWER_BYTES_MAX)}, within ${seconds(CALL_MS_MAX)}`],
]

const devnetRows: readonly Row[] = [
  ['Accounts', thousands(DEVNET_ACCOUNTS_MAX)],
  ['Validators', String(DEVNET_VALIDATORS_MAX)],
  ['Snapshots', String(DEVNET_SNAPSHOTS_MAX)],
  ['Blocks of one `svc_mine`', `${thousands(gateway.MINE_BLOCKS_MAX)}, within ${seconds(gateway.MINE_MS_MAX)}`],
  [
    'Payments of `svc_faucet`',
    `${gateway.FAUCET_PAYMENTS_MAX} to one account and ${gateway.FAUCET_CALLS_MAX} to callers of one address in ` +
      `${seconds(gateway.FAUCET_WINDOW_MS)}, of ${gateway.FAUCET_TOKENS} tokens each; then -32015`,
  ],
]

/** The default ports, in ascending order. */
export function portsTable(): string {
  const listeners: Readonly<Record<keyof typeof PORTS, string>> = {
    gateway: 'the gateway: JSON-RPC and the web page, `/healthz`, `/readyz`, `/openrpc.json`',
    p2p: 'CometBFT, for its peers',
    rpc: "CometBFT's RPC",
    metrics: "CometBFT's metrics, when `prometheus = true`",
  }
  const names = Object.keys(PORTS) as (keyof typeof PORTS)[]
  return table(
    ['Port', 'Who listens'],
    names.sort((a, b) => PORTS[a] - PORTS[b]).map((name) => [String(PORTS[name]), listeners[name]]),
  )
}

const HEAD = ['What', 'At most']

/** Limits that every node of a chain shares. */
export const chainLimitsTable = (): string => table(HEAD, chainRows)

/** Limits of one node. */
export const nodeLimitsTable = (): string => table(HEAD, nodeRows)

/** Limits of one gateway. */
export const gatewayLimitsTable = (): string => table(HEAD, gatewayRows)

/** Limits of a devnet. */
export const devnetLimitsTable = (): string => table(HEAD, devnetRows)
