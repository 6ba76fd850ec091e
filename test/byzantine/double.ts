import { copyFileSync, cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { devnetSigners } from '../../src/cli/devnet/chain.ts'
import { chainIdOf } from '../../src/node/homes.ts'
import { homeFiles, readValidatorKey, writeNodeKeys } from '../../src/comet/home.ts'
import { openNodeRpc } from '../../src/comet/rpc.ts'
import { random } from '../chain/support.ts'
import {
  askNode,
  heightOrZero,
  makeNetwork,
  type NetworkNode,
  queryNode,
  setCometConfig,
  startNode,
  watchHeads,
} from '../e2e/support/network.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { addAccounts } from '../e2e/support/stateSync.ts'
import { type CampaignOptions, type CampaignReport, campaignReport, need } from '../support/campaign.ts'
import { inFolder, moreBlocks, stopAndCompare, until } from './network.ts'
import { envOf, type Trait } from './trait.ts'

const VALIDATORS = 4
/** The twin starts at a block up to this one. */
const START_HEIGHT_MAX = 25
/** What docs/protocol.md §5 burns, in percent. */
const SLASH_PERCENT = 5n

/** A copy of a home that was not started yet: the same validator key and nothing signed yet, with another node key and ports. */
async function makeTwin({ home }: NetworkNode, output: string): Promise<NetworkNode> {
  cpSync(home, output, { recursive: true })
  const { nodeKey, validatorKey, validatorState } = homeFiles(output)
  rmSync(nodeKey)
  rmSync(validatorState)
  writeNodeKeys(output)
  need(readFileSync(validatorKey, 'utf8') === readFileSync(homeFiles(home).validatorKey, 'utf8'), () => 'another key')
  const [rpcPort, p2pPort, metricsPort] = await freePorts(3)
  const twin = { home: output, owner: '', rpc: `http://127.0.0.1:${rpcPort}`, gateway: '' }
  setCometConfig(twin, {
    'rpc.laddr': `tcp://127.0.0.1:${rpcPort}`,
    'p2p.laddr': `tcp://127.0.0.1:${p2pPort}`,
    'p2p.external_address': `127.0.0.1:${p2pPort}`,
    'instrumentation.prometheus_listen_addr': `127.0.0.1:${metricsPort}`,
  })
  return twin
}

/** A piece of evidence in a block. */
interface Evidence {
  readonly type: string
  readonly value: { readonly vote_a?: { readonly height: string; readonly validator_address: string } }
}

interface Block {
  readonly block: { readonly evidence: { readonly evidence: readonly Evidence[] | null } }
}

/** What was found of one validator's double votes. */
interface Found {
  /** The blocks that hold evidence, and the heights of the offences, in order. */
  readonly evidence: { readonly block: number; readonly offence: number }[]
  scanned: number
}

/** Reads the evidence of the blocks up to the head that were not read yet. */
async function readEvidence(node: NetworkNode, address: string, found: Found): Promise<void> {
  for (const head = await heightOrZero(node); found.scanned < head; found.scanned++) {
    const height = found.scanned + 1
    const { block } = await askNode<Block>(node, `block?height=${height}`)
    for (const { type, value } of block.evidence.evidence ?? []) {
      need(type === 'tendermint/DuplicateVoteEvidence', () => `evidence of type ${type} in block ${height}`)
      need(value.vote_a?.validator_address === address, () => `evidence against ${value.vote_a?.validator_address}`)
      found.evidence.push({ block: height, offence: Number(value.vote_a.height) })
    }
  }
}

/** What the rule leaves of some shares: an offence at most one block above the last removal counts as the one before. */
function slashed(shares: bigint, { evidence }: Found): { left: bigint; removals: readonly number[] } {
  const removals: number[] = []
  let left = shares
  for (const { block, offence } of evidence) {
    if (offence <= (removals.at(-1) ?? -1) + 1) continue
    left -= (left * SLASH_PERCENT) / 100n
    removals.push(block)
  }
  return { left, removals }
}

interface Candidacy {
  readonly shares: string
  readonly active: string
  readonly state: string
}

type Supply = Readonly<Record<'supply' | 'genesis_supply' | 'minted' | 'burned', string>>

const candidacyOf = (node: NetworkNode, owner: string): Promise<Candidacy> =>
  queryNode<Candidacy>(node, `/stake/validator/${owner}`)

async function isInSet(node: NetworkNode, address: string): Promise<boolean> {
  const { validators } = await askNode<{ validators: readonly { address: string }[] }>(node, 'validators?per_page=100')
  return validators.some((one) => one.address === address)
}

/** Sends the owner's activate. */
async function activate(node: NetworkNode, at: number, owner: string): Promise<void> {
  const client = openNodeRpc(node.rpc)
  try {
    const { nonce } = await queryNode<{ nonce: number }>(node, `/accounts/${owner}`)
    const signed = devnetSigners()[at]?.signTx({
      chainId: chainIdOf(node.home) as string,
      nonce,
      operation: 'activateCandidacy',
      message: {},
    })
    const { code, log } = await client.broadcastTxSync(signed as Uint8Array)
    need(code === 0, () => `activate: ${code} ${log}`)
  } finally {
    client.close()
  }
}

/** What happens in one network. */
interface Plan {
  readonly output: string
  /** The validator that runs twice, and the block from which it does. */
  readonly at: number
  readonly height: number
  /** How often it is caught; in between its owner activates it again. */
  readonly rounds: number
  readonly trait: Trait | undefined
}

/** Runs one network. Returns how many pieces of evidence were found. */
async function runTwin({ output, at, height, rounds, trait }: Plan): Promise<number> {
  const nodes = await makeNetwork(join(output, 'net'), VALIDATORS)
  // Nothing is minted, so that shares change by what is burned alone.
  addAccounts(nodes, 0, { inflation_rate: 0 })
  const original = nodes[at] as NetworkNode
  const twin = await makeTwin(original, join(output, 'twin'))
  copyFileSync(homeFiles(original.home).genesis, homeFiles(twin.home).genesis)
  const env = trait === undefined ? {} : envOf(trait)
  const running = await Promise.all(nodes.map((node) => startNode(node, [], undefined, { env })))
  await watchHeads(nodes, 0, 1)
  const { owner } = original
  const { address } = readValidatorKey(original.home)
  const witness = nodes[(at + 1) % VALIDATORS] as NetworkNode
  const shares = BigInt((await candidacyOf(witness, owner)).shares)
  await until(
    () => `block ${height}`,
    async () => (await heightOrZero(witness)) >= height,
  )
  running.push(await startNode(twin, [], undefined, { env }))
  const all = [...nodes, twin]
  const found: Found = { evidence: [], scanned: 0 }
  for (let round = 1; round <= rounds; round++) {
    await until(
      () => `evidence of round ${round}`,
      async () => {
        await readEvidence(witness, address, found)
        return slashed(shares, found).removals.length >= round
      },
    )
    const last = found.evidence.at(-1)
    const { active } = await candidacyOf(witness, owner)
    need(active === 'N', () => `evidence of height ${last?.offence} in block ${last?.block} has changed nothing`)
    await until(
      () => `${address} out of the set`,
      async () => !(await isInSet(witness, address)),
    )
    await moreBlocks(all, 3)
    await readEvidence(witness, address, found)
    const { left, removals } = slashed(shares, found)
    need(removals.length === round, () => `${removals.length} removals in round ${round}`)
    for (const node of all) {
      const own = await candidacyOf(node, owner)
      const { supply, genesis_supply, minted, burned } = await queryNode<Supply>(node, '/chain/supply')
      const told = [own.shares, own.active, own.state, burned, minted, supply]
      const expected = [left, 'N', 'Candidate', shares - left, 0n, BigInt(genesis_supply) - (shares - left)]
      need(told.join() === expected.join(), () => `${node.home} tells ${told.join()}, expected ${expected.join()}`)
    }
    if (round === rounds) break
    await activate(witness, at, owner)
    await until(
      () => `${address} in the set again`,
      () => isInSet(witness, address),
    )
  }
  await moreBlocks(all, 3)
  await stopAndCompare(running, all)
  return found.evidence.length
}

/**
 * A validator's key signs on two nodes, which know nothing of each other: `count` networks, each with another validator
 * and another height, in which it is caught `rounds` times. `trait`: that of all applications.
 */
export function double({ count, seed }: CampaignOptions, rounds = 2, trait?: Trait): Promise<CampaignReport> {
  const about = {
    name: 'a validator that runs twice',
    target:
      'evidence burns 5 % of its shares once an offence, it leaves the set, supply and app hashes are right on all nodes',
    seed,
  }
  const next = random(seed)
  const first = next(VALIDATORS)
  return campaignReport(about, async (told) => {
    let evidence = 0
    while (told.ran < count) {
      const at = (first + told.ran) % VALIDATORS
      const height = 2 + next(START_HEIGHT_MAX)
      evidence += await inFolder((output) => runTwin({ output, at, height, rounds, trait }))
      told.ran += 1
    }
    return `${told.ran} networks with ${rounds} removals each, by ${evidence} pieces of evidence; nothing else was burned`
  })
}
