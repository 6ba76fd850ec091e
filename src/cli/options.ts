import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { PORTS } from '../base/ports.ts'
import type { TxEntry } from '../modules/define.ts'
import { type Field, type FieldError, type Fields, readFields } from '../tx/fields.ts'
import { UserError } from './errors.ts'
import { homeOf, parseEndpoint, printEndpoint, readConfig } from './settings.ts'

/**
 * Adds options, help and an action to a command. The action passes its exit status to `finish`: 0 for success, 1 for a
 * failure, 2 for wrong usage.
 */
export type Configure = (command: Command, finish: (status: number) => void) => void

/** The flags that every command has. */
export interface CommonFlags {
  readonly home?: string
  readonly json?: boolean
}

/** The flags of commands that call a gateway. */
export interface GatewayFlags extends CommonFlags {
  readonly gateway?: string
  readonly authTokenFile?: string
}

/** The gateway and the node that commands call when none is named. */
export const GATEWAY_URL = `http://127.0.0.1:${PORTS.gateway}`
const NODE_URL = `http://127.0.0.1:${PORTS.rpc}`

/** Adds an example to a command's help. A test runs the lines as they are against a devnet. */
export const example = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExample:\n${lines.map((line) => `  ${line}`).join('\n')}`)

/** Adds `--home` and `--json`. */
export const withCommon = (command: Command): Command =>
  command
    .option('--home <dir>', 'home folder of the node (SVCD_HOME; default ~/.svcd)')
    .option('--json', 'print JSON instead of text')

/** Adds `--home`, `--json` and the options that choose the gateway. */
export const withGateway = (command: Command): Command =>
  withCommon(command)
    .option('--gateway <url>', `gateway to call, a URL or HOST:PORT (SVCD_GATEWAY; default ${GATEWAY_URL})`)
    .option('--auth-token-file <file>', "file that holds the gateway's token (SVCD_AUTH_TOKEN_FILE)")

/** The option `--keystore`. */
export const keystoreOption = (): Option =>
  new Option('--keystore <dir>', 'folder with the key files (SVCD_KEYSTORE; default <home>/keystore)')

/** The option `--password-file`. */
export const passwordOption = (): Option =>
  new Option(
    '--password-file <file>',
    'file that holds the password (SVCD_PASSWORD_FILE; default: a prompt, or the next line of stdin)',
  )

/** The option `--node`. */
export const nodeOption = (): Option =>
  new Option('--node <url>', `URL of CometBFT's RPC (SVCD_NODE; default ${NODE_URL})`)

/** The home folder: `--home`, else SVCD_HOME, else ~/.svcd. */
export const homeFrom = ({ home }: CommonFlags): string => homeOf(home ?? process.env['SVCD_HOME'])

/** The folder of key files: `--keystore`, else SVCD_KEYSTORE, else `<home>/keystore`. */
export const keystoreFrom = (flags: CommonFlags & { readonly keystore?: string }): string =>
  flags.keystore ?? process.env['SVCD_KEYSTORE'] ?? join(homeFrom(flags), 'keystore')

/** A setting: the flag, else its SVCD_* variable, else the one in `<home>/config/svcd.json`. */
export function settingOf(
  flags: CommonFlags,
  given: string | undefined,
  name: 'gateway' | 'node' | 'from',
): string | undefined {
  const value = given ?? process.env[`SVCD_${name.toUpperCase()}`] ?? readConfig(homeFrom(flags))[name]
  if (value !== undefined && typeof value !== 'string')
    throw new UserError(`config/svcd.json: ${name}: expected a string, got ${JSON.stringify(value)}`)
  return value
}

/** Reads a URL or HOST:PORT as a URL. Throws a UserError that names the flag. */
export function parseUrl(text: string, flag: string): string {
  if (!/^https?:\/\//.test(text)) return `http://${printEndpoint(parseEndpoint(text, flag))}`
  if (!URL.canParse(text)) throw new UserError(`${flag}: expected a URL or HOST:PORT, got ${JSON.stringify(text)}`)
  return text.replace(/\/+$/, '')
}

/** The URL of the node's RPC. */
export const nodeUrl = (flags: CommonFlags & { readonly node?: string }): string =>
  parseUrl(settingOf(flags, flags.node, 'node') ?? NODE_URL, '--node')

/** The option of a field, or of a field inside another: `--description-name` for `description.name`. */
export interface FieldOption {
  readonly flag: string
  readonly path: readonly string[]
  readonly doc: string
  readonly required: boolean
}

/** Turns `pubKey` into `pub-key`. */
export const kebab = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()

/**
 * The options of an input's fields, in order. They are derived from the fields alone, so a new operation needs no code
 * for its options.
 */
export function fieldOptions(fields: Fields): readonly FieldOption[] {
  return Object.entries(fields).flatMap(([name, { fields: inner, doc, optional }]): FieldOption[] => {
    if (inner === undefined) return [{ flag: `--${kebab(name)}`, path: [name], doc, required: !optional }]
    return Object.entries(inner).map(([innerName, { doc: innerDoc }]) => ({
      flag: `--${kebab(name)}-${kebab(innerName)}`,
      path: [name, innerName],
      doc: innerDoc,
      required: false,
    }))
  })
}

const optionOf = ({ flag, doc, required }: FieldOption): Option =>
  new Option(`${flag} <${flag.split('-').at(-1)}>`, required ? `${doc} (required)` : doc)

/** Adds an option for each field. */
export function addFieldOptions(command: Command, fields: Fields): void {
  for (const option of fieldOptions(fields)) command.addOption(optionOf(option))
}

/** Collects the fields that were given as flags into the JSON object that a gateway takes. */
export function fieldsFromFlags(
  fields: Fields,
  flags: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {}
  for (const option of fieldOptions(fields)) {
    const value = flags[optionOf(option).attributeName()]
    if (value === undefined) continue
    const [name = '', innerName] = option.path
    if (innerName === undefined) given[name] = value
    else given[name] = { ...(given[name] as object | undefined), [innerName]: value }
  }
  return given
}

/** Reads the values of fields as the chain does. Throws a UserError that names the option with a bad value. */
export function parseFields(fields: Fields, given: unknown): Readonly<Record<string, unknown>> {
  try {
    return readFields(fields, given) as Readonly<Record<string, unknown>>
  } catch (error) {
    if ((error as { name?: unknown }).name !== 'FieldError') throw error
    const { field, problem } = error as FieldError
    throw new UserError(`--${field.split('.').map(kebab).join('-')}: ${problem}`)
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
  accountUpdateRequestId: '1',
  candidateAddress: ACCOUNTS[2],
  verified: 'Y',
  'proposeChangeParam.name': 'gas_price',
  value: '1000000000000000000',
  'proposeChangeParam.value': '3000000000',
  name: 'libsvc',
  version: 'v1.0.0',
  fileUrl: FILES,
  md5: MD5S,
  preservedValidators: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  transferFrom: ACCOUNTS[0],
  transferTo: ACCOUNTS[1],
  amount: '1000000000000000000',
  proposalId: 'J7hnWmUYE4S9vzhSoXxV+cAsKcXzKcMTgCh0wD3nq8E=',
  answer: 'Y',
  to: ACCOUNTS[0],
  'query.table': 'accounts',
  'query.key': ACCOUNTS[0],
  address: ACCOUNTS[0],
  validatorAddress: ACCOUNTS[0],
  hash: '0'.repeat(64),
}

/** An example value for a field that has none above, from its schema. */
function fallbackExample({ schema }: Field<unknown>): string {
  if (schema['anyOf'] !== undefined) return '1'
  return String(schema['pattern']).startsWith('^0x') ? ACCOUNTS[0] : 'text'
}

/**
 * The options of an operation's example: every required field, and the optional ones that have an example value of this
 * operation.
 */
export function exampleOptions(name: string, fields: Fields): string {
  return fieldOptions(fields)
    .flatMap(({ flag, path, required }) => {
      const own = EXAMPLE_VALUES[`${name}.${path.join('-')}`]
      if (!required && own === undefined) return []
      const [field = ''] = path
      return [`${flag} ${own ?? EXAMPLE_VALUES[field] ?? fallbackExample(fields[field] as Field<unknown>)}`]
    })
    .join(' ')
}

/** The sender in an operation's example: an account for which a devnet's gateway signs, and which may do this. */
export function exampleSender({ operation }: TxEntry): string {
  if (/^propose|^vote|^verify/.test(operation)) return ACCOUNTS[0]
  return /^accept|^withdraw/.test(operation) ? ACCOUNTS[2] : ACCOUNTS[1]
}
