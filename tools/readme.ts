/**
 * Writes the generated tables of README.md, between `<!-- name -->` and `<!-- /name -->`; with `--check` it writes
 * nothing and exits 1 when they have drifted from the registry and the constants.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { CONNECTIONS_MAX, FRAME_BYTES_MAX } from '../src/abci/index.ts'
import { FREE_TXS_MAX } from '../src/app/checkTx.ts'
import { BLOCK_BYTES_MAX } from '../src/app/genesisLimits.ts'
import { QUERY_PATH_MAX } from '../src/app/queryRequest.ts'
import { GENESIS_BYTES_MAX } from '../src/cli/genesisFile.ts'
import { AMOUNT_MAX, TOKEN } from '../src/base/amount.ts'
import { FILE_BYTES_MAX, REDIRECTS_MAX } from '../src/eni/download.ts'
import { LIMITS } from '../src/eni/fetcher.ts'
import * as gateway from '../src/gateway/limits.ts'
import { methods } from '../src/gateway/methods/list.ts'
import { GENESIS_SUPPLY_MAX } from '../src/modules/genesis.ts'
import { OPEN_PROPOSALS_MAX, OPEN_PROPOSALS_OF_ONE_MAX } from '../src/modules/governance/keeper.ts'
import { OS_NAMES, URLS_MAX } from '../src/modules/governance/library.ts'
import { type ParameterKind, PARAMETERS } from '../src/modules/params/definitions.ts'
import { txEntries } from '../src/modules/registry.ts'
import type { Members } from '../src/tx/members.ts'
import { TX_BYTES_MAX } from '../src/tx/envelope.ts'

const path = new URL('../README.md', import.meta.url)

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')

const membersOf = (input: Members): string =>
  Object.entries(input)
    .map(([name, { optional }]) => (optional ? `${name}?` : name))
    .join(', ') || '–'

const thousands = (value: number | bigint): string => value.toString().replace(/\B(?=(\d{3})+$)/g, ',')
const mebibytes = (value: number): string => `${value / 1024 / 1024} MiB`
const seconds = (ms: number): string => `${ms / 1000} s`

function methodsTable(): string {
  const calls = new Map(txEntries.map(({ method, call }) => [method, `\`web3.svc.${call}\``]))
  return table(
    ['Method', 'Members', 'What it does'],
    methods.map(({ name, input, doc }) => [
      `\`${name}\``,
      membersOf(input),
      calls.has(name) ? `${doc} ${calls.get(name)}` : doc,
    ]),
  )
}

function paramsTable(): string {
  const range = (type: ParameterKind): string => {
    if (type.kind === 'integer') return `${thousands(type.min)} to ${thousands(type.max)}`
    return type.kind === 'ratio' ? 'above 0, at most 1' : 'an address'
  }
  const rows = [...PARAMETERS].map(([name, { type, fallback }]) => [`\`${name}\``, range(type), fallback])
  return table(['Parameter', 'Range', 'Default'], rows)
}

function limitsTable(): string {
  const rows: readonly (readonly [string, string])[] = [
    ['A transaction', `${thousands(TX_BYTES_MAX)} bytes`],
    ['Name, location', '128 bytes of UTF-8 each'],
    ['Website, email', '256 bytes each'],
    ['Profile, reason', '2,048 bytes each'],
    ['Library name', '64 characters of `[a-z0-9_-]`'],
    ['fileUrl, md5', `4,096 bytes each; OS names ${OS_NAMES.join(', ')}; 1 to ${URLS_MAX} URLs an OS`],
    [
      'A library that is fetched',
      `${mebibytes(FILE_BYTES_MAX)}, ${seconds(LIMITS.tryMs)} a try, ${REDIRECTS_MAX} redirects; ` +
        `${mebibytes(LIMITS.stagingBytesMax)} wait in all`,
    ],
    ['preservedValidators', '9,216 bytes'],
    [
      'An amount',
      `0 to 10^${AMOUNT_MAX.toString().length - 1} base units; 1 token is 10^${TOKEN.toString().length - 1}`,
    ],
    ['Supply at genesis', `${thousands(GENESIS_SUPPLY_MAX / TOKEN)} tokens`],
    ["A proposal's point", '1,000,000 blocks or 10,000,000 s ahead'],
    ['Open proposals', `${OPEN_PROPOSALS_OF_ONE_MAX} of one candidacy, ${thousands(OPEN_PROPOSALS_MAX)} in all`],
    ['Waiting transactions of gas 0', `${FREE_TXS_MAX} of one sender`],
    ['Calls in a batch', String(gateway.BATCH_CALLS_MAX)],
    ['HTTP body', mebibytes(gateway.BODY_BYTES_MAX)],
    ['Answers of a batch', mebibytes(gateway.BATCH_ANSWER_LENGTH_MAX)],
    ['Depth of params', String(gateway.PARAMS_DEPTH_MAX)],
    [
      'Transactions that a gateway waits for',
      `${thousands(gateway.WAITING_MAX)}; ` +
        `${thousands(gateway.WAITING_SIGNED_HERE_MAX)} that it signs, ${thousands(gateway.WAITING_OF_SENDER_MAX)} of one sender`,
    ],
    [
      'Calls from one address',
      `${gateway.CALLS_PER_SECOND} a second and ${gateway.CALLS_PER_SECOND / gateway.LIST_COST} whole lists, ` +
        `counted over ${seconds(gateway.RATE_WINDOW_MS)}; then HTTP 429 and error -32015`,
    ],
    [
      'Connections to a gateway',
      `${gateway.CONNECTIONS_OF_ADDRESS_MAX} from one address, ${thousands(gateway.CONNECTIONS_MAX)} in all`,
    ],
    ['A request', `${seconds(gateway.REQUEST_MS_MAX)} to arrive`],
    [
      'An unread answer',
      `${seconds(gateway.UNREAD_MS_MAX)} without a byte taken; ${mebibytes(gateway.UNREAD_BYTES_MAX)} wait in all`,
    ],
    [
      'Whole lists',
      `${gateway.LISTS_ASKED_MAX} asked for at a time, ` +
        `${gateway.LISTS_WAITING_MAX} wait ${seconds(gateway.LIST_WAIT_MS_MAX)}; ` +
        `${mebibytes(gateway.LISTS_KEPT_BYTES_MAX)} kept until the next block`,
    ],
    ['Wait for a block', `${seconds(gateway.WAIT_MS)}, then error -32012 with the hash`],
    ['A block, a genesis file', `${mebibytes(BLOCK_BYTES_MAX)}, ${mebibytes(GENESIS_BYTES_MAX)}`],
    ['The path of an abci_query', `${thousands(QUERY_PATH_MAX)} characters`],
    ['An ABCI frame', mebibytes(FRAME_BYTES_MAX)],
    ['ABCI connections', String(CONNECTIONS_MAX)],
  ]
  return table(['What', 'Limit'], rows)
}

const tables: Readonly<Record<string, () => string>> = {
  methods: methodsTable,
  parameters: paramsTable,
  limits: limitsTable,
}

let text = readFileSync(path, 'utf8')
const before = text
for (const [name, make] of Object.entries(tables)) {
  const found = new RegExp(`<!-- ${name} -->[^]*?<!-- /${name} -->`)
  if (!found.test(text)) throw new Error(`README.md has no place for the table ${name}`)
  text = text.replace(found, () => `<!-- ${name} -->\n${make()}\n<!-- /${name} -->`)
}
if (!process.argv.includes('--check')) writeFileSync(path, text)
else if (text !== before) {
  process.stderr.write('README.md: its tables have drifted; run `npm run readme`\n')
  process.exit(1)
}
