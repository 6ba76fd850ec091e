import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { devnetSigners } from '../../src/cli/devnet/chain.ts'
import { chainIdOf } from '../../src/node/homes.ts'
import { openNodeRpc } from '../../src/comet/rpc.ts'
import {
  heightOrZero,
  makeNetwork,
  type NetworkNode,
  setCometConfig,
  startNode,
  watchHeads,
} from '../e2e/support/network.ts'
import { txHash } from '../../src/tx/envelope.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { random } from '../chain/support.ts'
import { type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { cometLogOf, inFolder, moreBlocks, stopAndCompare, until } from './network.ts'
import type { Proposed } from './proposals.ts'
import { envOf, type Trait } from './trait.ts'

const VALIDATORS = 4
const TRAFFIC_ACCOUNT = 5
/** What the proposer's own CometBFT logs at more than max_tx_bytes. */
const TOO_MUCH = /transaction data size exceeds maximum/
const REJECTED = /prevote step: state machine rejected a proposed block.*height=(\d+)/g

/** Transfers of one account to another, one after the other, so that mempools hold something. Ends with their number. */
function startTraffic(node: NetworkNode): () => Promise<number> {
  const chainId = chainIdOf(node.home) as string
  const client = openNodeRpc(node.rpc)
  const signer = devnetSigners()[TRAFFIC_ACCOUNT] as Signer
  let isOver = false
  const sending = (async () => {
    let nonce = 0
    for (; !isOver; await sleep(100)) {
      const message = { to: new Uint8Array(20).fill(0x5e), value: '7' }
      const { code } = await client.broadcastTxSync(signer.signTx({ chainId, nonce, operation: 'transfer', message }))
      if (code === 0) nonce += 1
    }
    return nonce
  })().finally(() => client.close())
  sending.catch(() => {}) // Told by whoever ends it.
  return () => {
    isOver = true
    return sending
  }
}

interface Block {
  readonly proposer: string
  readonly hashes: readonly string[]
  readonly codes: readonly number[]
}

/** Every block of a node's chain so far, by its height. */
async function blocksOf(node: NetworkNode): Promise<ReadonlyMap<number, Block>> {
  const client = openNodeRpc(node.rpc)
  try {
    const blocks = new Map<number, Block>()
    const head = await heightOrZero(node)
    for (let height = 1; height <= head; height++) {
      const [{ txs, proposer }, { results }] = await Promise.all([client.block(height), client.blockResults(height)])
      blocks.set(height, { proposer, hashes: txs.map(txHash), codes: results.map(({ code }) => code) })
    }
    return blocks
  } finally {
    client.close()
  }
}

const isSame = (some: readonly unknown[], others: readonly unknown[]): boolean => some.join() === others.join()

/**
 * No block that had to be refused stands in the chain, nor a transaction of one that no block can hold; what had to be
 * executed has its codes where it was decided. Returns how often that was.
 */
function judgeChain(proposals: readonly Proposed[], blocks: ReadonlyMap<number, Block>): number {
  let executed = 0
  const seen = new Map<string, number>()
  for (const { hashes, codes } of blocks.values())
    for (const [at, hash] of hashes.entries()) {
      seen.set(hash, (seen.get(hash) ?? 0) + 1)
      need(![2, 3, 6].includes(codes[at] ?? 0), () => `transaction ${hash} is in a block with code ${codes[at]}`)
    }
  for (const [hash, times] of seen) need(times === 1, () => `transaction ${hash} is in ${times} blocks`)
  for (const { height, proposer, kind, txs, codes } of proposals) {
    const block = blocks.get(height)
    if (block === undefined) continue
    const isDecided = isSame(block.hashes, txs)
    need(!isDecided || codes !== undefined, () => `${kind}: block ${height} is what had to be refused`)
    // Without transactions it may be the block of somebody else.
    if (!isDecided || codes === undefined || block.proposer !== proposer) continue
    const told = codes.length === 0 ? [] : block.codes.slice(-codes.length)
    need(isSame(told, codes), () => `${kind}: block ${height} has the codes ${block.codes.join()}`)
    executed += 1
  }
  return executed
}

/** The heights of the blocks that the application of a node refused, one for each block. */
const refusedBy = (node: NetworkNode): readonly number[] =>
  [...cometLogOf(node).matchAll(REJECTED)].map(([, height]) => Number(height))

/**
 * A proposal may come too late on a busy machine: then nodes vote against it without having read it. So many may: two, or
 * one of ten when that is more.
 */
const LATE_MAX = 2
const LATE_SHARE_MAX = 0.1

const timesIn = (heights: readonly number[], height: number): number => heights.filter((one) => one === height).length

/**
 * Says what became of the blocks that had to be refused. `refused`: the heights of the blocks that each honest node refused.
 * Throws Broken when a node refused none of them, or another block, and when nobody refused too many of them, or any of a kind.
 */
export function judgeRefusals(
  proposals: readonly Pick<Proposed, 'height' | 'kind' | 'codes' | 'kills'>[],
  refused: readonly (readonly number[])[],
): string {
  const bad = proposals.filter(({ codes, kills }) => codes === undefined && kills !== true)
  const heights = bad.map(({ height }) => height)
  for (const [at, own] of refused.entries()) {
    need(own.length > 0, () => `honest node ${at} refused no block`)
    const wronged = own.find((height) => timesIn(own, height) > timesIn(heights, height))
    need(wronged === undefined, () => `honest node ${at} refused a block of height ${wronged} that was none of these`)
  }
  const sum = (choose: (...times: number[]) => number): number =>
    [...new Set(heights)].reduce((all, height) => all + choose(...refused.map((own) => timesIn(own, height))), 0)
  const [byOne, byAll] = [sum(Math.max), sum(Math.min)]
  need(
    bad.length - byOne <= Math.max(LATE_MAX, LATE_SHARE_MAX * bad.length),
    () => `of ${bad.length} blocks that had to be refused, honest nodes refused ${byOne}`,
  )
  const kinds = [...new Set(bad.map(({ kind }) => kind))]
  for (const kind of kinds) {
    const own = bad.filter((one) => one.kind === kind).map(({ height }) => height)
    const isRefused = own.some((height) => refused.some((others) => others.includes(height)))
    need(isRefused || own.length <= LATE_MAX, () => `${kind}: nobody refused the blocks ${own.join()}`)
  }
  return (
    `${bad.length} blocks of ${kinds.length} kinds had to be refused: at least one honest node refused ${byOne}, ` +
    `all ${refused.length} refused ${byAll}`
  )
}

/**
 * One of four validators proposes what no honest one would, at least `count` times, every kind in turn, and at last more
 * than max_tx_bytes. `trait`: that of the others.
 */
export function proposer({ count, seed }: CampaignOptions, trait?: Trait): Promise<CampaignReport> {
  const about = {
    name: 'malicious proposer',
    target: 'every block is refused or executed as protocol.md says, and the chain goes on',
    seed,
  }
  const run = (told: { ran: number }): Promise<string> =>
    inFolder(async (folder) => {
      const log = join(folder, 'proposals.jsonl')
      const proposed = (): readonly Proposed[] =>
        existsSync(log)
          ? readFileSync(log, 'utf8')
              .split('\n')
              .slice(0, -1) // What follows the last newline is a line that is being written.
              .map((line) => JSON.parse(line) as Proposed)
          : []
      const nodes = await makeNetwork(join(folder, 'net'), VALIDATORS)
      // On a busy machine proposals come late, and nodes would vote against them without having read them.
      for (const node of nodes) setCometConfig(node, { 'consensus.timeout_propose': '5s' })
      const bad = random(seed)(VALIDATORS)
      const running = await Promise.all(
        nodes.map((node, at) => {
          const own = at === bad ? { proposes: { seed, log, tooMuchAfter: count } } : trait
          return startNode(node, [], undefined, own === undefined ? {} : { env: envOf(own) })
        }),
      )
      const honest = nodes.filter((_, at) => at !== bad)
      await watchHeads(honest, 0, 1)
      const stopTraffic = startTraffic(honest[0] as NetworkNode)
      await until(
        () => `${count} malicious proposals; there are ${told.ran}`,
        () => {
          told.ran = proposed().length
          return told.ran > count
        },
      )
      await moreBlocks(honest, 5)
      const sent = await stopTraffic()
      const proposals = proposed()
      const blocks = await blocksOf(honest[0] as NetworkNode)
      const executed = judgeChain(proposals, blocks)
      const refusals = judgeRefusals(proposals, honest.map(refusedBy))
      need(
        TOO_MUCH.test(cometLogOf(nodes[bad] as NetworkNode)),
        () => "more than max_tx_bytes did not end its proposer's consensus",
      )
      const head = await stopAndCompare(running, nodes, TOO_MUCH)
      const unusual = proposals.filter(({ codes }) => codes !== undefined).length
      return (
        `${refusals}, and none is in the chain of ${blocks.size} blocks; ${executed} of ${unusual} others were executed with ` +
        `their codes, beside ${sent} transfers; more than max_tx_bytes ended its proposer's own consensus; one app hash a ` +
        `height up to ${head}`
      )
    })
  return campaignReport(about, run)
}
