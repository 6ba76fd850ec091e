import { readFileSync } from 'node:fs'
import { PORTS } from '../../base/ports.ts'
import { checkSigning } from '../../gateway/access.ts'
import { startGateway } from '../../gateway/gateway.ts'
import type { HTTP_LIMITS } from '../../gateway/limits.ts'
import { findKey } from '../../keys/files.ts'
import { openKeystore } from '../../keys/keystore.ts'
import { type Signer, signerOfSeed } from '../../tx/sign.ts'
import { devnetSigners } from '../devnet/home.ts'
import { asFailed, UserError } from '../errors.ts'
import { boundHeap, collectWhenQuiet } from '../heap.ts'
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
} from '../options.ts'
import { say } from '../output.ts'
import { firstLine, passwordFile, readSecret } from '../secrets.ts'
import {
  type Endpoint,
  parseEndpoint,
  parseNetwork,
  parseStalledAfter,
  parseWhole,
  printEndpoint,
} from '../settings.ts'
import { openLog } from '../telemetry.ts'

/** Options of `runGateway`. */
export interface GatewayCommand {
  readonly node: string
  readonly listen: Endpoint
  readonly keystore: string
  /** Addresses or names of keys, in the order in which svc_accounts lists them. */
  readonly unlock: readonly string[]
  readonly passwordFile: string | undefined
  /** Sign for the accounts of the public mnemonic, and for no others. */
  readonly devnet: boolean
  readonly authTokenFile: string | undefined
  readonly allowHosts: readonly string[]
  readonly allowOrigins: readonly string[]
  /** See GatewayOptions. */
  readonly stalledAfterMs: number | undefined
  readonly limits: Partial<typeof HTTP_LIMITS>
}

/**
 * Reads the passwords in a file: one for all accounts, or a line for each in the order of `--unlock`. Throws a
 * UserError.
 */
function passwordsIn(path: string, count: number): readonly string[] {
  firstLine(path, '--password-file')
  const lines = readFileSync(path, 'utf8').split(/\r?\n/)
  while (lines.at(-1) === '') lines.pop()
  if (lines.length !== 1 && lines.length !== count) {
    throw new UserError(
      `--password-file: expected one line, or ${count} lines for the accounts of --unlock, got ${lines.length}`,
    )
  }
  return Array.from({ length: count }, (_, at) => (lines.length === 1 ? lines[0] : lines[at]) as string)
}

async function unlock({ keystore, unlock: accounts, passwordFile: given }: GatewayCommand): Promise<readonly Signer[]> {
  const file = passwordFile(given)
  const found = accounts.map((account) => asFailed(() => findKey(keystore, account)))
  const passwords = file === undefined || found.length === 0 ? undefined : passwordsIn(file, found.length)
  const signers: Signer[] = []
  for (const [at, { name, keystore: sealed }] of found.entries()) {
    const more = at + 1 < found.length
    const password =
      passwords?.[at] ??
      (await readSecret({ what: `password of ${name}`, file: undefined, flag: '--password-file', more }))
    signers.push(signerOfSeed(asFailed(() => openKeystore(sealed, password))))
  }
  return signers
}

/**
 * Runs a gateway until SIGINT, SIGTERM or SIGHUP. Throws user errors, and a Failed for a key that cannot be unlocked.
 */
export async function runGateway(command: GatewayCommand): Promise<number> {
  const { node, listen, allowHosts, allowOrigins, authTokenFile, devnet, limits, stalledAfterMs } = command
  if (devnet && command.unlock.length > 0)
    throw new UserError('--devnet and --unlock cannot be combined, because public accounts need no token')
  const authToken = authTokenFile === undefined ? undefined : firstLine(authTokenFile, '--auth-token-file')
  // Checked before any password is asked for.
  checkSigning({ accounts: command.unlock.length, authToken, publicKeys: false })
  const signers = devnet ? devnetSigners() : await unlock(command)
  const stopped = new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => done())
  })
  boundHeap()
  collectWhenQuiet()
  const logger = openLog(2)
  const options = {
    node,
    ...listen,
    signers,
    authToken,
    publicKeys: devnet,
    allowHosts,
    allowOrigins,
    limits,
    stalledAfterMs,
    logger,
  }
  const gateway = await startGateway(options).catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException
    throw code === undefined ? error : new UserError(`cannot listen on ${printEndpoint(listen)}: ${message}`)
  })
  const accounts = signers.map(({ address }) => address).join(', ')
  say(`gateway ready: ${gateway.url}, node ${node}, signs for ${accounts === '' ? 'no account' : accounts}`)
  await stopped
  await gateway.close()
  return 0
}

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

/** Reads the flags that set limits. Throws a UserError that names the flag. */
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

const LISTEN = `127.0.0.1:${PORTS.gateway}`

const EXAMPLE =
  'svcd gateway --listen 127.0.0.1:9645 --unlock alice --password-file password.txt --auth-token-file token.txt'

/** Configures `svcd gateway`. */
export const configure: Configure = (command, finish) => {
  withCommon(example(command, EXAMPLE))
    .addOption(nodeOption())
    .option('--listen <host:port>', `where the gateway listens (SVCD_LISTEN; default ${LISTEN})`)
    .addOption(keystoreOption())
    .option(
      '--unlock <accounts...>',
      'accounts to sign for, by address or key name; needs --auth-token-file (default: none)',
    )
    .option('--devnet', 'sign for the public accounts of a devnet, whose keys anybody has, at any address')
    .addOption(passwordOption())
    .option(
      '--auth-token-file <file>',
      'file that holds a token of at least 16 characters; the gateway signs for callers who send it (SVCD_AUTH_TOKEN_FILE)',
    )
    .option(
      '--allow-host <names...>',
      'names that are accepted in a Host header beside loopback and the address of --listen',
    )
    .option(
      '--allow-origin <origins...>',
      'origins whose pages may call the gateway, such as https://wallet.example; * allows all',
    )
    .option(
      '--stalled-after <time>',
      'refuse transactions when the last block is older than this, such as 30s; 0 for never (SVCD_STALLED_AFTER; ' +
        'default: 5 block intervals, but at least 10s)',
      process.env['SVCD_STALLED_AFTER'],
    )
    .option(
      '--rate-limit <calls>',
      'most calls per second from one address, averaged over 10 s; 0 for no limit (default 500)',
    )
    .option('--connections <count>', 'most connections at once (default 1000)')
    .option('--connections-per-address <count>', 'most connections from one address at once (default 100)')
    .option(
      '--trust-proxy <addresses...>',
      'reverse proxies, such as 10.0.0.5 or 10.0.0.0/8, whose X-Forwarded-For header is believed',
    )
    .action(async (flags: Flags) => {
      finish(
        await runGateway({
          node: nodeUrl(flags),
          listen: parseEndpoint(flags.listen ?? process.env['SVCD_LISTEN'] ?? LISTEN, '--listen'),
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
