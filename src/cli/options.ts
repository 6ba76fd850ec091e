import { join } from 'node:path'
import { type Command, Option } from 'commander'
import type { TxEntry } from '../modules/define.ts'
import { type Field, type Fields, readFields } from '../tx/fields.ts'
import { UserError } from './errors.ts'
import { homeOf, parseEndpoint, printEndpoint, readConfig } from './settings.ts'

/**
 * Adds options, help and action to a command; the action hands its exit status to `finish`: 0 done, 1 failed, 2 wrong
 * usage.
 */
export type Configure = (command: Command, finish: (status: number) => void) => void

/** Flags of every command. */
export interface CommonFlags {
  readonly home?: string
  readonly json?: boolean
}

/** Flags of commands that ask a gateway. */
export interface GatewayFlags extends CommonFlags {
  readonly gateway?: string
  readonly authTokenFile?: string
}

/** Shows how a command is typed: the lines run as they are, against a devnet. A test runs them. */
export const example = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExample:\n${lines.map((line) => `  ${line}`).join('\n')}`)

/** `--home` and `--json`. */
export const withCommon = (command: Command): Command =>
  command
    .option('--home <dir>', 'where everything is kept (SVCD_HOME; default ~/.svcd)')
    .option('--json', 'print JSON for programs')

/** `--home`, `--json`, and which gateway is asked. */
export const withGateway = (command: Command): Command =>
  withCommon(command)
    .option('--gateway <url>', 'gateway to ask, URL or HOST:PORT (SVCD_GATEWAY; default http://127.0.0.1:8545)')
    .option('--auth-token-file <file>', "file with the gateway's token (SVCD_AUTH_TOKEN_FILE)")

/** `--keystore`. */
export const keystoreOption = (): Option =>
  new Option('--keystore <dir>', 'folder of key files (SVCD_KEYSTORE; default <home>/keystore)')

/** `--password-file`. */
export const passwordOption = (): Option =>
  new Option(
    '--password-file <file>',
    'file with the password (SVCD_PASSWORD_FILE; default: a prompt, or the next line of stdin)',
  )

/** `--node`. */
export const nodeOption = (): Option =>
  new Option('--node <url>', "CometBFT's RPC (SVCD_NODE; default http://127.0.0.1:26657)")

/** The home of the flags, else of SVCD_HOME, else ~/.svcd. */
export const homeFrom = ({ home }: CommonFlags): string => homeOf(home ?? process.env['SVCD_HOME'])

/** Folder of key files. */
export const keystoreFrom = (flags: CommonFlags & { readonly keystore?: string }): string =>
  flags.keystore ?? process.env['SVCD_KEYSTORE'] ?? join(homeFrom(flags), 'keystore')

/** A setting: the flag, else its SVCD_* variable, else `<home>/config/svcd.json`. */
export function settingOf(
  flags: CommonFlags,
  given: string | undefined,
  name: 'gateway' | 'node' | 'from',
): string | undefined {
  const value = given ?? process.env[`SVCD_${name.toUpperCase()}`] ?? readConfig(homeFrom(flags))[name]
  if (value !== undefined && typeof value !== 'string') throw new UserError(`config/svcd.json: ${name}: expected text`)
  return value
}

/** A URL as it was given, or that of HOST:PORT. Throws a UserError that names the flag. */
export function parseUrl(text: string, flag: string): string {
  if (!/^https?:\/\//.test(text)) return `http://${printEndpoint(parseEndpoint(text, flag))}`
  if (!URL.canParse(text)) throw new UserError(`${flag}: expected a URL or HOST:PORT, got ${JSON.stringify(text)}`)
  return text.replace(/\/+$/, '')
}

/** The node's RPC. */
export const nodeUrl = (flags: CommonFlags & { readonly node?: string }): string =>
  parseUrl(settingOf(flags, flags.node, 'node') ?? 'http://127.0.0.1:26657', '--node')

/** One option of a member, or of a member inside a member: `--description-name` of `description.name`. */
export interface MemberOption {
  readonly flag: string
  readonly path: readonly string[]
  readonly doc: string
  readonly required: boolean
}

/** `pubKey` as `pub-key`. */
export const kebab = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()

/**
 * The options of an input's members, in order. They come from the members alone: a new operation has its options by
 * itself.
 */
export function memberOptions(members: Fields): readonly MemberOption[] {
  return Object.entries(members).flatMap(([name, { fields, doc, optional }]): MemberOption[] => {
    if (fields === undefined) return [{ flag: `--${kebab(name)}`, path: [name], doc, required: !optional }]
    return Object.entries(fields).map(([part, inner]) => ({
      flag: `--${kebab(name)}-${kebab(part)}`,
      path: [name, part],
      doc: inner.doc,
      required: false,
    }))
  })
}

const optionOf = ({ flag, doc, required }: MemberOption): Option =>
  new Option(`${flag} <${flag.split('-').at(-1)}>`, required ? `${doc} (required)` : doc)

/** Adds an option for each member. */
export function addMemberOptions(command: Command, members: Fields): void {
  for (const option of memberOptions(members)) command.addOption(optionOf(option))
}

/** The members that the flags give, as the JSON object that a gateway takes. */
export function givenMembers(
  members: Fields,
  flags: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {}
  for (const option of memberOptions(members)) {
    const value = flags[optionOf(option).attributeName()]
    if (value === undefined) continue
    const [name = '', part] = option.path
    if (part === undefined) given[name] = value
    else given[name] = { ...(given[name] as object | undefined), [part]: value }
  }
  return given
}

/** Reads members as the chain does. Throws a UserError that names the option, for what no message can hold. */
export function readGiven(members: Fields, given: unknown): Readonly<Record<string, unknown>> {
  try {
    return readFields(members, given) as Readonly<Record<string, unknown>>
  } catch (error) {
    const { name, message } = error as Error
    if (name !== 'FieldError') throw error
    throw new UserError(message.replace(/^[A-Za-z0-9.]+/, (member) => `--${member.split('.').map(kebab).join('-')}`))
  }
}

/**
 * The first three accounts of every devnet: they stand in the examples, which so run as they are against `svcd devnet`.
 */
const ACCOUNTS = [
  '0x098a8672bc66ec7177f82cd529ed8e5bbdc28a27',
  '0xe3ec4a3291a2afef136a1f347e8f5a596ae48497',
  '0x71393e106f41647667d267fff96bc8baa7c98d56',
] as const

const FILES = '\'{"ubuntu":["https://files.example/lib.so"],"centos":["https://files.example/lib.so"]}\''
const MD5S = '\'{"ubuntu":"d41d8cd98f00b204e9800998ecf8427e","centos":"d41d8cd98f00b204e9800998ecf8427e"}\''

/** Values by `operation.member`, or by a member's name wherever it occurs. */
const VALUES: Readonly<Record<string, string>> = {
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

/** A value for a member that nobody wrote a sample for, by its schema. */
function plain({ schema }: Field<unknown>): string {
  if (schema['anyOf'] !== undefined) return '1'
  return String(schema['pattern']).startsWith('^0x') ? ACCOUNTS[0] : 'text'
}

/** The options of an example: every required member, and of the others those that a sample of this operation names. */
export function sampleOptions(name: string, members: Fields): string {
  return memberOptions(members)
    .flatMap(({ flag, path, required }) => {
      const own = VALUES[`${name}.${path.join('-')}`]
      if (!required && own === undefined) return []
      const [member = ''] = path
      return [`${flag} ${own ?? VALUES[member] ?? plain(members[member] as Field<unknown>)}`]
    })
    .join(' ')
}

/** Who sends in an example: an account that a devnet's gateway signs for and that may do this. */
export function sampleSender({ operation }: TxEntry): string {
  if (/^propose|^vote|^verify/.test(operation)) return ACCOUNTS[0]
  return /^accept|^withdraw/.test(operation) ? ACCOUNTS[2] : ACCOUNTS[1]
}
