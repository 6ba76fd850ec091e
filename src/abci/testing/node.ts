import { handlersOf } from '../handlers.ts'
import type {
  AbciRequest,
  AbciResponse,
  Application,
  FinalizeBlockRequest,
  FinalizeBlockResponse,
  InfoResponse,
  QueryRequest,
  RequestKind,
} from '../types.ts'
import { checkReply, type ReplyKind } from '../wire.ts'
import type { Consensus } from './consensus.ts'
import { createGrammar, type Grammar } from './grammar.ts'
import type { Judge, Requirement } from './requirementError.ts'
import { NOTHING, resultsText, stateText, textOf } from './values.ts'
import { toHex } from '../../base/bytes.ts'

/** Opens, and closes, the application of a node. */
export interface Opener {
  open(node: number): Application | Promise<Application>
  close(application: Application, node: number): void | Promise<void>
  /** True when the same state may be opened again, and other nodes may be opened. */
  readonly isFactory: boolean
}

/** A call that a node made in the course of a height. */
export interface MadeCall {
  readonly kind: RequestKind
  readonly request: AbciRequest
}

/** How many calls a message names. */
const LAST_CALLS = 12

const INFO = { version: '0.38.0', blockVersion: 11, p2pVersion: 8, abciVersion: '2.0.0' }

/** One node of the chain: an application, and the CometBFT that calls it. */
export class ChainNode {
  readonly index: number
  private readonly opener: Opener
  private readonly consensus: Consensus
  private readonly judge: Judge
  private application: Application = {}
  private handlers: ReturnType<typeof handlersOf> = {}
  private grammar: Grammar = createGrammar()
  private last: string[] = []
  /** The height of the last Commit that the application answered. */
  committed: number
  /** The transactions of the mempool that this node has checked, in hex. */
  readonly checked = new Set<string>()
  /** What it was asked in the course of the heights: no handshake, and no block twice. */
  readonly history: MadeCall[] = []
  /** How often it was opened again. */
  restarts = 0

  constructor(index: number, opener: Opener, consensus: Consensus, judge: Judge) {
    this.index = index
    this.opener = opener
    this.consensus = consensus
    this.judge = judge
    this.committed = consensus.init.initialHeight - 1
  }

  /** True when its history lacks the first blocks, because it began with a snapshot. */
  get isPartial(): boolean {
    const first = this.history.find(({ kind }) => kind === 'finalizeBlock')?.request as FinalizeBlockRequest | undefined
    return first !== undefined && first.height > this.consensus.init.initialHeight
  }

  /** `node 1`, for messages. */
  get name(): string {
    return `node ${this.index}`
  }

  /** True when the application has a handler of its own for requests of `kind`. */
  has(kind: keyof Application): boolean {
    return this.application[kind] !== undefined
  }

  /** Opens the application, unless it is open already, as at the start of its process. Nothing is called. */
  async open(opened?: Application): Promise<void> {
    this.application = opened ?? (await this.opener.open(this.index))
    this.handlers = handlersOf(this.application)
    this.grammar = createGrammar()
    this.last = []
  }

  /** Closes the application. */
  async close(): Promise<void> {
    await this.opener.close(this.application, this.index)
  }

  /** Closes the application, opens it again, and brings it to the last block that was decided. */
  async restart(): Promise<void> {
    await this.close()
    this.checked.clear()
    this.restarts += 1
    await this.open()
    await this.handshake()
  }

  /**
   * Asks the application. Throws a RequirementError when it throws, or answers what no message can hold or CometBFT does not
   * take.
   */
  async call<K extends RequestKind>(kind: K, request: AbciRequest<K>): Promise<AbciResponse<K>> {
    // Info is told with the height that it answered.
    const isMisplaced = kind === 'info' ? undefined : this.grammar.next({ kind })
    if (isMisplaced !== undefined) throw new Error(`the test chain made a wrong call: ${isMisplaced}`)
    const isAgain = kind === 'finalizeBlock' && (request as FinalizeBlockRequest).height <= this.lastFinalized
    if (!isAgain) this.history.push({ kind, request })
    const before = this.last.join(', ') || 'its start'
    this.last = [...this.last.slice(1 - LAST_CALLS), kind]
    try {
      const handler = this.handlers[kind] as ((request: AbciRequest<K>) => unknown) | undefined
      // A copy for each node, as what comes over a socket is.
      const response = await handler?.(structuredClone(request))
      checkReply(kind as ReplyKind, response)
      if (kind === 'info') this.grammar.next({ kind, height: (response as InfoResponse).lastBlockHeight ?? 0 })
      return response as AbciResponse<K>
    } catch (thrown) {
      const what = `${this.name} threw at ${kind}, after ${before}: ${String(thrown)}`
      throw this.judge.error('Valid method call sequences', what, thrown)
    }
  }

  private get lastFinalized(): number {
    const last = this.history.findLast(({ kind }) => kind === 'finalizeBlock')
    return (last?.request as FinalizeBlockRequest | undefined)?.height ?? 0
  }

  /** What Info tells: the height and app hash of the last block that was committed. */
  async info(): Promise<{ readonly height: number; readonly appHash: Uint8Array }> {
    const { lastBlockHeight = 0, lastBlockAppHash = NOTHING } = await this.call('info', INFO)
    return { height: lastBlockHeight, appHash: lastBlockAppHash }
  }

  /** The answers to these queries, which show the committed state. */
  async view(queries: readonly QueryRequest[]): Promise<string> {
    const answers: string[] = []
    for (const query of queries) {
      const { code, key, value, height } = await this.call('query', query)
      answers.push(`${query.path || 'query'}: ${textOf({ code, key, value, height })}`)
    }
    return answers.join('; ')
  }

  /** The height that Info has to tell: 0 before the first block, whatever the initial height. */
  private get toldHeight(): number {
    return this.committed < this.consensus.init.initialHeight ? 0 : this.committed
  }

  /**
   * Expects that Info tells the last block of which Commit was answered. `requirement`: what is broken otherwise, which
   * depends on what was called since.
   */
  async checkInfo(requirement: Requirement = 'Crash Recovery'): Promise<void> {
    if (!this.has('info')) return
    const { height, appHash } = await this.info()
    const expected = this.toldHeight
    this.judge.check(
      requirement,
      height === expected,
      () => `Info of ${this.name} reports block ${height}, and the last Commit was that of block ${expected}`,
    )
    if (height > 0) this.checkAppHash(height, appHash, requirement)
  }

  private checkAppHash(height: number, appHash: Uint8Array, requirement: Requirement = 'Crash Recovery'): void {
    const [told, expected] = [toHex(appHash), toHex(this.consensus.appHashAt(height))]
    this.judge.check(
      requirement,
      told === expected,
      () =>
        `Info of ${this.name} reports the app hash ${told || '(empty)'} for block ${height}, and FinalizeBlock returned ${expected}`,
    )
  }

  /**
   * What CometBFT does when it starts: Info, InitChain when that tells height 0, and the decided blocks which the
   * application lacks. Source: consensus/replay.go.
   */
  async handshake(): Promise<void> {
    const { height, appHash } = await this.info()
    this.judge.check(
      'Crash Recovery',
      height <= this.toldHeight,
      () =>
        `after a restart Info of ${this.name} reports block ${height}, and the last Commit was that of block ${this.toldHeight}`,
    )
    if (height > 0) this.checkAppHash(height, appHash)
    else await this.initChain()
    await this.replay(height > 0 ? height : this.consensus.init.initialHeight - 1)
  }

  /** The handshake of a node without state. */
  async begin(): Promise<void> {
    const { height } = await this.info()
    this.judge.check(
      'Crash Recovery',
      height === 0,
      () => `Info of ${this.name}, which is new, reports block ${height}`,
    )
    await this.initChain()
  }

  private async initChain(): Promise<void> {
    const response = await this.call('initChain', this.consensus.init)
    if (this.consensus.sets.size === 0) this.consensus.start(response)
    const { appHash, validators, consensusParams } = response
    const { genesis } = this.consensus
    this.judge.check(
      'InitChain',
      textOf({ appHash, validators, consensusParams }) ===
        textOf({ appHash: genesis.appHash, validators: genesis.validators, consensusParams: genesis.consensusParams }),
      () => `${this.name} answered the same genesis otherwise than the first node`,
    )
  }

  /** Executes the decided blocks above `height`, and expects what they led to at first. */
  async replay(height: number): Promise<void> {
    this.committed = height
    for (let next = height + 1; next <= this.consensus.height; next++) {
      const { request, response } = this.consensus.blocks.get(next) as {
        request: FinalizeBlockRequest
        response: FinalizeBlockResponse
      }
      const answer = await this.call('finalizeBlock', request)
      for (const [requirement, text, what] of [
        [11, stateText, 'state'],
        [12, resultsText, 'results of transactions'],
      ] as const)
        this.judge.check(
          requirement,
          text(answer) === text(response),
          () =>
            `${this.name} replayed block ${next} and answered another ${what}: ${text(answer)}, before ${text(response)}`,
        )
      await this.commit(next)
    }
  }

  /** Commits the block of `height`, which was executed. */
  async commit(height: number): Promise<void> {
    await this.call('commit', {})
    this.committed = height
  }
}
