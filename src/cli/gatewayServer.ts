import { readFileSync } from 'node:fs'
import { startGateway } from '../gateway/gateway.ts'
import type { HttpLimits } from '../gateway/http.ts'
import { checkSigning } from '../gateway/access.ts'
import { findKey } from '../keys/files.ts'
import { openKeystore } from '../keys/keystore.ts'
import { type Signer, signerOfSeed } from '../tx/sign.ts'
import { devnetSigners } from './devnet/genesis.ts'
import { asFailed } from './keystoreFailure.ts'
import { openLog } from './log.ts'
import { boundHeap, collectWhenQuiet } from './heap.ts'
import { say } from './output.ts'
import { firstLine } from './remote.ts'
import { passwordFile, readSecret } from './secrets.ts'
import { type Endpoint, printEndpoint } from './settings.ts'
import { UserError } from './userError.ts'

/** What `svcd gateway` is told. */
export interface GatewayCommand {
  readonly node: string
  readonly listen: Endpoint
  readonly keystore: string
  /** Addresses or names, in the order in which svc_accounts answers them. */
  readonly unlock: readonly string[]
  readonly passwordFile: string | undefined
  /** Signs for the accounts of the public mnemonic, and for no other. */
  readonly devnet: boolean
  readonly authTokenFile: string | undefined
  readonly allowHosts: readonly string[]
  readonly allowOrigins: readonly string[]
  /** See GatewayOptions. */
  readonly stalledAfterMs: number | undefined
  readonly limits: Partial<HttpLimits>
}

/**
 * The passwords in a file: one for all accounts, or a line for each, in the order of `--unlock`. Throws a UserError.
 */
function passwordsIn(path: string, count: number): readonly string[] {
  firstLine(path, '--password-file')
  const lines = readFileSync(path, 'utf8').split(/\r?\n/)
  while (lines.at(-1) === '') lines.pop()
  if (lines.length !== 1 && lines.length !== count) {
    throw new UserError(
      `--password-file: expected one line, or ${count} for the accounts of --unlock, got ${lines.length}`,
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

/** Runs a gateway until SIGINT, SIGTERM or SIGHUP. Throws user errors, and a Failed for a key that does not open. */
export async function runGateway(command: GatewayCommand): Promise<number> {
  const { node, listen, allowHosts, allowOrigins, authTokenFile, devnet, limits, stalledAfterMs } = command
  if (devnet && command.unlock.length > 0)
    throw new UserError('--devnet: goes without --unlock, as public accounts need no token')
  const authToken = authTokenFile === undefined ? undefined : firstLine(authTokenFile, '--auth-token-file')
  // Before any password is asked for: a gateway that may not start should not take its time.
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
  say(`gateway ready: ${gateway.url}, node ${node}, signs for ${accounts === '' ? 'nobody' : accounts}`)
  await stopped
  await gateway.close()
  return 0
}
