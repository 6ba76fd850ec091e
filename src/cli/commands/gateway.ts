import { setTimeout as sleep } from 'node:timers/promises'
import { PORTS } from '../../base/ports.ts'
import { checkSigning } from '../../gateway/http/access.ts'
import { type Gateway, startGateway } from '../../gateway/gateway.ts'
import { HTTP_LIMITS } from '../../gateway/http/limits.ts'
import { findKey } from '../../keys/files.ts'
import type { Signer } from '../../tx/sign.ts'
import { devnetSigners } from '../devnet/chain.ts'
import { Failed, UserError } from '../../node/errors.ts'
import {
  commonOptions,
  type Configure,
  type FlagsOf,
  keystoreFrom,
  keystoreOption,
  metricsOption,
  nodeOption,
  nodeUrl,
  noPageOption,
  option,
  pageFrom,
  parseUrl,
  passwordOption,
  settingOf,
  withOptions,
} from '../options.ts'
import { listenError } from '../../node/listenError.ts'
import { openLog } from '../../node/log.ts'
import { logOptions } from '../logOptions.ts'
import { say } from '../output.ts'
import { boundHeap, collectWhenQuiet, stopSignal } from '../../node/runtime.ts'
import { openSigner } from '../keySigner.ts'
import { firstLine, readSecret, secretLines } from '../secrets.ts'
import { serveMetrics } from '../serveMetrics.ts'
import {
  parseEndpoint,
  parseHostName,
  parseNetwork,
  parseOrigin,
  parseStalledAfter,
  parseWhole,
  printEndpoint,
} from '../../node/settings.ts'

const COUNT_MAX = 100_000

/** What a gateway takes beside the node that it asks. */
export const serveOptions = [
  ...commonOptions,
  option('--listen <host:port>', 'where the gateway listens', {
    env: 'SVCD_LISTEN',
    parse: parseEndpoint,
    fallback: `127.0.0.1:${PORTS.gateway}`,
  }),
  keystoreOption,
  option(
    '--unlock <accounts...>',
    'accounts to sign for, by address or key name; needs --auth-token-file (default: none)',
  ),
  option('--devnet', 'sign for the public accounts of a devnet, whose keys anybody has, at any address'),
  passwordOption,
  option(
    '--auth-token-file <file>',
    'file that holds a token of at least 16 characters; the gateway signs for callers who send it',
    { env: 'SVCD_AUTH_TOKEN_FILE' },
  ),
  option(
    '--allow-host <names...>',
    'names that are accepted in a Host header beside loopback and the address of --listen',
    { parse: parseHostName },
  ),
  option(
    '--allow-origin <origins...>',
    'origins whose pages may call the gateway, such as https://wallet.example; loopback allows those of this ' +
      'machine, and * allows all (default: loopback with --devnet, else none)',
    { parse: parseOrigin },
  ),
  noPageOption,
  option('--light <url>', 'a `cometbft light` proxy that pages of the gateway may ask at POST /light (default: none)', {
    env: 'SVCD_LIGHT',
  }),
  option(
    '--stalled-after <time>',
    'refuse transactions when the last block is older than this, such as 30s; 0 for never ' +
      '(default: 5 block intervals, but at least 10s)',
    { env: 'SVCD_STALLED_AFTER', parse: parseStalledAfter },
  ),
  option('--rate-limit <calls>', 'most calls per second from one address, averaged over 10 s; 0 for no limit', {
    parse: parseWhole([0, COUNT_MAX]),
    fallback: String(HTTP_LIMITS.callsPerSecond),
  }),
  option('--connections <count>', 'most connections at once', {
    parse: parseWhole([1, COUNT_MAX]),
    fallback: String(HTTP_LIMITS.connections),
  }),
  option('--connections-per-address <count>', 'most connections from one address at once', {
    parse: parseWhole([1, COUNT_MAX]),
    fallback: String(HTTP_LIMITS.connectionsOfAddress),
  }),
  option(
    '--trust-proxy <addresses...>',
    'reverse proxies, such as 10.0.0.5 or 10.0.0.0/8, whose X-Forwarded-For header is believed',
    { parse: parseNetwork },
  ),
  metricsOption('SVCD_GATEWAY_METRICS'),
  ...logOptions,
] as const

const options = [...serveOptions, nodeOption] as const

type Flags = FlagsOf<typeof options>

/**
 * Reads the passwords in a file: one for all accounts, or a line for each in the order of `--unlock`. Throws a
 * UserError.
 */
function passwordsIn(path: string, count: number): readonly string[] {
  const lines = [...secretLines(path, '--password-file')]
  while (lines.at(-1) === '') lines.pop()
  if (lines.length !== 1 && lines.length !== count) {
    throw new UserError(
      `--password-file: expected one line, or ${count} lines for the accounts of --unlock, got ${lines.length}`,
    )
  }
  return Array.from({ length: count }, (_, at) => (lines.length === 1 ? lines[0] : lines[at]) as string)
}

function lightUrl(flags: Flags): string | undefined {
  const given = settingOf(flags, 'light')
  const url = given === undefined ? undefined : parseUrl(given, '--light')
  if (url?.startsWith('https:'))
    throw new UserError(`--light: expected http://HOST:PORT, which is what \`cometbft light\` serves, got ${url}`)
  return url
}

/** The signers of the accounts of `--unlock`, in their order. */
async function unlock(flags: Flags): Promise<readonly Signer[]> {
  const keys = (flags.unlock ?? []).map((account) => findKey(keystoreFrom(flags), account))
  const { passwordFile: file } = flags
  const passwords = file === undefined || keys.length === 0 ? [] : passwordsIn(file, keys.length)
  const signers: Signer[] = []
  for (const [at, key] of keys.entries()) {
    const request = {
      what: `password of ${key.name}`,
      file: undefined,
      flag: '--password-file',
      more: at + 1 < keys.length,
    }
    signers.push(openSigner(key, passwords[at] ?? (await readSecret(request))))
  }
  return signers
}

const PAUSE_MS = 250

/** A gateway that is not ready for so long says why, and that it waits. */
const QUIET_MS = 2000

/** Says that the gateway is ready once /readyz would; before that why it is not, when it takes a while. */
async function sayWhenReady({ readiness }: Gateway, about: string, signal: AbortSignal): Promise<void> {
  const begunMs = performance.now()
  let said = ''
  while (!signal.aborted) {
    const answer = await readiness()
    if (answer.ready) return say(`gateway ready: ${about}`)
    // Ages and heights, which count on, are no news.
    const news = answer.reason.replaceAll(/\d+/g, '')
    if (news !== said && performance.now() - begunMs >= QUIET_MS) {
      if (said === '') say(`gateway listens: ${about}`)
      say(`not ready yet: ${answer.reason}`)
      said = news
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Runs a gateway until `stopped`. Throws a Failed when the chain behind its node is another one than before. */
export async function runGateway(flags: Flags, stopped: Promise<unknown>): Promise<void> {
  const { listen, authTokenFile, devnet: publicKeys = false } = flags
  const accounts = flags.unlock?.length ?? 0
  const node = nodeUrl(flags)
  if (publicKeys && accounts > 0)
    throw new UserError('--devnet and --unlock cannot be combined, because public accounts need no token')
  const authToken = authTokenFile === undefined ? undefined : firstLine(authTokenFile, '--auth-token-file')
  // Checked before any password is asked for.
  checkSigning({ accounts, authToken, publicKeys: false })
  const light = lightUrl(flags)
  // A password may never be typed.
  const signers = publicKeys ? devnetSigners() : await Promise.race([stopped.then(() => undefined), unlock(flags)])
  if (signers === undefined) return
  boundHeap()
  collectWhenQuiet()
  const gateway = await startGateway({
    node,
    ...listen,
    signers,
    authToken,
    publicKeys,
    allowHosts: flags.allowHost ?? [],
    allowOrigins: flags.allowOrigin ?? (publicKeys ? ['loopback'] : []),
    limits: {
      callsPerSecond: flags.rateLimit,
      connections: flags.connections,
      connectionsOfAddress: flags.connectionsPerAddress,
      trustProxies: flags.trustProxy ?? [],
    },
    stalledAfterMs: flags.stalledAfter,
    ...pageFrom(flags),
    light,
    logger: openLog(flags),
  }).catch(async (error: unknown) => {
    throw await listenError(error, `cannot listen on ${printEndpoint(listen)}`, listen)
  })
  const served = flags.metrics === undefined ? undefined : await serveMetrics(flags.metrics, gateway.metrics)
  const addresses = signers.map(({ address }) => address).join(', ')
  const about = `${gateway.url}, node ${node}, signs for ${addresses === '' ? 'no account' : addresses}`
  const stopping = new AbortController()
  void sayWhenReady(gateway, about, stopping.signal)
  if (gateway.pageUrl !== undefined) say(`page: ${gateway.pageUrl}`)
  try {
    await Promise.race([stopped, gateway.ended])
  } catch (error) {
    throw new Failed(`${node}: ${(error as Error).message}. Start the gateway again, and it serves that one`)
  } finally {
    stopping.abort()
    served?.close()
    await gateway.close()
  }
}

const EXAMPLE =
  'svcd gateway --listen 127.0.0.1:9645 --unlock alice --password-file password.txt --auth-token-file token.txt'

/** Configures `svcd gateway`. */
export const configure: Configure = (command) => {
  withOptions(command, EXAMPLE, options).action((flags: Flags) => runGateway(flags, stopSignal()))
}
