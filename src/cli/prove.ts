import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../base/folder.ts'
import { Svc, type SvcVerified } from '../client/index.ts'
import { findCometBft } from '../comet/find.ts'
import { type LightProxy, startLightProxy, type TrustedHeader } from '../comet/light.ts'
import { reasonOf } from '../comet/errors.ts'
import { isHeaderExpired } from '../comet/messages.ts'
import { type NodeRpc, openNodeRpc } from '../comet/rpc.ts'
import type { Proven, ProveFlags } from './commands/query.ts'
import { Failed, UserError } from '../node/errors.ts'
import { boundedFetch, gatewayFrom } from './gatewayClient.ts'
import { assertOwnHome, nodeUrl, parseUrl } from './options.ts'
import { note, progressOn } from './output.ts'
import { measureTrustPeriod, trustedHeaderFrom } from './trust.ts'

/** The head of a node, as the node claims. */
async function headOf(rpc: NodeRpc): Promise<TrustedHeader & { readonly chainId: string }> {
  const { chainId, latestHeight } = await rpc.status()
  // The chain id names a folder, so it must not lead elsewhere.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(chainId))
    throw new Failed(
      `--prove: ${rpc.url} has the unusual chain id ${JSON.stringify(chainId.slice(0, 80))}, which is refused`,
    )
  if (latestHeight === 0) throw new Failed(`--prove: the node at ${rpc.url} has no block yet`)
  return { chainId, height: latestHeight, hash: (await rpc.block(latestHeight)).hash }
}

/** Throws a UserError unless the node has a header of this height: the light client does not say which ones it has. */
async function needHeader(rpc: NodeRpc, height: number): Promise<void> {
  await rpc.blockTime(height).catch((error: unknown) => {
    throw new UserError(`--trust-height: ${rpc.url}: ${reasonOf(error)}`)
  })
}

/** Chooses the header to start from: the given one, else none if the folder has headers, else that of the node. */
async function chooseTrust(
  flags: ProveFlags,
  folder: string,
  rpc: NodeRpc,
  head: TrustedHeader,
): Promise<TrustedHeader | undefined> {
  const given = trustedHeaderFrom(flags)
  if (given !== undefined) await needHeader(rpc, given.height)
  if (given !== undefined || existsSync(folder)) return given
  if (flags.trustFirst !== true) {
    throw new UserError(
      '--prove: no header of this chain is trusted yet. Name one that you know to be right with --trust-height and ' +
        `--trust-hash, or trust the one of ${rpc.url} this once with --trust-first`,
    )
  }
  note(`trusting header ${head.height} ${head.hash} because ${rpc.url} says so; nothing has verified it`)
  return head
}

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Where the headers of before are during a beginning. No chain id has this character, so it is no chain's own folder. */
const beforeOf = (folder: string): string => `${folder}~`

/** Takes back a beginning that has not come to its end, perhaps that of a program that was killed. */
function undoBeginning(folder: string): void {
  const before = beforeOf(folder)
  if (!existsSync(before)) return
  remove(folder)
  if (readdirSync(before).length === 0) remove(before)
  else renameSync(before, folder)
}

/** Starts with an empty folder, but restores its contents when that fails: a mistyped hash costs no trusted header. */
async function beginAnew(folder: string, start: () => Promise<LightProxy>): Promise<LightProxy> {
  const before = beforeOf(folder)
  if (existsSync(folder)) renameSync(folder, before)
  else ensureFolder(before)
  ensureFolder(folder)
  try {
    const light = await start()
    remove(before)
    return light
  } catch (error) {
    undoBeginning(folder)
    throw error
  }
}

async function startLight(flags: ProveFlags): Promise<LightProxy & { readonly folder: string }> {
  const node = nodeUrl(flags)
  const witnesses = (flags.witness ?? []).map((url) => parseUrl(url, '--witness'))
  if (witnesses.every((url) => url === node)) {
    note(`no --witness was given, so nothing checks whether ${node} shows the same chain to others`)
  }
  const primary = openNodeRpc(node)
  const nodes = [primary, ...witnesses.map((url) => openNodeRpc(url))]
  try {
    const { chainId, ...head } = await headOf(primary)
    const folder = join(flags.home, 'light', chainId)
    undoBeginning(folder)
    const trust = await chooseTrust(flags, folder, primary, head)
    const { path: program } = await findCometBft({ onProgress: progressOn(process.stderr) })
    const options = {
      program,
      folder,
      chainId,
      primary: node,
      witnesses: witnesses.length === 0 ? [node] : witnesses,
      trustPeriodMs: await measureTrustPeriod(nodes),
    }
    const light =
      trust === undefined
        ? await startLightProxy(options)
        : await beginAnew(folder, () => startLightProxy({ ...options, trust }))
    return { ...light, folder }
  } finally {
    for (const rpc of nodes) rpc.close()
  }
}

/**
 * Answers a query with rows that are proven against a header verified by `cometbft light`. The light client runs for as
 * long as this takes and keeps its headers in `<home>/light/<chain id>`. Throws a Failed when the proof fails, and a
 * UserError for bad flags.
 */
export async function prove(flags: ProveFlags, ask: (verified: SvcVerified) => Promise<Proven>): Promise<Proven> {
  assertOwnHome(flags.home, 'query --prove')
  const { url, token } = gatewayFrom(flags)
  // A signal would end the program without its exit handlers, and the light client would be left running.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const { folder, ...light } = await startLight(flags)
  try {
    const svc = new Svc({ url, light: light.url, fetch: boundedFetch, ...(token === undefined ? {} : { token }) })
    const proven = await ask(svc.verified)
    if (light.isRunning()) return proven
    throw new Failed(`the light client ended while it was asked: see ${join(folder, 'light.log')}`)
  } catch (error) {
    const { name, message } = error as Error
    if (name === 'SvcRpcError') throw new Failed(message)
    if (name !== 'SvcProofError') throw error
    const answer = { verified: false, error: { message } }
    const next = isHeaderExpired(message)
      ? '; they are too old for this chain: name a newer one with --trust-height and --trust-hash'
      : ''
    throw new Failed(`${message} (the headers trusted so far are in ${folder}${next})`, answer)
  } finally {
    await light.stop()
  }
}
