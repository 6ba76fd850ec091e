import type { FinalizeBlockRequest } from '../../src/abci/types.ts'
import { random } from '../chain/support.ts'
import { type Init, startRecordedChain } from '../sim/recordedChain.ts'
import { randomOffence } from '../sim/delegations.ts'
import { checkInvariants } from '../sim/invariants.ts'
import { OTHER_SIGNERS } from '../sim/signers.ts'
import { ACCOUNTS, type Random, randomAbsent, randomEvidence, randomMessage, randomTxs } from '../sim/traffic.ts'
import { txEntries } from '../../src/modules/registry.ts'
import { Broken } from '../support/campaign.ts'
import { account, CHAIN_ID, type TestChain } from '../support/testChain.ts'
import { compareBlock, compareGenesis, compareQueries, compareResult, compareRows, decidedOf } from './answers.ts'
import { listAdmitted, Mempool } from './protocol/check.ts'
import type { Genesis } from './protocol/genesis.ts'
import { Model } from './protocol/block.ts'
import type { Alteration } from './protocol/state.ts'
import { Replica } from './replica.ts'
import { tempFolder } from '../support/tempFolder.ts'

/** What chains met: `operation code`, `type result`, what happened to the replica. */
export type Met = Map<string, number>

const genesisOf = ({ chainId, appStateBytes, consensusParams, initialHeight, time }: Init) => ({
  chainId,
  initialHeight,
  timeMs: time.seconds * 1000,
  evidenceMaxBytes: consensusParams?.evidence?.maxBytes ?? 0,
  appState: JSON.parse(new TextDecoder().decode(appStateBytes)) as Genesis['appState'],
})

/** Those who send transactions on random chains. */
const SENDERS = Array.from({ length: ACCOUNTS }, (_, at) => account(at + 1).address)
const OPERATIONS = txEntries.map(({ operation }) => operation)
/** In how many blocks once all of them are asked for. */
const QUERIES_EVERY = 5

/** One random chain beside the model. */
class Comparison {
  private readonly next: Random
  /** For what accounts of other kinds send. */
  private readonly other: Random
  private readonly chain: TestChain
  private readonly lastBlock: () => FinalizeBlockRequest
  private readonly model: Model
  private readonly replica: Replica | undefined
  private readonly altered: Alteration | undefined
  /** What CheckTx accepted and no block has. */
  private waiting: readonly Uint8Array[] = []
  /** How many transactions a block of this chain has at most. */
  private readonly size: number
  private readonly met: Met
  ran = 0

  constructor(seed: number, folder: string, met: Met, altered: Alteration | undefined) {
    const next = random(seed)
    this.next = next
    this.altered = altered
    this.met = met
    this.size = [5, 9, 20, 40][next(4)] as number
    this.other = random(seed + 2)
    const { chain, answer, init, lastBlock } = startRecordedChain(next)
    this.chain = chain
    this.lastBlock = lastBlock
    this.model = new Model(genesisOf(init()), altered)
    // An altered model is held against one application: that finds as much in less time.
    this.replica = altered === undefined ? new Replica(folder, random(seed + 1), init()) : undefined
    compareGenesis(answer, this.model)
  }

  private meet(what: string): void {
    this.met.set(what, (this.met.get(what) ?? 0) + 1)
  }

  /** New transactions into CheckTx, after those that wait have been checked again. */
  private check(txs: readonly Uint8Array[]): void {
    const mempool = new Mempool(this.model.state, this.altered)
    const judge = (tx: Uint8Array, type: number): boolean => {
      const result = this.chain.check(tx, type)
      compareResult(`CheckTx ${type}`, result, mempool.check(tx), true)
      return result.code === 0
    }
    const kept = this.waiting.filter((tx) => judge(tx, 1))
    this.waiting = [...kept, ...txs.filter((tx) => judge(tx, 0))].slice(-100)
  }

  /**
   * Transactions of accounts of the other kinds, good and bad. They hold nothing, and have random numbers of their own, so
   * that the chain goes the way that it goes without them.
   */
  private ofOtherSigners(): readonly Uint8Array[] {
    const { other, chain, model } = this
    return OTHER_SIGNERS.flatMap((signer) => {
      if (other(2) === 0) return []
      const operation = OPERATIONS[other(OPERATIONS.length)] as string
      const nonce = (model.state.accounts.get(signer.address)?.nonce ?? 0) + Number(other(9) === 0)
      const message = randomMessage(other, operation, chain, account(1))
      const bytes = signer.signTx({ chainId: other(20) === 0 ? 'other' : CHAIN_ID, nonce, operation, message })
      if (other(4) === 0) bytes[other(bytes.length)] = other(256)
      return [bytes]
    })
  }

  async runBlock(): Promise<void> {
    const { next, chain, model } = this
    const nonces = new Map<string, number>(
      SENDERS.map((address) => [address, model.state.accounts.get(address)?.nonce ?? 0]),
    )
    const made = randomTxs(next, chain, nonces, next(this.size))
    const others = this.altered === undefined ? this.ofOtherSigners() : []
    const operationOf = new Map(made.map(({ operation, bytes }) => [bytes, operation]))
    const all = made.map(({ bytes }) => bytes)
    this.check([...all.filter(() => next(2) === 0), ...others.filter(() => this.other(2) === 0)])
    const head = structuredClone(model.state)
    const admit = (txs: readonly Uint8Array[]): readonly Uint8Array[] => listAdmitted(head, txs)
    // Half of the blocks are what an honest proposer makes of them.
    const txs = next(2) === 0 ? [...all, ...others] : admit([...all, ...others])
    const { response, results } = chain.block({
      txs,
      absent: randomAbsent(next, chain.sets.get(chain.height) ?? new Map()),
      misbehavior: [...randomEvidence(next, chain.height), ...randomOffence(next, chain)],
      seconds: 1 + next(12),
    })
    const block = this.lastBlock()
    const expected = model.run(decidedOf(block))
    for (const rule of expected.met) this.meet(rule)
    compareBlock(response, expected)
    compareRows(chain.store, model.state)
    if (this.altered === undefined) checkInvariants(chain, response)
    if (chain.height % QUERIES_EVERY === 0) compareQueries(chain, model.state, SENDERS)
    this.waiting = this.waiting.filter((tx) => !txs.includes(tx))
    for (const [place, { code }] of results.entries())
      this.meet(`${operationOf.get(txs[place] as Uint8Array) ?? 'of another signer'} ${code}`)
    for (const { type, attributes = [] } of response.events ?? [])
      this.meet(`${type} ${/resolved|removed/.test(type ?? '') ? attributes.at(-1)?.value : ''}`)
    this.ran += txs.filter((tx) => operationOf.has(tx)).length
    await this.replica?.run(block, response, admit)
  }

  get height(): number {
    return this.chain.height
  }

  /** Counts what the chain came to, and closes it. */
  end(): void {
    this.replica?.close()
    for (const [what, count] of this.replica?.met ?? []) this.met.set(what, (this.met.get(what) ?? 0) + count)
    for (const { type, result } of this.model.state.proposals) this.meet(`${type} ${result}`)
  }
}

/**
 * Runs one random chain until it has executed `count` transactions, and returns how many there were. Throws Broken,
 * that names seed and height where the application and the model differ.
 */
export async function compareChain(seed: number, count: number, met: Met, altered?: Alteration): Promise<number> {
  const { path: folder, remove } = tempFolder('model')
  let comparison: Comparison | undefined
  try {
    comparison = new Comparison(seed, folder, met, altered)
    while (comparison.ran < count) await comparison.runBlock()
    return comparison.ran
  } catch (thrown) {
    const why = `chain ${seed}, block ${comparison?.height}: ${thrown instanceof Error ? thrown.message : thrown}`
    throw thrown instanceof Broken ? new Broken(why) : new Error(why, { cause: thrown })
  } finally {
    comparison?.end()
    remove()
  }
}
