import { expect, test } from '@jest/globals'
import { KVSTORE_GOAL, SDK_GOAL } from '../../bench/goals.ts'
import { readmeSentence } from '../../bench/report.ts'
import { printRatio, TOKEN } from '../../src/base/amount.ts'
import { BLOCK_BYTES_MAX, INITIAL_HEIGHT_MAX } from '../../src/app/genesis.ts'
import { BATCH_MAX } from '../../src/client/transport.ts'
import { ANSWER_BYTES_MAX, QUERY_DATA_BYTES_MAX, QUERY_PATH_MAX } from '../../src/app/query.ts'
import { TX_CACHE_BYTES_MAX } from '../../src/app/mempool.ts'
import { QUERY_LIMITS } from '../../src/node/queries/queue.ts'
import { BATCH_PATHS_MAX } from '../../src/codec/queryBatch.ts'
import { FILE_BYTES_MAX, REDIRECTS_MAX } from '../../src/eni/download.ts'
import { LIMITS } from '../../src/eni/thread.ts'
import { PASSWORD_LENGTH_MIN } from '../../src/keys/password.ts'
import * as gateway from '../../src/gateway/http/limits.ts'
import { methods } from '../../src/gateway/rpc/methods/list.ts'
import {
  OPEN_PROPOSALS_BY_POWER,
  OPEN_PROPOSALS_MAX,
  OPEN_PROPOSALS_OF_ONE_MAX,
} from '../../src/modules/governance/keeper.ts'
import { URLS_MAX } from '../../src/values/library.ts'
import { POINT_BLOCKS_MAX, POINT_SECONDS_MAX } from '../../src/values/point.ts'
import { BATCHES_MAX, CLAIMS_PAID_MAX } from '../../src/modules/delegation/keeper.ts'
import { DELEGATION_GAS } from '../../src/modules/delegation/tx/delegate.ts'
import { MAX_AMOUNT_DEFAULT } from '../../src/modules/genesis.ts'
import { AWARD_EVENT_BLOCKS } from '../../src/modules/shownRules.ts'
import { ACTIVATION_GAS } from '../../src/modules/stake/tx/candidacy.ts'
import { SET_POWER_MIN } from '../../src/modules/stake/validatorSet.ts'
import { PARAMETERS } from '../../src/modules/params/definitions.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { TX_BYTES_MAX } from '../../src/tx/envelope.ts'
import { NONCES_OF_TX_MAX } from '../../src/tx/nonceQueue.ts'
import { mebibytes, seconds, thousands } from '../../tools/reference/markdown.ts'
import { pages } from './pages.ts'

const SELF_STAKING = Number(PARAMETERS.get('self_staking_ratio')?.fallback)
const SELF_STAKED = `${thousands(SELF_STAKING * Number(MAX_AMOUNT_DEFAULT / TOKEN))} tokens by default`

/** What people wrote into a page beside the generated tables, made again from the constants. */
const FIGURES: Readonly<Record<string, readonly string[]>> = {
  'README.md': [`stakes ${100 * SELF_STAKING} % of its \`maxAmount\`: ${SELF_STAKED}`],
  'docs/protocol.md': [
    `${gateway.FAUCET_TOKENS} tokens from the last account`,
    `In ten minutes ${gateway.FAUCET_PAYMENTS_MAX} go to one account and ${gateway.FAUCET_CALLS_MAX} to callers of one address`,
    `size at most ${thousands(TX_BYTES_MAX)} bytes`,
    `at most max(1, min(${OPEN_PROPOSALS_OF_ONE_MAX}, floor(${thousands(OPEN_PROPOSALS_BY_POWER)} × p / P))) open proposals`,
    `The chain has at most ${thousands(OPEN_PROPOSALS_MAX)}.`,
    `| activate, deactivate | ${thousands(ACTIVATION_GAS)},`,
    `While these powers are below ${SET_POWER_MIN}`,
    `more than ${thousands(POINT_BLOCKS_MAX)} ahead`,
    `more than ${thousands(POINT_SECONDS_MAX)} s ahead`,
    `to 1–${URLS_MAX} http(s) URLs`,
    `at most ${mebibytes(FILE_BYTES_MAX)}, ${seconds(LIMITS.tryMs)} a try, ${REDIRECTS_MAX} redirects`,
    `array of 1 to ${BATCH_PATHS_MAX} of these paths`,
    `path of more than ${thousands(QUERY_PATH_MAX)} characters`,
    `not in a block within ${seconds(gateway.WAIT_MS)}`,
    `which must be 1 to ${mebibytes(BLOCK_BYTES_MAX)}`,
    `whose height is a multiple of ${AWARD_EVENT_BLOCKS}`,
    `Both take ${thousands(DELEGATION_GAS)} gas.`,
    `${BATCHES_MAX} or more batches of it wait`,
    `at most ${CLAIMS_PAID_MAX} claims a block in all`,
    `\`limit\` (${gateway.PAGE_ROWS}, at most ${gateway.PAGE_ROWS_MAX})`,
  ],
  'docs/staking.md': [
    `cost a fee of ${thousands(DELEGATION_GAS)} gas each`,
    `${printRatio(BigInt(DELEGATION_GAS) * BigInt(PARAMETERS.get('gas_price')?.fallback ?? ''))} tokens at the default price`,
    `${thousands(Number(PARAMETERS.get('unstake_wait_period')?.fallback))} by default`,
    `${PARAMETERS.get('inflation_rate')?.fallback} % by default`,
    `a block pays ${CLAIMS_PAID_MAX} of them`,
  ],
  'docs/reference/methods.md': [
    `paid in every ${AWARD_EVENT_BLOCKS}th block`,
    `stakes ${100 * SELF_STAKING} % of maxAmount (self_staking_ratio): ${SELF_STAKED}`,
  ],
  'docs/operations.md': [
    `${gateway.HTTP_LIMITS.callsPerSecond} calls a second from one address, counted over ${seconds(gateway.RATE_WINDOW_MS)}`,
    `counts as a call for every ${thousands(gateway.CALL_BYTES)} bytes`,
    `| \`--connections-per-address COUNT\` | ${gateway.HTTP_LIMITS.connectionsOfAddress} `,
    `| \`--connections COUNT\` | ${gateway.HTTP_LIMITS.connections} `,
    `A request has ${seconds(gateway.HTTP_LIMITS.requestMs)} to arrive`,
    `When more than ${mebibytes(gateway.HTTP_LIMITS.unreadBytes)} of answers wait`,
    `A try may take ${seconds(LIMITS.tryMs)}, ${mebibytes(FILE_BYTES_MAX)} and ${REDIRECTS_MAX} redirects`,
    `| its path, its data | ${thousands(QUERY_PATH_MAX)} characters, ${thousands(QUERY_DATA_BYTES_MAX)} bytes |`,
    `${thousands(QUERY_LIMITS.waitingMax)} queries for ${seconds(QUERY_LIMITS.waitMsMax)} each, ` +
      `${QUERY_LIMITS.listsWaitingMax} lists for ${seconds(QUERY_LIMITS.listWaitMsMax)} each`,
    `| reading for one answer | ${seconds(QUERY_LIMITS.answerMsMax)} |`,
    `| the answer | ${mebibytes(ANSWER_BYTES_MAX)} |`,
    `| whole lists | ${mebibytes(QUERY_LIMITS.listBytesPerSecond)} a second together`,
    `silent for ${seconds(QUERY_LIMITS.silentMsMax)}`,
    `| memory for waiting transactions | ${mebibytes(TX_CACHE_BYTES_MAX)} at most`,
    `expected 1 to ${BLOCK_BYTES_MAX}`,
  ],
  'docs/threat-model.md': [
    `${thousands(gateway.WAITING_MAX)} may wait`,
    `transactions of at most ${thousands(TX_BYTES_MAX)} bytes`,
    `at most ${OPEN_PROPOSALS_OF_ONE_MAX} open proposals for each candidacy, fewer for one with little power, ` +
      `${thousands(OPEN_PROPOSALS_MAX)} in all`,
    `bodies of at most ${mebibytes(gateway.BODY_BYTES_MAX)} and ${thousands(gateway.TEXT_MARKS_MAX)} members`,
    `batches of ${gateway.BATCH_CALLS_MAX} calls`,
    `${gateway.PARAMS_DEPTH_MAX} levels of nesting`,
    `no delegation to a candidacy of ${BATCHES_MAX} or more`,
    `${CLAIMS_PAID_MAX} claims paid in a block`,
    `An address has ${gateway.HTTP_LIMITS.subscriptionsOfAddress} and the gateway ${thousands(gateway.SUBSCRIPTIONS_MAX)}, so that`,
    `it takes ${gateway.SUBSCRIPTIONS_MAX / gateway.HTTP_LIMITS.subscriptionsOfAddress} addresses to fill them`,
    `A new password has at least ${PASSWORD_LENGTH_MIN} characters`,
    `${NONCES_OF_TX_MAX} nonces for one transaction that a client signs`,
    `with at most ${NONCES_OF_TX_MAX} nonces`,
    `blocks of at most ${mebibytes(BLOCK_BYTES_MAX)}`,
  ],
  'docs/devnet.md': [
    `sends ${gateway.FAUCET_TOKENS} tokens to any account`,
    `one account gets at most ${gateway.FAUCET_PAYMENTS_MAX} payments, and callers of one address get ${gateway.FAUCET_CALLS_MAX};`,
  ],
  'docs/client.md': [
    `stakes ${100 * SELF_STAKING} % of maxAmount (self_staking_ratio): ${SELF_STAKED}`,
    `tells of it in every ${AWARD_EVENT_BLOCKS}th`,
    `up to ${BATCH_MAX} of them in one request`,
    `with at most ${NONCES_OF_TX_MAX} nonces`,
    `which the gateway takes (it takes ${gateway.BATCH_CALLS_MAX})`,
    `batch: { batchSize: ${gateway.BATCH_CALLS_MAX} }`,
    `its password has at least ${PASSWORD_LENGTH_MIN} characters`,
  ],
  'CHANGELOG.md': [
    `A batch holds up to ${gateway.BATCH_CALLS_MAX} calls`,
    `An address may have ${gateway.HTTP_LIMITS.subscriptionsOfAddress} subscriptions`,
    `at most ${thousands(gateway.TEXT_MARKS_MAX)} members`,
    `larger than ${mebibytes(BLOCK_BYTES_MAX)}`,
    `10^${INITIAL_HEIGHT_MAX.toString().length - 1}`,
  ],
}

/** The text of a page in one line, as its line breaks mean nothing. */
const inOneLine = (path: string): string => pages.find((page) => page.path === path)?.text.replace(/\s+/g, ' ') ?? ''

test.each(Object.entries(FIGURES))('the figures of %s are those of the code', (path, fragments) => {
  const text = inOneLine(path)
  expect(fragments.filter((fragment) => !text.includes(fragment.replace(/\s+/g, ' ')))).toEqual([])
})

test('README says how fast it is as the tables of docs/performance-figures.md do', () => {
  const page = inOneLine('docs/performance-figures.md')
  const measured = (name: string): string =>
    new RegExp(`\\| ${name} \\| at least [\\d.]+ \\| ([\\d.]+) \\|`).exec(page)?.[1] ?? `no row ${name}`
  expect(inOneLine('README.md')).toContain(readmeSentence(measured(SDK_GOAL), measured(KVSTORE_GOAL)))
})

test('the lengths of fields in docs/protocol.md are those of the operations', () => {
  const docs = new Map(
    txEntries.flatMap(({ input }) =>
      Object.entries(input).flatMap(([name, { doc, schema }]) => [
        [name, doc] as const,
        ...Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, { description: string }>>).map(
          ([inner, { description }]) => [inner, description] as const,
        ),
      ]),
    ),
  )
  const lengthOf = (name: string): string =>
    thousands(Number(/at most (\d+) bytes/.exec(docs.get(name) ?? '')?.[1] ?? Number.NaN))
  const [, said = ''] = /Length limits in bytes of UTF-8: (.*?), library name/.exec(inOneLine('docs/protocol.md')) ?? []
  const names = ['website', 'location', 'email', 'profile'].map((name) => `${name} ${lengthOf(name)}`)
  // A library has a name too, so the text of the description's name comes last in no list.
  expect(said.replace(/^name [\d,]+, /, '').replace(';', ',')).toBe(
    [...names, `reason ${lengthOf('reason')}`].join(', '),
  )
  expect(inOneLine('docs/protocol.md')).toContain(
    `fileUrl and md5 ${lengthOf('fileUrl')}, preservedValidators ${lengthOf('preservedValidators')}.`,
  )
})

test('the defaults of parameters in docs/protocol.md are those of the chain', () => {
  const [, said = ''] = /The defaults: (.*?)\. ## /.exec(inOneLine('docs/protocol.md')) ?? []
  for (const [name, { fallback }] of PARAMETERS) {
    if (name === 'hold_account') continue
    expect(said).toMatch(new RegExp(`\\b${name},? (?:[a-z_]+ )?"?${fallback.replace('.', '\\.')}"?(?:,|$)`))
  }
})

test('docs/protocol.md says which params a query takes by name alone', () => {
  const page = pages.find(({ path }) => path === 'docs/protocol.md')?.text ?? ''
  const rows = [...page.matchAll(/^\| `(svc_\w+)` \| ([^|{]+) \|/gm)].flatMap(([, name, params = '']) => {
    const method = methods.find((one) => one.name === name)
    const said = params.replaceAll(/\(.*?\)/g, '').split('by name ')[1] ?? ''
    return method === undefined ? [] : [[method, [...said.matchAll(/`(\w+)`/g)].map(([, field]) => field)] as const]
  })
  expect(rows.length).toBeGreaterThan(20)
  for (const [{ name, input, positional }, said] of rows)
    expect([name, said]).toEqual([name, Object.keys(input).slice(positional)])
})
