import {
  type CommonFlags,
  type Configure,
  example,
  keystoreFrom,
  keystoreOption,
  nodeOption,
  nodeUrl,
  passwordOption,
  withCommon,
} from '../command.ts'
import { parseEndpoint, parseNetwork, parseStalledAfter, parseWhole } from '../settings.ts'

interface Flags extends CommonFlags {
  readonly node?: string
  readonly listen?: string
  readonly keystore?: string
  readonly unlock?: readonly string[]
  readonly passwordFile?: string
  readonly authTokenFile?: string
  readonly devnet?: boolean
  readonly allowHost?: readonly string[]
  readonly allowOrigin?: readonly string[]
  readonly stalledAfter?: string
  readonly rateLimit?: string
  readonly connections?: string
  readonly connectionsPerAddress?: string
  readonly trustProxy?: readonly string[]
}

const COUNT_MAX = 100_000

/** The limits that were given. Throws a UserError that names the flag. */
function limitsOf({ rateLimit, connections, connectionsPerAddress, trustProxy }: Flags) {
  return {
    ...(rateLimit === undefined ? {} : { callsPerSecond: parseWhole(rateLimit, '--rate-limit', [0, COUNT_MAX]) }),
    ...(connections === undefined ? {} : { connections: parseWhole(connections, '--connections', [1, COUNT_MAX]) }),
    ...(connectionsPerAddress === undefined
      ? {}
      : { connectionsOfAddress: parseWhole(connectionsPerAddress, '--connections-per-address', [1, COUNT_MAX]) }),
    ...(trustProxy === undefined ? {} : { trustProxies: trustProxy.map((one) => parseNetwork(one, '--trust-proxy')) }),
  }
}

const EXAMPLE =
  'svcd gateway --listen 127.0.0.1:9645 --unlock alice --password-file password.txt --auth-token-file token.txt'

/** `svcd gateway`. */
export const configure: Configure = (command, finish) => {
  withCommon(example(command, EXAMPLE))
    .addOption(nodeOption())
    .option('--listen <host:port>', 'where it listens (SVCD_LISTEN; default 127.0.0.1:8545)')
    .addOption(keystoreOption())
    .option(
      '--unlock <accounts...>',
      'accounts to sign for, by address or name; needs --auth-token-file; none unless given',
    )
    .option('--devnet', 'sign for the public accounts of a devnet, wherever it listens: anybody has their keys')
    .addOption(passwordOption())
    .option(
      '--auth-token-file <file>',
      'file with a token of 16 characters or more: who sends it may have it sign (SVCD_AUTH_TOKEN_FILE)',
    )
    .option(
      '--allow-host <names...>',
      'names that a Host header may have beside loopback and the address listened on; no others',
    )
    .option(
      '--allow-origin <origins...>',
      'origins whose pages may call, such as https://wallet.example; * is every one',
    )
    .option(
      '--stalled-after <time>',
      'refuse transactions when the last block is older, such as 30s; 0: never (SVCD_STALLED_AFTER; ' +
        'default 5 block intervals, 10s at least)',
      process.env['SVCD_STALLED_AFTER'],
    )
    .option('--rate-limit <calls>', 'calls a second from one address, counted over 10 s; 0 is no limit (default 500)')
    .option('--connections <count>', 'most connections at a time (default 1000)')
    .option('--connections-per-address <count>', 'most connections from one address at a time (default 100)')
    .option(
      '--trust-proxy <addresses...>',
      'reverse proxies, such as 10.0.0.5 or 10.0.0.0/8, whose X-Forwarded-For tells the caller',
    )
    .action(async (flags: Flags) => {
      const { runGateway } = await import('../gatewayServer.ts')
      finish(
        await runGateway({
          node: nodeUrl(flags),
          listen: parseEndpoint(flags.listen ?? process.env['SVCD_LISTEN'] ?? '127.0.0.1:8545', '--listen'),
          keystore: keystoreFrom(flags),
          unlock: flags.unlock ?? [],
          passwordFile: flags.passwordFile,
          devnet: flags.devnet === true,
          authTokenFile: flags.authTokenFile ?? process.env['SVCD_AUTH_TOKEN_FILE'],
          allowHosts: flags.allowHost ?? [],
          allowOrigins: flags.allowOrigin ?? [],
          limits: limitsOf(flags),
          stalledAfterMs: flags.stalledAfter === undefined ? undefined : parseStalledAfter(flags.stalledAfter),
        }),
      )
    })
}
