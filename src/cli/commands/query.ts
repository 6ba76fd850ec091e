import { type Command, Option } from 'commander'
import type { SvcVerified, VerifiedDelegation, VerifiedRow, VerifyOptions } from '../../client/index.ts'
import type { Method } from '../../gateway/rpc/methods/define.ts'
import { methods } from '../../gateway/rpc/methods/list.ts'
import { amount } from '../../values/number.ts'
import { printTokens } from '../amounts.ts'
import { UserError } from '../../node/errors.ts'
import { gatewayFrom, type GatewayClient } from '../gatewayClient.ts'
import {
  type Configure,
  assertNothingMissing,
  exampleOptions,
  fieldOptions,
  fieldsFromFlags,
  type FlagsOf,
  type GatewayFlags,
  gatewayOptions,
  kebab,
  missingFields,
  nodeOption,
  option,
  parseFields,
  withOptions,
} from '../options.ts'
import { formatAnswer, formatFields, note, printAnswer, withProgress } from '../output.ts'
import { parseWhole } from '../../node/settings.ts'
import { trustOptions } from '../trust.ts'

type Given = Readonly<Record<string, unknown>>

/** What a query with `--prove` answers: a row, or the rows of delegations. */
export type Proven = VerifiedRow | readonly VerifiedDelegation[]

/** Asks for what is to be proven. */
type ProvenQuery = (verified: SvcVerified, given: Given, options: VerifyOptions) => Promise<Proven>

/**
 * The queries that support `--prove`, by method: those whose answer is one row of the state, and that of delegations,
 * each of which is two. Other lists, and answers derived from many rows, cannot be proven by their rows.
 */
const PROVABLE_QUERIES: Readonly<Record<string, ProvenQuery>> = {
  svc_queryValidator: ({ stake }, given, options) => stake.validator.query(String(given['validatorAddress']), options),
  svc_queryDelegator: ({ stake }, given, options) => stake.delegator.query(String(given['delegatorAddress']), options),
  svc_queryProposal: ({ governance }, given, options) => governance.queryProposal(String(given['proposalId']), options),
  svc_getBalance: (verified, given, options) => verified.getBalance(String(given['address']), options),
  svc_getTransactionCount: (verified, given, options) =>
    verified.getTransactionCount(String(given['address']), options),
  svc_getProof: (verified, given, options) =>
    verified.getProof(String(given['table']), String(given['key'] ?? ''), options),
}

/** The command of a method: `svc_queryValidators` is `validators`, `svc_getBalance` is `balance`. */
const wordOf = ({ name }: Method): string =>
  kebab(name.replace(/^(?:svc_|rpc\.)/, '').replace(/^(?:query|get)(?=[A-Z])/, ''))

/** What changes the chain although the gateway signs nothing. */
const CHANGING = new Set(['svc_sendRawTransaction', 'svc_mine'])

/** True for methods that change nothing: all but the operations, the faucet, the sending of signed transactions, and mining. */
const isQuery = ({ signs, isForeign, needsSocket, name }: Method): boolean =>
  signs !== true && isForeign !== true && needsSocket !== true && !CHANGING.has(name)

/**
 * Collects the fields given as arguments and as options. Throws a UserError for a field that was given in both ways.
 */
function fieldsOf({ input }: Method, values: readonly string[], flags: Given): Given {
  const named = fieldsFromFlags(input, flags)
  const positional = Object.fromEntries(values.map((value, index) => [Object.keys(input)[index] as string, value]))
  const twice = Object.keys(positional).find((name) => named[name] !== undefined)
  if (twice !== undefined) throw new UserError(`--${kebab(twice)}: the same field was also given as an argument`)
  return { ...positional, ...named }
}

const proveOptions = [
  option('--prove', 'verify the answer by its ICS-23 proof, against a header that `cometbft light` has verified'),
  nodeOption,
  option('--witness <url...>', 'RPC addresses of other nodes, with which the light client compares --node'),
  ...trustOptions,
  option('--trust-first', 'the first time, trust the header that --node shows'),
  option('--max-age <seconds>', 'refuse an answer whose header is older than this, 1 to 999999 (default: 300)', {
    parse: parseWhole([1, 999_999]),
  }),
] as const

/** The same for queries that cannot be proven, where `--prove` says so. */
const hiddenOptions = proveOptions.map(({ flags }) => new Option(flags).hideHelp())

/** The values of the options of a query. */
export type ProveFlags = GatewayFlags & FlagsOf<typeof proveOptions>

async function answerProven({ name }: Method, given: Given, flags: ProveFlags): Promise<void> {
  const ask = PROVABLE_QUERIES[name]
  if (ask === undefined) {
    const words = methods.filter((method) => method.name in PROVABLE_QUERIES).map(wordOf)
    throw new UserError(
      `--prove: this answer is not one row of the state, so it cannot be proven. Queries that can: ${words.join(', ')}`,
    )
  }
  const options = flags.maxAge === undefined ? {} : { maxAgeMs: 1000 * flags.maxAge }
  const { prove } = await import('../prove.ts')
  const proven = await withProgress(
    'waiting for the header',
    prove(flags, (verified) => ask(verified, given, options)),
  )
  printAnswer(flags.json, proven, () => formatProven(proven))
}

/** Formats what was proven for people: delegations one below the other, because each has two rows and a header. */
function formatProven(proven: Proven): string {
  if (!('table' in proven)) return proven.map((one) => formatFields({ ...one })).join('\n\n') || 'none'
  return formatFields({ ...proven, data: proven.data ?? 'none (proven to be absent)' })
}

/** A list of validators, or of the members of the validator set. */
interface Listed<Extra> {
  readonly height: number
  readonly data: readonly ({ readonly pub_key: { readonly value: string } } & Extra)[]
}

/** Marks the validators whose key has not signed yet as joining, in the list for people. Source: protocol.md §4.4. */
function withJoining(list: unknown, set: unknown): unknown {
  const { height, data } = list as Listed<{ readonly state: string }>
  const members = (set as Listed<{ readonly proven: boolean }>).data
  const joining = new Set(members.filter(({ proven }) => !proven).map(({ pub_key: { value } }) => value))
  return {
    height,
    data: data.map((row) => (joining.has(row.pub_key.value) ? { ...row, state: `${row.state} (joining)` } : row)),
  }
}

/** Says of what unbonds how many tokens come at which block, in the list of delegations for people. */
function withPendingInWords(list: unknown): unknown {
  const { height, data } = list as {
    readonly height: number
    readonly data: readonly {
      readonly pending: readonly { readonly amount: string; readonly completion_height: number }[]
    }[]
  }
  const words = ({ amount: units, completion_height: at }: (typeof data)[0]['pending'][0]): string =>
    `${printTokens(units)} at block ${at}`
  return { height, data: data.map((row) => ({ ...row, pending: row.pending.map(words).join(', ') })) }
}

/** Formats a result for people. That of a method whose whole result is an amount is printed in tokens. */
const humanAnswer = ({ result: schema }: Method, result: unknown): string =>
  schema === amount.schema ? printTokens(String(result)) : formatAnswer(result)

/** Says why a gateway answers no block: there is none yet, or its node has only newer ones. Then it finds the first of those. */
async function whyNoBlock({ call, url }: GatewayClient, block: string): Promise<string> {
  if (block.length >= 64) return `the node of ${url} has no block of this hash; it may have had it once`
  const head = Number(await call('svc_blockNumber'))
  if (!(Number(block) <= head)) return `block ${block} is not made yet: the newest one is ${head}`
  let [none, first] = [Number(block), head]
  while (first - none > 1) {
    const middle = Math.floor((none + first) / 2)
    if ((await call('svc_getBlock', { block: middle, limit: 1 })) === null) none = middle
    else first = middle
  }
  return `the node of ${url} does not have block ${block}: it keeps those from ${first} on. Ask one that keeps all, with --gateway URL`
}

async function answer(method: Method, given: Given, flags: GatewayFlags): Promise<void> {
  const gateway = gatewayFrom(flags)
  const result = await withProgress('waiting for the gateway', gateway.call(method.name, given))
  if (result === null && method.name === 'svc_getBlock') {
    // The search asks for many blocks, which the gateway may refuse. That there is none is the answer all the same.
    const why = await whyNoBlock(gateway, String(given['block'])).catch(() => undefined)
    if (why !== undefined) note(why)
  }
  if (flags.json === true) return printAnswer(true, result)
  // The interface fixes the members of a validator object, so who is joining must be read from the set.
  const shown =
    method.name === 'svc_queryValidators'
      ? withJoining(result, await gateway.call('svc_queryValidatorSet'))
      : method.name === 'svc_queryDelegator'
        ? withPendingInWords(result)
        : result
  printAnswer(false, shown, () => humanAnswer(method, shown))
}

function configureOne(query: Command, method: Method): void {
  const { name, input, positional: count = 0, doc } = method
  const ownOptions = name in PROVABLE_QUERIES ? proveOptions : hiddenOptions
  const example = `svcd query ${wordOf(method)} ${exampleOptions('query', input)}`.trimEnd()
  const command = query.command(wordOf(method)).description(doc)
  withOptions(command, example, [...fieldOptions(input), ...gatewayOptions, ...ownOptions])
  for (const [field, { doc: fieldDoc }] of Object.entries(input).slice(0, count))
    command.argument(`[${kebab(field)}]`, fieldDoc)
  command.action(async (...all: readonly unknown[]) => {
    // Commander passes the arguments, then the options, then the command.
    const values = all.slice(0, count).filter((value): value is string => typeof value === 'string')
    const flags = all[count] as ProveFlags
    const given = fieldsOf(method, values, flags)
    assertNothingMissing(missingFields(input, given))
    parseFields(input, given)
    await (flags.prove === true ? answerProven : answer)(method, given, flags)
  })
}

/** Configures `svcd query`: one command for each method of the gateway that changes nothing. */
export const configure: Configure = (query) => {
  withOptions(query, 'svcd query validators')
  for (const method of methods.filter(isQuery)) configureOne(query, method)
}
