import { type Command, Option } from 'commander'
import { join } from 'node:path'
import { readConfig } from './config.ts'
import { homeOf, parseEndpoint, printEndpoint } from './settings.ts'
import { UserError } from './userError.ts'

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
