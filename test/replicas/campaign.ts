import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { createFrameReader } from '../../src/abci/frame.ts'
import type { RequestKind } from '../../src/abci/types.ts'
import { createReplyBuffer } from '../../src/abci/wire.ts'
import { accounts } from '../../src/modules/accounts/keeper.ts'
import { programVersion } from '../../src/modules/chain/keeper.ts'
import { requestFrame } from '../abci/peer.ts'
import { random } from '../chain/support.ts'
import { type RecordedChain, startRecordedChain } from '../sim/recordedChain.ts'
import { ACCOUNTS, type Random, randomAbsent, randomEvidence, randomTx } from '../sim/traffic.ts'
import { Broken, type CampaignOptions, type CampaignReport, campaignReport } from '../support/campaign.ts'
import { memoryFolder, tempFolder } from '../support/tempFolder.ts'
import { account } from '../support/testChain.ts'
import type { Setting } from './application.ts'
import { buildProgram, type Fault } from './program.ts'
import { type Block, Replica } from './replica.ts'

/** Heights of one chain. */
const CHAIN_HEIGHTS = 2_000
/** Blocks that are handed to the replicas together, and how many such batches they may be behind. */
const BATCH = 50
const BATCHES_AHEAD = 4
const TXS_MAX = 8
/** One of so many proposals to retire the program stays: each that is approved starts all processes anew. */
const RETIREMENTS = 5
/** Somebody is absent in one of so many blocks, and every key is some node's: that keeps the validator set large. */
const ABSENCES = 3

/** What nobody may notice: where a replica runs, in which language, for which system, with how many threads. */
const SURROUNDINGS: readonly Omit<Setting, 'node'>[] = [
  {
    env: { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
    flags: ['--os', 'ubuntu', '--verify-threads', '0', '--snapshot-interval', '0'],
  },
  {
    env: { TZ: 'America/St_Johns', LANG: 'C', LC_ALL: 'C' },
    flags: ['--os', 'centos', '--verify-threads', '0', '--snapshot-interval', '300'],
  },
  {
    env: { TZ: 'UTC', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
    flags: ['--os', 'ubuntu', '--verify-threads', '1', '--snapshot-interval', '0'],
  },
]

/** What a program tells of its version, zone and language. */
function tellSurroundings({ node, env }: Setting): readonly [version: string, ...rest: string[]] {
  const script = `const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions()
    process.stdout.write(JSON.stringify([process.versions.node, timeZone, locale]))`
  const options = { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', ...env } } as const
  return JSON.parse(execFileSync(node, ['-e', script], options)) as [string, string, string]
}

/** The replicas' settings. Throws when two of them have the same time zone or language after all. */
function settingsOn(nodes: readonly string[]): readonly Setting[] {
  const settings = SURROUNDINGS.map((one, at) => ({ ...one, node: nodes[at % nodes.length] as string }))
  const told = settings.map(tellSurroundings)
  for (const at of [1, 2])
    if (new Set(told.map((one) => one[at])).size < settings.length)
      throw new Error(`two replicas have the same surroundings: ${told.join(' ')}`)
  return settings.map((one, at) => ({ ...one, env: { ...one.env, NODE_VERSION: (told[at] as [string])[0] } }))
}

/** The bytes of a reply, without the length before them. */
function replyOf(kind: RequestKind, response: unknown): Buffer {
  const replies = createReplyBuffer()
  replies.put(kind, response)
  const reader = createFrameReader()
  reader.push(Buffer.from(replies.take()))
  return reader.next() as Buffer
}

/** Executes a random block in this process, mostly of a few transactions. */
function makeBlock(next: Random, { chain, lastBlock }: RecordedChain): Block {
  const nonces = new Map<string, number>(
    Array.from({ length: ACCOUNTS }, (_, at) => {
      const { address } = account(at + 1)
      return [address, chain.store.get(accounts, { address })?.nonce ?? 0]
    }),
  )
  const made = Array.from({ length: next(20) === 0 ? TXS_MAX : next(4) }, () => randomTx(next, chain, nonces))
  const { response } = chain.block({
    txs: made
      .filter(({ operation }) => operation !== 'proposeRetireProgram' || next(RETIREMENTS) === 0)
      .map(({ bytes }) => bytes),
    absent: next(ABSENCES) > 0 ? [] : randomAbsent(next, chain.sets.get(chain.height) ?? new Map(), () => false),
    misbehavior: randomEvidence(next, chain.height),
    seconds: 1 + next(12),
  })
  const request = lastBlock()
  return {
    request,
    frame: requestFrame('finalizeBlock', request),
    answer: replyOf('finalizeBlock', response),
    appHash: response.appHash as Uint8Array,
    programVersion: programVersion(chain.store),
  }
}

/** What a campaign came to. */
interface Progress {
  transactions: number
  chains: number
  restarts: number
}

/** Runs one random chain on all replicas. */
async function runChain(
  program: string,
  settings: readonly Setting[],
  seed: number,
  heights: number,
  progress: Progress,
  told: { ran: number },
): Promise<void> {
  const next = random(seed)
  const recorded = startRecordedChain(next)
  const genesis = { init: recorded.init(), answer: replyOf('initChain', recorded.answer) }
  const folder = tempFolder('replicas', memoryFolder())
  const replicas = settings.map(
    (setting, at) =>
      new Replica(program, setting, join(folder.path, `home${at}`), random(seed * 10 + at), genesis, heights),
  )
  const pending: Promise<void>[] = []
  try {
    const tails = replicas.map(() => Promise.resolve())
    for (let made = 0; made < heights; ) {
      const blocks = Array.from({ length: Math.min(BATCH, heights - made) }, () => makeBlock(next, recorded))
      made += blocks.length
      for (const [at, replica] of replicas.entries())
        tails[at] = (tails[at] as Promise<void>).then(() => replica.run(blocks))
      const all = Promise.all(tails).then(() => {
        told.ran += blocks.length
        for (const { request } of blocks) progress.transactions += request.txs.length
      })
      all.catch(() => undefined) // It is awaited below, maybe after the next ones were made.
      pending.push(all)
      if (pending.length >= BATCHES_AHEAD) await pending.shift()
    }
    await Promise.all(pending)
    await Promise.all(replicas.map((replica) => replica.stop()))
    progress.chains++
  } catch (thrown) {
    throw thrown instanceof Broken ? new Broken(`chain ${seed}: ${thrown.message}`) : thrown
  } finally {
    for (const replica of replicas) progress.restarts += replica.restarts
    await Promise.all(replicas.map((replica) => replica.kill()))
    folder.remove()
  }
}

/**
 * Random chains on three replicas that are processes on `nodes` (programs of Node, in turn), in different time zones and
 * languages, and restarted at heights of their own. At every height each answers FinalizeBlock with the bytes that this
 * process expects. `fault`: a mistake for the campaign to find.
 */
export function replicas(
  { count, seed }: CampaignOptions,
  nodes: readonly string[],
  fault?: Fault,
): Promise<CampaignReport> {
  const settings = settingsOn(nodes)
  const about = {
    name: 'replicas',
    target:
      'three processes on different Node majors, in different time zones and languages, restarted at different heights, ' +
      'have equal app hashes, results and events at every height',
    seed,
  }
  return campaignReport(about, async (told) => {
    const program = buildProgram(fault)
    const progress: Progress = { transactions: 0, chains: 0, restarts: 0 }
    try {
      while (told.ran < count) {
        const heights = Math.min(CHAIN_HEIGHTS, count - told.ran)
        await runChain(program.path, settings, seed + progress.chains, heights, progress, told)
      }
    } finally {
      program.remove()
    }
    const { chains, transactions, restarts } = progress
    const versions = [...new Set(settings.map(({ env }) => env['NODE_VERSION']))].join(', ')
    const figures = [transactions, restarts].map((one) => one.toLocaleString('en'))
    return `equal on Node ${versions}: ${chains} chains, ${figures[0]} transactions, ${figures[1]} restarts`
  })
}
