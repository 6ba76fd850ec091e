import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { PORTS } from '../base/ports.ts'
import { homeFiles, listenAddresses } from '../comet/home.ts'
import type { TxEntry } from '../modules/define.ts'
import { type Field, FieldError, type Fields, readFields } from '../tx/fields.ts'
import { amount } from '../values/number.ts'
import { yesNo } from '../values/text.ts'
import { AMOUNT_FORMS, parseAmount } from './amounts.ts'
import { UserError } from '../node/errors.ts'
import { userFolder } from '../node/paths.ts'
import { PROGRAM_VERSION_LIMITS } from '../node/programVersion.ts'
import {
  isOn,
  parseBlockTime,
  parseEndpoint,
  parseOs,
  parseWhole,
  printEndpoint,
  reachable,
  readConfig,
} from '../node/settings.ts'

/**
 * Adds options, help and an action to a command. The action throws when it fails; one that runs a part of a node may
 * set `process.exitCode` instead.
 */
export type Configure = (command: Command) => void

type FirstWord<Text extends string> = Text extends `${infer First} ${string}` ? First : Text
type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text

/** The name of an option's value: `chainId` for `--chain-id <id>`, `page` for `--no-page`. */
type NameOf<Flags extends string> = Flags extends `--no-${infer Name}`
  ? CamelCase<Name>
  : Flags extends `--${infer Name}`
    ? CamelCase<FirstWord<Name>>
    : never

interface OptionSettings {
  /** The variable that stands for the flag. */
  readonly env?: `SVCD_${string}`
  /** Reads what was given. Throws a UserError that names the flag. */
  readonly parse?: (text: string, flag: string) => unknown
  /** The text that is read when nothing was given. */
  readonly fallback?: string
  /** How the help shows the fallback. */
  readonly fallbackDoc?: string
  readonly isRequired?: true
}

type ParsedOf<Settings> = Settings extends { readonly parse: (text: string, flag: string) => infer Value }
  ? Value
  : string

/** The value of an option that was given. */
type GivenOf<Flags, Settings> = Flags extends `${string}...>`
  ? readonly ParsedOf<Settings>[]
  : Flags extends `${string}>`
    ? ParsedOf<Settings>
    : boolean

type ValueOf<Flags, Settings> = Flags extends `--no-${string}`
  ? boolean
  : Settings extends { readonly fallback: string } | { readonly isRequired: true }
    ? GivenOf<Flags, Settings>
    : GivenOf<Flags, Settings> | undefined

/** An option, with the name and the type of its value. */
export interface TypedOption<Name extends string, Value> extends Option {
  attributeName(): Name
  defaultValue?: Value
}

/** The values of options, as an action gets them. */
export type FlagsOf<Options extends readonly TypedOption<string, unknown>[]> = {
  readonly [One in Options[number] as ReturnType<One['attributeName']>]: One extends TypedOption<string, infer Value>
    ? Value
    : never
}

/** Declares an option, such as `--chain-id <id>`. Its variable and its fallback are shown in the help. */
export function option<const Flags extends string, const Settings extends OptionSettings = OptionSettings>(
  flags: Flags,
  doc: string,
  settings?: Settings,
): TypedOption<NameOf<Flags>, ValueOf<Flags, Settings>> {
  const { env, parse = String, fallback, fallbackDoc = fallback, isRequired }: OptionSettings = settings ?? {}
  const made = new Option(flags, doc).makeOptionMandatory(isRequired === true)
  const flag = made.long as string
  if (env !== undefined) made.env(env)
  if (fallback !== undefined) made.default(parse(fallback, flag), fallbackDoc)
  if (made.variadic) made.argParser((text, before: readonly unknown[] = []) => [...before, parse(text, flag)])
  else if (made.required) made.argParser((text) => parse(text, flag))
  return made as TypedOption<NameOf<Flags>, ValueOf<Flags, Settings>>
}

/** Takes back the switches that Commander turned for a variable that says no: it takes any value for a yes, even 0 and none. */
function readSwitches(command: Command): void {
  for (const one of command.options) {
    const name = one.attributeName()
    const isSwitch = !one.required && !one.optional
    if (isSwitch && command.getOptionValueSource(name) === 'env' && !isOn(process.env[one.envVar ?? '']))
      command.setOptionValueWithSource(name, one.negate ? true : undefined, 'default')
  }
}

/** Adds an example to the help of a command, and options. A test runs the example as it is against a devnet. */
export function withOptions(command: Command, example: string, options: readonly Option[] = []): Command {
  for (const one of options) command.addOption(one)
  command.hook('preAction', () => readSwitches(command))
  return command.addHelpText('after', `\nExample:\n  ${example}`)
}

/** Adds a command below another one. `usage`: its name and its arguments. */
export const subcommand = (
  parent: Command,
  usage: string,
  doc: string,
  example: string,
  options: readonly Option[],
): Command => withOptions(parent.command(usage).description(doc), example, options)

/** The gateway that commands call when none is named. */
const GATEWAY_URL = `http://127.0.0.1:${PORTS.gateway}`

const NODE_URL = `http://127.0.0.1:${PORTS.rpc}`

/** Reads the path of a home. Throws a UserError for an empty one, which a variable that is not set leaves, and not this folder. */
export function parseHome(text: string, flag: string): string {
  if (text === '') throw new UserError(`${flag}: expected a folder, got ""`)
  return resolve(text)
}

/** The commands that write nothing into a home, which root may run in anybody's. A query that is proven checks it itself. */
const READERS = new Set([
  ...['completion', 'doctor', 'eni', 'export', 'gateway', 'query', 'status', 'tx'],
  ...['keys list', 'keys show', 'keys export', 'keys mnemonic', 'snapshot list', 'snapshot verify'],
])

/**
 * Throws a UserError for a home that this user may not look into, because all in it would seem not to be there; and for
 * root where a command, or its subcommand `below`, would write beside the data of another user, whose node could not read
 * or replace that.
 */
export function assertOwnHome(home: string, command: string, below = ''): void {
  try {
    statSync(`${home}/.`, { throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new UserError(`--home: ${home} is closed to this user. Run this as its owner: sudo -u OWNER svcd …`)
  }
  if (process.geteuid?.() !== 0 || READERS.has(command) || READERS.has(`${command} ${below}`)) return
  // Not the folder itself: the root of a container may have one that was made outside.
  const { uid } = statSync(join(home, 'data'), { throwIfNoEntry: false }) ?? { uid: 0 }
  if (uid === 0) return
  throw new UserError(
    `--home: the data in ${home} is another user's, whose node cannot use what root writes there. Run this as its owner: ` +
      `sudo -u '#${uid}' svcd …`,
  )
}

/** The option `--home`. */
export const homeOption = option('--home <dir>', 'home folder of the node', {
  env: 'SVCD_HOME',
  parse: parseHome,
  fallback: join(userFolder(), '.svcd'),
  fallbackDoc: '~/.svcd',
})

/** The options of every command that prints an answer. */
export const commonOptions = [homeOption, option('--json', 'print JSON instead of text')] as const

/** The values of those options. */
export type CommonFlags = FlagsOf<typeof commonOptions>

/** The common options, and those that choose the gateway. */
export const gatewayOptions = [
  ...commonOptions,
  option('--gateway <url>', `gateway to call, a URL or HOST:PORT (default: ${GATEWAY_URL})`, {
    env: 'SVCD_GATEWAY',
  }),
  option('--auth-token-file <file>', "file that holds the gateway's token", { env: 'SVCD_AUTH_TOKEN_FILE' }),
] as const

/** The values of those options. */
export type GatewayFlags = FlagsOf<typeof gatewayOptions>

/** The option `--keystore`. */
export const keystoreOption = option('--keystore <dir>', 'folder with the key files (default: <home>/keystore)', {
  env: 'SVCD_KEYSTORE',
})

/** The option `--password-file`. */
export const passwordOption = option(
  '--password-file <file>',
  'file that holds the password (default: a prompt, or the next line of stdin)',
  { env: 'SVCD_PASSWORD_FILE' },
)

/** The option `--node`. */
export const nodeOption = option(
  '--node <url>',
  `URL of CometBFT's RPC (default: that of the home, else ${NODE_URL})`,
  {
    env: 'SVCD_NODE',
  },
)

/** The option `--no-page`. */
export const noPageOption = option(
  '--no-page',
  "serve no web page at the gateway's address (default: `page` of config/svcd.json, else serve it)",
  { env: 'SVCD_NO_PAGE' },
)

/** What of the page a gateway serves: nothing with the flag or `page: false`, else that of the build. */
export function pageFrom({ page, home }: FlagsOf<readonly [typeof noPageOption, typeof homeOption]>): {
  readonly page?: false
} {
  const configured: unknown = readConfig(home).page ?? true
  if (typeof configured !== 'boolean')
    throw new UserError(`config/svcd.json: page: expected true or false, got ${JSON.stringify(configured)}`)
  return page && configured ? {} : { page: false }
}

/** The option `--os`. */
export const osOption = option(
  '--os <name>',
  'use libraries for ubuntu or centos (default: eni.os of config/svcd.json, else that of this machine)',
  {
    env: 'SVCD_OS',
    parse: parseOs,
  },
)

/** The option `--metrics`, which `env` stands for. */
export const metricsOption = <const Env extends `SVCD_${string}`>(env: Env) =>
  option(
    '--metrics <host:port>',
    'serve Prometheus metrics at this address, preferably on loopback (default: nowhere)',
    { env, parse: parseEndpoint },
  )

/** The option `--accept-program-version`. */
export const programVersionOption = option(
  '--accept-program-version <number>',
  'program version that this release runs, as the successor of a retired program (default: acceptProgramVersion of ' +
    "config/svcd.json, else the release's own)",
  { env: 'SVCD_ACCEPT_PROGRAM_VERSION', parse: parseWhole(PROGRAM_VERSION_LIMITS) },
)

/** The option `--block-time`, for commands that write a home. */
export const blockTimeOption = option('--block-time <time>', 'time from block to block, such as 300ms (default: 1s)', {
  parse: parseBlockTime,
})

/** The folder of key files: `--keystore`, else `<home>/keystore`. */
export const keystoreFrom = ({
  keystore,
  home,
}: FlagsOf<readonly [typeof keystoreOption, typeof homeOption]>): string => keystore ?? join(home, 'keystore')

/** A setting: the flag or its SVCD_* variable, else the one in `<home>/config/svcd.json`. */
export function settingOf<Name extends 'gateway' | 'node' | 'from' | 'light'>(
  flags: Pick<CommonFlags, 'home'> & Readonly<Record<Name, string | undefined>>,
  name: Name,
): string | undefined {
  const value: unknown = flags[name] ?? readConfig(flags.home)[name]
  if (value === undefined || typeof value === 'string') return value
  throw new UserError(`config/svcd.json: ${name}: expected a string, got ${JSON.stringify(value)}`)
}

/** Reads a URL or HOST:PORT as a URL. Throws a UserError that names the flag. */
export function parseUrl(text: string, flag: string): string {
  if (!/^https?:\/\//.test(text)) return `http://${printEndpoint(parseEndpoint(text, flag))}`
  if (!URL.canParse(text)) throw new UserError(`${flag}: expected a URL or HOST:PORT, got ${JSON.stringify(text)}`)
  const { username, password } = new URL(text)
  // They would be sent nowhere, but logged and printed.
  if (username !== '' || password !== '')
    throw new UserError(`${flag}: expected a URL or HOST:PORT without a user name or password`)
  return text.replace(/\/+$/, '')
}

/** The URL of the RPC of the CometBFT whose home this is; undefined when it has no configuration. */
export function nodeOfHome(home: string): string | undefined {
  const { rpc } = existsSync(homeFiles(home).config) ? listenAddresses(home) : {}
  return rpc && `http://${printEndpoint(reachable(rpc))}`
}

/**
 * The URL of the node's RPC: the flag, its variable, `node` of config/svcd.json, or where the CometBFT of the home listens.
 * Throws a UserError, and a CometError when the home's config.toml cannot be read.
 */
export const nodeUrl = (flags: FlagsOf<readonly [typeof nodeOption, typeof homeOption]>): string =>
  parseUrl(settingOf(flags, 'node') ?? nodeOfHome(flags.home) ?? NODE_URL, '--node')

/** The URL of the gateway: the flag, its variable, or `gateway` of config/svcd.json; else the default one of this machine. */
export const gatewayUrl = (flags: Pick<CommonFlags, 'home'> & { readonly gateway?: string | undefined }): string =>
  parseUrl(settingOf({ gateway: undefined, ...flags }, 'gateway') ?? GATEWAY_URL, '--gateway')

/** Turns `pubKey` into `pub-key`. */
export const kebab = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()

/** The option of a field, or of a field inside another: `--description-name` for `description.name`. */
function createFieldOption(
  path: readonly string[],
  { type, inputType, doc, schema }: Field<unknown>,
  isRequired: boolean,
) {
  const flag = `--${path.map(kebab).join('-')}`
  const isAmount = type === amount.name
  const meaning = isAmount ? doc.replace('in base units', AMOUNT_FORMS) : doc
  const value = inputType === 'boolean' ? '' : ` <${flag.split('-').at(-1)}>`
  const made = new Option(`${flag}${value}`, isRequired ? `${meaning} (required)` : meaning)
  if (isAmount) made.argParser((text) => parseAmount(text, flag))
  // Only for help and completion: what a value means is the chain's to judge, and some fields are Y or N to it alone.
  const choices = doc === yesNo.doc ? yesNo.schema['enum'] : schema['enum']
  if (Array.isArray(choices)) made.argChoices = choices
  return Object.assign(made, { path, meaning, isRequired })
}

/**
 * The options of an input's fields, in order. They are derived from the fields alone, so a new operation needs no code
 * for its options.
 */
export const fieldOptions = (fields: Fields): readonly ReturnType<typeof createFieldOption>[] =>
  Object.entries(fields).flatMap(([name, one]) =>
    one.fields === undefined
      ? createFieldOption([name], one, !one.optional)
      : Object.entries(one.fields).map(([innerName, inner]) => createFieldOption([name, innerName], inner, false)),
  )

/** Collects the fields that were given as flags into the JSON object that a gateway takes. */
export function fieldsFromFlags(
  fields: Fields,
  flags: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {}
  for (const one of fieldOptions(fields)) {
    const value = flags[one.attributeName()]
    if (value === undefined) continue
    const [name = '', innerName] = one.path
    if (innerName === undefined) given[name] = value
    else given[name] = { ...(given[name] as object | undefined), [innerName]: value }
  }
  return given
}

/** What a command must be given: an option, and what it means. */
interface Needed {
  readonly flag: string
  readonly meaning: string
}

/** The required fields that were given neither as options nor as arguments. */
export const missingFields = (fields: Fields, given: Readonly<Record<string, unknown>>): readonly Needed[] =>
  fieldOptions(fields)
    .filter(({ isRequired, path: [name = ''] }) => isRequired && given[name] === undefined)
    .map(({ long, meaning }) => ({ flag: String(long), meaning }))

/** Throws a UserError for flags that would change nothing beside another one. `names`: theirs, such as `chainId`. */
export function refuseBeside(flag: string, names: readonly string[], flags: Readonly<Record<string, unknown>>): void {
  const given = names.filter((name) => flags[name] !== undefined).map((name) => `--${kebab(name)}`)
  const last = given.pop()
  if (last === undefined) return
  const all = given.length === 0 ? last : `${given.join(', ')} or ${last}`
  throw new UserError(`--${flag} cannot be combined with ${all}`)
}

/** Throws a UserError that names all that is missing, if anything is. */
export function assertNothingMissing(missing: readonly Needed[]): void {
  if (missing.length === 0) return
  const named = missing.map(({ flag, meaning }) => `${flag} (${meaning})`)
  const last = named.pop() as string
  throw new UserError(
    named.length === 0 ? `the option ${last} is required` : `the options ${named.join(', ')} and ${last} are required`,
  )
}

/** Reads the values of fields as the chain does. Throws a UserError that names the option with a bad value. */
export function parseFields(fields: Fields, given: unknown): Readonly<Record<string, unknown>> {
  try {
    return readFields(fields, given)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    throw new UserError(`--${error.field.split('.').map(kebab).join('-')}: ${error.problem}`)
  }
}

/**
 * The first three accounts of every devnet. The examples use them, so that they run as they are against `svcd devnet`.
 */
const ACCOUNTS = [
  '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27',
  '0xe3ec4a3291a2afef136a1f347e8f5a596ae48497',
  '0x71393e106f41647667d267fff96bc8baa7c98d56',
] as const

const FILES = '\'{"ubuntu":["https://files.example/lib.so"],"centos":["https://files.example/lib.so"]}\''
const MD5S = '\'{"ubuntu":"d41d8cd98f00b204e9800998ecf8427e","centos":"d41d8cd98f00b204e9800998ecf8427e"}\''

/** Example values by `operation.field`, or by a field's name for every operation. */
const EXAMPLE_VALUES: Readonly<Record<string, string>> = {
  pubKey: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  'declareCandidacy.description-name': '"Alice\'s node"',
  'updateCandidacy.description-website': 'https://example.org',
  newCandidateAccount: ACCOUNTS[2],
  candidateAddress: ACCOUNTS[2],
  verified: 'Y',
  'withdraw.amount': '0.5token',
  'proposeChangeParam.name': 'gas_price',
  value: '1.5token',
  'proposeChangeParam.value': '3000000000',
  name: 'libsvc',
  version: 'v1.0.0',
  fileUrl: FILES,
  md5: MD5S,
  preservedValidators: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  transferTo: ACCOUNTS[1],
  amount: '1.5token',
  proposalId: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  answer: 'Y',
  'query.table': 'accounts',
  'query.key': ACCOUNTS[0],
  hash: '0'.repeat(64),
}

/** An example value for a field that has none above, from its schema. */
function fallbackExample({ schema }: Field<unknown>): string {
  if (schema['anyOf'] !== undefined) return '1'
  if (Array.isArray(schema['enum'])) return String(schema['enum'][0])
  return String(schema['pattern']).startsWith('^0x') ? ACCOUNTS[0] : 'text'
}

/**
 * The options of an operation's example: every required field, and the optional ones that have an example value of this
 * operation.
 */
export function exampleOptions(name: string, fields: Fields): string {
  return fieldOptions(fields)
    .flatMap(({ long, path, isRequired }) => {
      const own = EXAMPLE_VALUES[`${name}.${path.join('-')}`]
      if (!isRequired && own === undefined) return []
      const [field = ''] = path
      return [`${long} ${own ?? EXAMPLE_VALUES[field] ?? fallbackExample(fields[field] as Field<unknown>)}`]
    })
    .join(' ')
}

/** The sender in an operation's example: an account for which a devnet's gateway signs, and which may do this. */
export function exampleSender({ operation }: TxEntry): string {
  if (/^propose|^vote|^verify/.test(operation)) return ACCOUNTS[0]
  return /^accept|^withdrawCandidacy/.test(operation) ? ACCOUNTS[2] : ACCOUNTS[1]
}
