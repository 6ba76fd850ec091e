import { Argument, type Command, Option } from 'commander'
import type { SvcVerified, VerifiedRow, VerifyOptions } from '../../client/index.ts'
import type { Method } from '../../gateway/methods/define.ts'
import { methods } from '../../gateway/methods/list.ts'
import { UserError } from '../errors.ts'
import { remoteFrom } from '../gatewayClient.ts'
import {
  addFieldOptions,
  type Configure,
  example,
  fieldsFromFlags,
  kebab,
  nodeOption,
  parseFields,
  exampleOptions,
  withGateway,
} from '../options.ts'
import { printAnswer, formatFields, formatAnswer, withProgress } from '../output.ts'
import type { ProveFlags } from '../prove.ts'
import { parseWhole } from '../settings.ts'

type Given = Readonly<Record<string, unknown>>

/** Asks for the row of a query that is to be proven. */
type ProvenQuery = (verified: SvcVerified, given: Given, options: VerifyOptions) => Promise<VerifiedRow>

/**
 * The queries that support `--prove`, by method: those whose answer is one row of the state. Lists, and answers derived
 * from many rows, cannot be proven by one row.
 */
export const PROVABLE_QUERIES: ReadonlyMap<string, ProvenQuery> = new Map([
  [
    'svc_queryValidator',
    ({ stake }, given, options) => stake.validator.query(String(given['validatorAddress']), options),
  ],
  [
    'svc_queryProposal',
    ({ governance }, given, options) => governance.queryProposal(String(given['proposalId']), options),
  ],
  ['svc_getBalance', (verified, given, options) => verified.getBalance(String(given['address']), options)],
  [
    'svc_getTransactionCount',
    (verified, given, options) => verified.getTransactionCount(String(given['address']), options),
  ],
  [
    'svc_getProof',
    (verified, given, options) =>
      verified.getProof(String(given['table']), given['key'] === undefined ? '' : String(given['key']), options),
  ],
] satisfies [string, ProvenQuery][])

/** The command of a method: `svc_queryValidators` is `validators`, `svc_getBalance` is `balance`. */
const wordOf = ({ name }: Method): string =>
  kebab(name.replace(/^(?:svc_|rpc\.)/, '').replace(/^(?:query|get)(?=[A-Z])/, ''))

/** True for methods that change nothing: all but the operations and the sending of signed transactions. */
const isQuery = ({ signs, name }: Method): boolean => signs !== true && name !== 'svc_sendRawTransaction'

/**
 * Collects the fields given as arguments and as options. Throws a UserError for a field that was given in both ways.
 */
function fieldsOf({ input }: Method, values: readonly string[], flags: object): Readonly<Record<string, unknown>> {
  const named = fieldsFromFlags(input, flags as Readonly<Record<string, unknown>>)
  const positional = Object.fromEntries(values.map((value, index) => [Object.keys(input)[index] as string, value]))
  const twice = Object.keys(positional).find((name) => named[name] !== undefined)
  if (twice !== undefined) throw new UserError(`--${kebab(twice)}: the same field was also given as an argument`)
  return { ...positional, ...named }
}

const proveOptions = (): readonly Option[] => [
  new Option('--prove', 'verify the answer by its ICS-23 proof, against a header that `cometbft light` has verified'),
  nodeOption(),
  new Option('--witness <url...>', 'RPC addresses of other nodes, with which the light client compares --node'),
  new Option(
    '--trust-height <height>',
    'with --trust-hash, height of a header that is known to be right, to start from',
  ),
  new Option('--trust-hash <hash>', 'hash of that header, 64 hex digits'),
  new Option('--trust-first', 'the first time, trust the header that --node shows'),
  new Option('--max-age <seconds>', 'refuse an answer whose header is older than this, 1 to 999999 (default 300)'),
]

/** Adds `--prove` and its options. They are hidden for queries that cannot be proven, where `--prove` says so. */
function addProveOptions(command: Command, { name }: Method): Command {
  for (const option of proveOptions()) command.addOption(option.hideHelp(!PROVABLE_QUERIES.has(name)))
  return command
}

/** Answers a query with `--prove`. */
async function answerProven(
  { name }: Method,
  given: Readonly<Record<string, unknown>>,
  flags: ProveFlags,
): Promise<void> {
  const ask = PROVABLE_QUERIES.get(name)
  if (ask === undefined) {
    const words = methods
      .filter((method) => PROVABLE_QUERIES.has(method.name))
      .map(wordOf)
      .join(', ')
    throw new UserError(
      `--prove: this answer is not one row of the state, so it cannot be proven. Queries that can: ${words}`,
    )
  }
  const { maxAge } = flags
  const options = maxAge === undefined ? {} : { maxAgeMs: 1000 * parseWhole(maxAge, '--max-age', [1, 999_999]) }
  const { prove } = await import('../prove.ts')
  const row = await withProgress(
    'waiting for the header',
    prove(flags, (verified) => ask(verified, given, options)),
  )
  printAnswer(flags.json, row, () => formatFields({ ...row, data: row.data ?? 'none (proven to be absent)' }))
}

interface Listed {
  readonly pub_key: { readonly value: string }
  readonly state: string
}
interface Member {
  readonly pub_key: { readonly value: string }
  readonly proven: boolean
}

/**
 * Marks the validators whose key has not signed yet as joining, in the list for people. Source: protocol.md §4.4.
 */
function withJoining(list: unknown, set: unknown): unknown {
  const { height, data } = list as { readonly height: number; readonly data: readonly Listed[] }
  const members = (set as { readonly data: readonly Member[] }).data
  const joining = new Set(members.filter(({ proven }) => !proven).map(({ pub_key: { value } }) => value))
  return {
    height,
    data: data.map((row) => (joining.has(row.pub_key.value) ? { ...row, state: `${row.state} (joining)` } : row)),
  }
}

function configureOne(query: Command, method: Method): void {
  const { input, positional: count = 0, doc } = method
  const command = query.command(wordOf(method)).description(doc)
  for (const [name, member] of Object.entries(input).slice(0, count))
    command.addArgument(new Argument(`[${kebab(name)}]`, member.doc))
  addFieldOptions(command, input)
  const options = exampleOptions('query', input)
  addProveOptions(
    withGateway(example(command, `svcd query ${wordOf(method)}${options === '' ? '' : ` ${options}`}`)),
    method,
  ).action(async (...all: readonly unknown[]) => {
    // Commander passes the arguments, then the options, then the command.
    const values = all.slice(0, count).filter((value): value is string => typeof value === 'string')
    const flags = all[count] as ProveFlags & { readonly prove?: boolean }
    const given = fieldsOf(method, values, flags)
    parseFields(input, given)
    if (flags.prove === true) return answerProven(method, given, flags)
    const remote = remoteFrom(flags)
    const result = await withProgress('waiting for the gateway', remote.call(method.name, given))
    // The interface fixes the members of a validator object, so who is joining must be read from the set.
    const shown =
      method.name === 'svc_queryValidators' && flags.json !== true
        ? withJoining(result, await remote.call('svc_queryValidatorSet'))
        : result
    printAnswer(flags.json, shown, () => formatAnswer(shown))
  })
}

/** Configures `svcd query`: one command for each method of the gateway that changes nothing. */
export const configure: Configure = (query) => {
  example(query, 'svcd query validators')
  for (const method of methods.filter(isQuery)) configureOne(query, method)
}
