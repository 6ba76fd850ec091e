import { toHex } from '../../base/bytes.ts'
import {
  type Application,
  type CheckTxResponse,
  CheckTxType,
  type InitChainRequest,
  MisbehaviorType,
  type PublicKey,
  type QueryRequest,
} from '../types.ts'
import { checkTx, commit, finalize, isAccepted, Oscillation, PROBES, recheck } from './blocks.ts'
import { type Circumstances, Consensus } from './consensus.ts'
import { type ChainContext, nodesOf } from './context.ts'
import { ChainNode, type Opener } from './node.ts'
import { pick, random, type Random } from './random.ts'
import { Judge } from './requirementError.ts'
import { arbitraryTxs, extendVotes, nextProposer, prepareProposal, processProposal } from './rounds.ts'
import { stateSync } from './stateSync.ts'
import type {
  ApplicationFactory,
  BlockOptions,
  TestBlock,
  TestChain,
  TestChainOptions,
  TestValidator,
} from './testChain.ts'
import { keyAddress } from './validatorSets.ts'
import { NOTHING } from './values.ts'

const SEEN_MAX = 200
const LIMITS: readonly number[] = [0, 1, 500, 2_000, 1_000_000]

const bytesOf = (appState: unknown): Uint8Array => {
  if (appState === undefined) return NOTHING
  return appState instanceof Uint8Array ? appState : new TextEncoder().encode(JSON.stringify(appState))
}

/** A validator of genesis: nobody signs with its key, the chain says who signed. */
const genesisValidator = (at: number): { readonly pubKey: PublicKey; readonly power: number } => ({
  pubKey: { ed25519: new Uint8Array(32).fill(at + 1) },
  power: 10,
})

function openerOf<A extends Application>(
  application: A | ApplicationFactory<A>,
  close: TestChainOptions<A>['close'],
): Opener & { readonly opened: ReadonlyMap<number, Application> } {
  const isFactory = typeof application === 'function'
  const opened = new Map<number, A>()
  return {
    isFactory,
    opened,
    open: async (node) => {
      const own = isFactory ? await application(node) : application
      opened.set(node, own)
      return own
    },
    close: async (own, node) => {
      opened.delete(node)
      await close?.(own as A, node)
    },
  }
}

function initOf(options: Omit<TestChainOptions, 'close'>, hasExtensions: boolean): InitChainRequest {
  const { validators = 4, initialHeight = 1, genesisTime = 1_700_000_000, chainId = 'test-chain' } = options
  const consensusParams = options.consensusParams ?? {
    block: { maxBytes: 1_000_000, maxGas: -1 },
    evidence: { maxAgeNumBlocks: 100_000, maxAgeDuration: { seconds: 172_800, nanos: 0 }, maxBytes: 100_000 },
    validator: { pubKeyTypes: ['ed25519'] },
    ...(hasExtensions && { abci: { voteExtensionsEnableHeight: initialHeight } }),
  }
  return {
    time: { seconds: genesisTime, nanos: 0 },
    chainId,
    initialHeight,
    consensusParams,
    validators:
      typeof validators === 'number' ? Array.from({ length: validators }, (_, at) => genesisValidator(at)) : validators,
    appStateBytes: bytesOf(options.appState),
  }
}

const queryOf = ({ path = '', data = NOTHING, height = 0, prove = false }: Partial<QueryRequest>): QueryRequest => ({
  path,
  data,
  height,
  prove,
})

/** Restarts a node. Its mempool is empty then, and its peers send it what waits: `hasMempool` is false when that comes later. */
async function restartNode({ validators, mempool }: ChainContext, node: ChainNode, hasMempool = true): Promise<void> {
  await node.restart()
  if (!hasMempool || !validators.includes(node)) return
  for (const [name, tx] of mempool) {
    const { code = 0 } = await node.call('checkTx', { tx, type: CheckTxType.new })
    if (code === 0) node.checked.add(name)
  }
}

/** The keys of validators that do not sign: fewer than a third of them, with less than a third of the power. */
function missingOf(next: Random, validators: readonly TestValidator[]): readonly string[] {
  const total = validators.reduce((sum, { power }) => sum + power, 0)
  const missing = new Set<TestValidator>()
  let power = 0
  for (let picks = next(Math.ceil(validators.length / 3)); picks > 0; picks--) {
    const one = pick(next, validators) as TestValidator
    if (missing.has(one) || 3 * (power + one.power) >= total) continue
    missing.add(one)
    power += one.power
  }
  return [...missing].map(({ key }) => key)
}

class Chain implements TestChain {
  private readonly context: ChainContext
  private readonly oscillation = new Oscillation()
  private readonly rounds: number

  constructor(context: ChainContext, rounds: number) {
    this.context = context
    this.rounds = rounds
  }

  get height(): number {
    return this.context.consensus.height
  }

  get time(): number {
    return this.context.consensus.time.seconds
  }

  get appHash(): Uint8Array {
    const { consensus } = this.context
    return consensus.blocks.has(this.height) ? consensus.appHashAt(this.height) : (consensus.genesis.appHash ?? NOTHING)
  }

  get mempool(): readonly Uint8Array[] {
    return [...this.context.mempool.values()]
  }

  get validators() {
    const { consensus } = this.context
    const set = consensus.setAt(Math.max(this.height, consensus.init.initialHeight))
    return [...set].map(([key, power]) => ({ key, address: keyAddress(key), power }))
  }

  get checked() {
    return this.context.judge.cases
  }

  async send(tx: Uint8Array): Promise<CheckTxResponse> {
    const { context } = this
    const name = toHex(tx)
    // CometBFT does not ask again for what is in its mempool.
    if (context.mempool.has(name)) return { code: 0 }
    const response = await checkTx(context, tx, false)
    if (isAccepted(response)) context.mempool.set(name, tx)
    this.remember(tx)
    return response
  }

  private remember(tx: Uint8Array): void {
    const { seen } = this.context
    seen.push(tx)
    // The first ones stay: they are checked at every height.
    if (seen.length > SEEN_MAX) seen.splice(PROBES, 1)
  }

  async block(options: BlockOptions = {}): Promise<TestBlock> {
    const { context } = this
    const { consensus } = context
    const { absent = [], nil = [], misbehavior = [], seconds = 1 } = options
    const circumstances = { absent, nil, misbehavior, seconds }
    const stranger = [...absent, ...nil].find((key) => !consensus.setAt(this.height).has(key))
    if (stranger !== undefined && consensus.blocks.size > 0)
      throw new Error(`no validator of the last block has the key ${stranger}`)
    const before = await this.views()
    const rounds = options.mempools?.length ?? this.rounds
    for (let round = 0; round < rounds; round++) {
      await this.undecided(circumstances, options.mempools?.[round])
      await this.checkViews(false, before)
    }
    const { proposal, verdict } = await this.decided(circumstances, options.txs)
    await this.checkViews(false, before)
    const response = await finalize(context, proposal)
    await this.checkViews(true, before)
    await this.oscillation.probe(context)
    consensus.decide(proposal.finalize, response)
    await commit(context, proposal.height)
    for (const tx of proposal.txs) this.remember(tx)
    await recheck(context, proposal.txs)
    const { txResults: results = [] } = response
    return { height: proposal.height, txs: proposal.txs, results, response, isAccepted: verdict }
  }

  /** What each validator's node shows of its committed state. */
  private async views(): Promise<readonly string[]> {
    const { validators, queries } = this.context
    const views: string[] = []
    for (const node of validators) views.push(await node.view(queries))
    return views
  }

  /** Expects that the committed state is the one of before, after calls that may not change it. */
  private async checkViews(isDecided: boolean, before: readonly string[]): Promise<void> {
    const { judge, validators } = this.context
    const after = await this.views()
    const calls = isDecided ? 'FinalizeBlock changed, before Commit,' : 'calls before the decision changed'
    for (const [at, node] of validators.entries()) {
      await node.checkInfo(isDecided ? 'Crash Recovery' : 9)
      judge.check(
        isDecided ? 'Info/Query Connection' : 9,
        before[at] === after[at],
        () => `${calls} the answers of ${node.name}: ${before[at]}, and then ${after[at]}`,
      )
    }
  }

  /** The mempool of a node: what it has checked, in the order in which it came. */
  private mempoolOf(node: ChainNode): readonly Uint8Array[] {
    return [...this.context.mempool].filter(([name]) => node.checked.has(name)).map(([, tx]) => tx)
  }

  /** A round whose block is not decided, and a block that no correct validator proposes. */
  private async undecided(circumstances: Circumstances, mempool?: readonly Uint8Array[]): Promise<void> {
    const { context } = this
    const { next, consensus } = context
    const proposer = nextProposer(context)
    const waiting = this.mempoolOf(proposer.node)
    const txs = mempool ?? waiting.slice(0, next(waiting.length + 1))
    const limit = Math.min(consensus.txBytesMax, pick(next, [...LIMITS, next(1 + 300 * txs.length)]) as number)
    const proposal = await prepareProposal(context, proposer, txs, limit, circumstances)
    await processProposal(context, proposal, proposer.node)
    await extendVotes(context, proposal)
    await processProposal(context, consensus.propose(proposer.key, mempool ?? arbitraryTxs(context), circumstances))
  }

  /** The round whose block is decided. */
  private async decided(circumstances: Circumstances, txs?: readonly Uint8Array[]) {
    const { context } = this
    const proposer = nextProposer(context)
    const { consensus } = context
    const proposal =
      txs === undefined
        ? await prepareProposal(context, proposer, this.mempoolOf(proposer.node), consensus.txBytesMax, circumstances)
        : consensus.propose(proposer.key, txs, circumstances)
    const verdict = await processProposal(context, proposal, txs === undefined ? proposer.node : undefined)
    consensus.extensions = await extendVotes(context, proposal)
    return { proposal, verdict }
  }

  async run(
    blocks: number,
    txsOf: (next: Random) => readonly Uint8Array[] = () => [],
    options: BlockOptions = {},
  ): Promise<void> {
    const { next } = this.context
    for (let at = 0; at < blocks; at++) {
      for (const tx of txsOf(next)) await this.send(tx)
      const { validators } = this
      const missing = missingOf(next, validators)
      const guilty = next(8) === 0 && this.context.consensus.blocks.size > 0 ? pick(next, validators) : undefined
      await this.block({
        absent: missing.filter((_, index) => index % 2 === 0),
        nil: missing.filter((_, index) => index % 2 === 1),
        misbehavior: guilty === undefined ? [] : [this.misbehaviorOf(guilty.key, { type: 1 + next(2) })],
        seconds: 1 + next(10),
        ...options,
      })
    }
  }

  async query(request: Partial<QueryRequest>) {
    return (this.context.validators[0] as ChainNode).call('query', queryOf(request))
  }

  misbehaviorOf(key: string, options: { readonly type?: number; readonly height?: number } = {}) {
    const { consensus } = this.context
    const { type = MisbehaviorType.duplicateVote, height = this.height } = options
    const set = consensus.setAt(height)
    return {
      type,
      validator: { address: keyAddress(key), power: set.get(key) ?? 0 },
      height,
      time: consensus.blocks.get(height)?.request.time ?? consensus.init.time,
      totalVotingPower: [...set.values()].reduce((sum, power) => sum + power, 0),
    }
  }

  async restart(node?: number): Promise<void> {
    if (this.context.openNode === undefined)
      throw new Error('only a chain with an application factory restarts its nodes')
    const chosen = nodesOf(this.context).filter(({ index }) => node === undefined || index === node)
    if (chosen.length === 0) throw new Error(`the chain has no node ${node}`)
    for (const one of chosen) await restartNode(this.context, one)
  }

  async stateSync(): Promise<number> {
    const { openNode, followers } = this.context
    if (openNode === undefined) throw new Error('only a chain with an application factory starts more nodes')
    const node = await stateSync(this.context, openNode)
    followers.push(node)
    return node.index
  }

  async close(): Promise<void> {
    for (const node of nodesOf(this.context)) await node.close()
  }
}

/**
 * Starts a chain in this process on an application, or on several of them that a factory opens, and makes its genesis. Every
 * call is what a CometBFT node would send. Without a factory there is one node, and only requirements 2 to 7, 9 and 13
 * are checked, on that one. Throws a TypeError for an application that the server would refuse, and a RequirementError.
 * @example const chain = await createTestChain((node) => openApplication(`${folder}/${node}.db`), { seed: 7 })
 */
export async function createTestChain<A extends Application>(
  application: A | ApplicationFactory<A>,
  options: TestChainOptions<A> = {},
): Promise<TestChain> {
  const opener = openerOf(application, options.close)
  try {
    return await startChain(opener, options)
  } catch (thrown) {
    // What is wrong with the application counts, and not that it cannot be closed either.
    await Promise.allSettled([...opener.opened].map(([node, own]) => opener.close(own, node)))
    throw thrown
  }
}

/** Opens the nodes and makes the genesis. When it throws, nodes may be open. */
async function startChain(opener: Opener, options: Omit<TestChainOptions, 'close'>): Promise<TestChain> {
  const { seed = 1, nodes = 3, rounds = 2, restarts = 40 } = options
  const first = await opener.open(0)
  const consensus = new Consensus(initOf(options, first?.extendVote !== undefined))
  const next = random(seed)
  const judge = new Judge(
    () => `seed ${seed}, ${consensus.blocks.size === 0 ? 'before the first block' : `after block ${consensus.height}`}`,
  )
  let count = 0
  const openNode = async (opened?: Application): Promise<ChainNode> => {
    const node = new ChainNode(count++, opener, consensus, judge)
    await node.open(opened)
    return node
  }
  const validators = [await openNode(first)]
  while (opener.isFactory && validators.length < nodes) validators.push(await openNode())
  const context: ChainContext = {
    consensus,
    judge,
    next,
    validators,
    followers: opener.isFactory ? [await openNode()] : [],
    queries: (options.queries ?? []).map(queryOf),
    seen: [],
    mempool: new Map(),
    openNode: opener.isFactory ? () => openNode() : undefined,
    disturb: async (node, hasMempool) => {
      if (!opener.isFactory || restarts === 0 || next(restarts) > 0) return false
      await restartNode(context, node, hasMempool)
      return true
    },
  }
  for (const node of nodesOf(context)) await node.begin()
  return new Chain(context, rounds)
}
