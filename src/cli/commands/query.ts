import { Argument, type Command, Option } from 'commander'
import type { SvcVerified, VerifiedRow, VerifyOptions } from '../../client/index.ts'
import type { Method } from '../../gateway/methods/define.ts'
import { methods } from '../../gateway/methods/list.ts'
import { UserError } from '../errors.ts'
import { remoteFrom } from '../gatewayClient.ts'
import {
  addMemberOptions,
  type Configure,
  example,
  givenMembers,
  kebab,
  nodeOption,
  readGiven,
  sampleOptions,
  withGateway,
} from '../options.ts'
import { answer, fields, printAnswer, withProgress } from '../output.ts'
import type { ProveFlags } from '../prove.ts'
import { parseWhole } from '../settings.ts'

type Given = Readonly<Record<string, unknown>>

/** Asks for the row of a query with `--prove`. */
type Ask = (verified: SvcVerified, given: Given, options: VerifyOptions) => Promise<VerifiedRow>

/**
 * How each query that one row answers is asked with `--prove`. Lists and what is derived from many rows are not among
 * them.
 */
export const PROVABLE: ReadonlyMap<string, Ask> = new Map([
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
] satisfies [string, Ask][])

/** The word of a method behind `svcd query`: `svc_queryValidators` is `validators`, `svc_getBalance` is `balance`. */
const wordOf = ({ name }: Method): string =>
  kebab(name.replace(/^(?:svc_|rpc\.)/, '').replace(/^(?:query|get)(?=[A-Z])/, ''))

/** Methods that change nothing: all but the operations and the sending of signed bytes. */
const isQuery = ({ signs, name }: Method): boolean => signs !== true && name !== 'svc_sendRawTransaction'

/**
 * Members given by place and by option together, as the object that a gateway takes. Throws a UserError for one given
 * twice.
 */
function membersOf({ input }: Method, values: readonly string[], flags: object): Readonly<Record<string, unknown>> {
  const named = givenMembers(input, flags as Readonly<Record<string, unknown>>)
  const places = Object.fromEntries(values.map((value, place) => [Object.keys(input)[place] as string, value]))
  const twice = Object.keys(places).find((name) => named[name] !== undefined)
  if (twice !== undefined) throw new UserError(`--${kebab(twice)}: is given by its place too`)
  return { ...places, ...named }
}

const PROVE_OPTIONS = (): readonly Option[] => [
  new Option('--prove', 'verify the row: against a header that `cometbft light` verified, by its ICS-23 proof'),
  nodeOption(),
  new Option('--witness <url...>', 'RPC of other nodes, which the light client compares --node with'),
  new Option(
    '--trust-height <height>',
    'height of a header known to be right, with --trust-hash: to begin, or to begin anew',
  ),
  new Option('--trust-hash <hash>', 'its hash, 64 hex digits'),
  new Option('--trust-first', 'to begin, believe the header that --node shows'),
  new Option('--max-age <seconds>', 'refuse an answer whose header is older than this, 1 to 999999 (default: 300)'),
]

/** `--prove` and what it needs; where one row cannot prove the answer they are not shown, and `--prove` says so. */
function addProveOptions(command: Command, { name }: Method): Command {
  for (const option of PROVE_OPTIONS()) command.addOption(option.hideHelp(!PROVABLE.has(name)))
  return command
}

/** Answers a query with `--prove`. */
async function answerProven(
  { name }: Method,
  given: Readonly<Record<string, unknown>>,
  flags: ProveFlags,
): Promise<void> {
  const ask = PROVABLE.get(name)
  if (ask === undefined) {
    const words = methods
      .filter((method) => PROVABLE.has(method.name))
      .map(wordOf)
      .join(', ')
    throw new UserError(
      `--prove: this answer is not one row of the state, so no proof of a row can show it; one row each: ${words}`,
    )
  }
  const { maxAge } = flags
  const options = maxAge === undefined ? {} : { maxAgeMs: 1000 * parseWhole(maxAge, '--max-age', [1, 999_999]) }
  const { prove } = await import('../prove.ts')
  const row = await withProgress(
    'waiting for the header',
    prove(flags, (verified) => ask(verified, given, options)),
  )
  answer(flags.json, row, () => fields({ ...row, data: row.data ?? 'none: proven to be absent' }))
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
 * The list of validators for people: those whose key has not signed yet are marked as joining. Source: protocol.md
 * §4.4.
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
  const { input, params, doc } = method
  const command = query.command(wordOf(method)).description(doc)
  const count = params.form === 'positional' ? params.count : 0
  for (const [name, member] of Object.entries(input).slice(0, count))
    command.addArgument(new Argument(`[${kebab(name)}]`, member.doc))
  addMemberOptions(command, input)
  const options = sampleOptions('query', input)
  addProveOptions(
    withGateway(example(command, `svcd query ${wordOf(method)}${options === '' ? '' : ` ${options}`}`)),
    method,
  ).action(async (...all: readonly unknown[]) => {
    // Commander hands over the arguments, then the options, then the command.
    const values = all.slice(0, count).filter((value): value is string => typeof value === 'string')
    const flags = all[count] as ProveFlags & { readonly prove?: boolean }
    const given = membersOf(method, values, flags)
    readGiven(input, given)
    if (flags.prove === true) return answerProven(method, given, flags)
    const remote = remoteFrom(flags)
    const result = await withProgress('waiting for the gateway', remote.call(method.name, given))
    // The interface fixes what a validator object holds; who is still joining stands in the set.
    const shown =
      method.name === 'svc_queryValidators' && flags.json !== true
        ? withJoining(result, await remote.call('svc_queryValidatorSet'))
        : result
    answer(flags.json, shown, () => printAnswer(shown))
  })
}

/** `svcd query …`: one command for each method of the gateway that changes nothing. */
export const configure: Configure = (query) => {
  example(query, 'svcd query validators')
  for (const method of methods.filter(isQuery)) configureOne(query, method)
}
