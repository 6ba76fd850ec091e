import { existsSync, statfsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '../comet/errors.ts'
import { hasRemoteSigner, lastConsensusFailure, signedHeight, signingFiles } from '../comet/home.ts'
import type { NodeRpc, NodeStatus } from '../comet/rpc.ts'
import { stalledAfterMs, stallReason } from '../gateway/http/health.ts'
import { openConnection } from '../base/sqlite.ts'
import { chainVersionAt, whyRefused } from '../node/chainVersion.ts'
import { programVersionOf } from '../node/programVersion.ts'
import { printHash, readVerifiedState } from '../node/stateFile.ts'

/** The result of a check. `ok`: all is well. `note`: worth knowing. `bad`: a problem, and `found` says what to do. */
export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'note' | 'bad'
  readonly found: string
}

/** What a check finds. An error that it throws is a problem. */
export function examined<Found>(check: string, look: () => Found): Found | Finding {
  try {
    return look()
  } catch (error) {
    return { check, verdict: 'bad', found: reasonOf(error) }
  }
}

const MIB = 1024 * 1024

/** Below this many free bytes a disk counts as full: SQLite's write-ahead log alone grows that large. */
const FULL_BYTES = 64 * MIB

/** Below this many free bytes the doctor gives a warning. */
const LOW_BYTES = 1024 * MIB

/** Checks the free space on the disk of a home. Finds nothing without a home, or when its file system does not tell. */
export function examineDisk(home: string): readonly Finding[] {
  let free: number
  try {
    const { bavail, bsize } = statfsSync(home)
    free = bavail * bsize
  } catch {
    return []
  }
  const found = `${Math.floor(free / MIB)} MiB are free on the disk of ${home}`
  if (free < FULL_BYTES)
    return [{ check: 'disk', verdict: 'bad', found: `${found}: free some space, then start the node again` }]
  return [{ check: 'disk', verdict: free < LOW_BYTES ? 'note' : 'ok', found }]
}

/** How far the time of the newest block may be ahead of this machine's clock, in ms. */
export const AHEAD_MS_MAX = 2000

/** How long to wait for a block when the last one seems old, in ms. This machine's clock may be wrong. */
const WATCH_MS = 3000
const PAUSE_MS = 250

/** Looks in the home of a node for the reason why its chain makes no blocks; empty when there is none. */
export function stallCauses(home: string): string {
  const failure = lastConsensusFailure(home)
  const disk = examineDisk(home).find(({ verdict }) => verdict === 'bad')
  return [failure === undefined ? [] : `CometBFT's consensus failed: ${failure}`, disk?.found ?? []].flat().join('; ')
}

async function isMoving(rpc: NodeRpc, height: number): Promise<boolean> {
  for (const endMs = performance.now() + WATCH_MS; performance.now() < endMs; await sleep(PAUSE_MS)) {
    if ((await rpc.status()).latestHeight > height) return true
  }
  return false
}

/** Checks whether blocks arrive, and if not, why. Finds nothing while a node catches up or its chain has not begun. */
export async function examineBlocks(
  rpc: NodeRpc,
  { latestHeight: height, latestTimeMs, catchingUp }: NodeStatus,
  home: string,
): Promise<readonly Finding[]> {
  if (catchingUp || height === 0) return []
  const before = await rpc.block(height - 1).catch(() => undefined)
  const stalledMs = Date.now() - latestTimeMs
  const limitMs = stalledAfterMs(before === undefined ? [] : [latestTimeMs - before.timeMs])
  const isBehind = stalledMs < -AHEAD_MS_MAX
  const found = `the last one is ${height}`
  if ((stalledMs < limitMs && !isBehind) || (await isMoving(rpc, height)))
    return [{ check: 'blocks', verdict: 'ok', found }]
  if (isBehind) {
    const unknown = `${found}; how old it is cannot be told, because its time is ahead of this machine's clock`
    return [{ check: 'blocks', verdict: 'note', found: unknown }]
  }
  const why =
    stallCauses(home) ||
    'Either validators with a third of the voting power are offline, or CometBFT has failed and its log says ' +
      'CONSENSUS FAILURE'
  return [{ check: 'blocks', verdict: 'bad', found: `${stallReason({ stalledMs, height })}. ${why}` }]
}

/**
 * Finds a key that has signed above the height of its node, which then signs nothing. Where a chain started over, its only
 * validator waits so for ever.
 */
export async function examineSigning(home: string, rpc: Pick<NodeRpc, 'status'>): Promise<readonly Finding[]> {
  const { validatorKey, validatorState } = signingFiles(home)
  if (!existsSync(validatorKey) || !existsSync(validatorState) || hasRemoteSigner(home)) return []
  const check = 'signing'
  const signed = examined(check, () => signedHeight(home))
  if (typeof signed !== 'number') return [] // `signing state` tells of a damaged file.
  // In this order: a node that makes blocks has signed further than it said a moment ago.
  const { latestHeight, catchingUp } = await rpc.status()
  if (catchingUp || signed <= latestHeight + 1) return []
  const found = `the key signed last at height ${signed}, and the node is at ${latestHeight}: it signs no block up to there`
  const remedy = 'If the chain starts over, stop it and run svcd reset --signing-state'
  return [{ check, verdict: 'bad', found: `${found}. ${remedy}` }]
}

function sqliteFinding(path: string): Finding {
  const connection = openConnection(path, { readonly: true })
  try {
    const pragma = (name: string): string => String(connection.db.pragma(name, { simple: true }))
    const check = connection.db.pragma('quick_check(1)') as readonly { readonly quick_check: string }[]
    const isSound = check.length === 1 && check[0]?.quick_check === 'ok'
    const found = `journal_mode ${pragma('journal_mode')}, synchronous ${pragma('synchronous')}, quick_check ${isSound ? 'ok' : 'failed'}`
    if (isSound) return { check: 'SQLite', verdict: 'ok', found }
    return { check: 'SQLite', verdict: 'bad', found: `${found}: ${path} is damaged. Run svcd reset and sync again` }
  } finally {
    connection.close()
  }
}

const appHashFinding = (path: string): Finding => ({
  check: 'app hash',
  verdict: 'ok',
  found: readVerifiedState(
    path,
    (state) =>
      `${printHash(state.appHash())} at height ${state.height()} of ${state.chainId()}, recomputed from the rows`,
  ),
})

/** Compares the program version that this release runs in a home, which may be `given`, with the chain's. */
export const examineProgram = (home: string, given: number | undefined): Finding =>
  examined('program', (): Finding => {
    const check = 'program'
    const runs = programVersionOf(home, given)
    const chain = chainVersionAt(home)
    const why = whyRefused(home, runs, chain)
    if (why !== undefined) return { check, verdict: 'bad', found: why }
    const at = chain.from === 'state' ? `the chain is at version ${chain.version}` : 'this home has no state yet'
    return { check, verdict: 'ok', found: `this release runs version ${runs}, and ${at}` }
  })

/** Checks the SQLite settings of a state, and recomputes its app hash from every row. */
export const examineState = (path: string): readonly Finding[] =>
  existsSync(path)
    ? [examined('SQLite', () => sqliteFinding(path)), examined('app hash', () => appHashFinding(path))]
    : [{ check: 'state', verdict: 'note', found: `${path} does not exist yet` }]
