import type { FinalizeBlockRequest } from '../../src/abci/types.ts'
import { toHex } from '../../src/base/bytes.ts'
import { readReply, requestFrame } from '../abci/peer.ts'
import type { Init } from '../sim/recordedChain.ts'
import type { Random } from '../sim/traffic.ts'
import { makeApplicationHome } from '../support/applicationHome.ts'
import { Broken, need } from '../support/campaign.ts'
import { Application, type Setting } from './application.ts'

/** A block, and what is expected of it. */
export interface Block {
  readonly request: FinalizeBlockRequest
  /** Its request as a node writes it. */
  readonly frame: Buffer
  /** The whole answer: app hash, results, events and updates. */
  readonly answer: Buffer
  readonly appHash: Uint8Array
  /** The program that executes the blocks above it. */
  readonly programVersion: number
}

/** Where a chain stands. */
interface Place {
  readonly height: number
  readonly appHash: string
}

/** The chain's first request, and what is expected of it. */
export interface Genesis {
  readonly init: Init
  readonly answer: Buffer
}

const COMMIT = requestFrame('commit')
const TEXT_MAX = 400

/** The first member in which two answers differ. */
function differenceOf(answer: Buffer, expected: Buffer): string {
  const print = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? toHex(value) : value)
  const [own, other] = [answer, expected].map((frame) => readReply(frame)) as [
    ReturnType<typeof readReply>,
    ReturnType<typeof readReply>,
  ]
  for (const name of Object.keys({ ...other.value, ...own.value })) {
    const [one, two] = [own, other].map(({ value }) => JSON.stringify(value[name], print) ?? 'nothing')
    if (one !== two) return `${name}: ${one?.slice(0, TEXT_MAX)} instead of ${two?.slice(0, TEXT_MAX)}`
  }
  return `${own.kind} instead of ${other.kind}`
}

function compare(answer: Buffer, expected: Buffer): void {
  if (!answer.equals(expected)) throw new Broken(differenceOf(answer, expected))
}

const placeOf = ({ request, appHash }: Block): Place => ({ height: request.height, appHash: toHex(appHash) })

/** Reads the answers to `asked`, and then that to the block. */
async function readFinalized(application: Application, block: Block, asked: readonly string[]): Promise<void> {
  for (const kind of asked) await application.readValue(kind)
  compare(await application.read(), block.answer)
}

/** A node of the network: the application as a process, which is stopped and killed at heights of its own. */
export class Replica {
  private readonly program: string
  private readonly setting: Setting
  private readonly home: string
  private readonly next: Random
  private readonly genesis: Genesis
  private readonly blocksMax: number
  private application: Application | undefined
  private last: Place = { height: 0, appHash: '' }
  private programVersion = 1
  private restartAt: number
  private isKilled = false
  restarts = 0

  /** `next`: decides what only this replica meets. `blocksMax`: the most blocks between two restarts. */
  constructor(program: string, setting: Setting, home: string, next: Random, genesis: Genesis, blocksMax: number) {
    this.program = program
    this.setting = setting
    this.home = home
    this.next = next
    this.genesis = genesis
    this.blocksMax = blocksMax
    this.restartAt = genesis.init.initialHeight + next(blocksMax)
    makeApplicationHome(home)
  }

  /** Starts the process. Throws Broken unless it stands at one of these places. */
  private async start(places: readonly Place[]): Promise<Application> {
    const { programVersion, genesis } = this
    const accept = programVersion === 1 ? [] : ['--accept-program-version', String(programVersion)]
    // Whoever kills this replica must find each process that it starts.
    if (this.isKilled) throw new Broken('it was killed')
    const application = new Application(this.program, this.setting, this.home, accept)
    this.application = application
    await application.connect(this.home)
    const info = await application.ask('info', { version: '' })
    const height = Number(info['lastBlockHeight'] ?? 0)
    const hash = height === 0 ? '' : toHex(info['lastBlockAppHash'] as Uint8Array)
    const place = places.find((one) => one.height === height && one.appHash === hash)
    need(place !== undefined, () => `it starts at ${height} with the app hash ${hash}`)
    this.last = place
    if (height === 0) {
      application.send(requestFrame('initChain', genesis.init))
      compare(await application.read(), genesis.answer)
    }
    return application
  }

  /** Sends what a node asks before a decision, of each replica something else. Returns the kinds in their order. */
  private askSome(application: Application, { request: { decidedLastCommit, ...block } }: Block): readonly string[] {
    const { next } = this
    const checks = block.txs.filter(() => next(2) === 0).map((tx) => ['checkTx', { tx, type: 0 }] as const)
    const asked = next(3) > 0 ? [] : [['processProposal', { ...block, proposedLastCommit: decidedLastCommit }] as const]
    return [...checks, ...asked].map(([kind, request]) => {
      application.send(requestFrame(kind, request))
      return kind
    })
  }

  /** Executes these blocks without a break. */
  private async execute(application: Application, blocks: readonly Block[]): Promise<void> {
    const asked = blocks.map((block) => {
      const kinds = this.askSome(application, block)
      application.send(block.frame, COMMIT)
      return kinds
    })
    for (const [at, block] of blocks.entries()) {
      await readFinalized(application, block, asked[at] as readonly string[])
      await application.readValue('commit')
      this.last = placeOf(block)
    }
  }

  /** Stops it in order, or kills it somewhere in the next block, and starts it again. */
  private async restart(application: Application, block: Block): Promise<Application> {
    const { last, next } = this
    this.restarts++
    const how = next(4)
    if (how === 0) {
      const status = await application.end('SIGTERM')
      need(status === 0, () => `it was stopped and ended with ${status}`)
      return await this.start([last])
    }
    const asked = this.askSome(application, block)
    application.send(block.frame)
    await readFinalized(application, block, asked)
    if (how > 1) application.send(COMMIT)
    if (how > 2) await application.readValue('commit')
    await application.end('SIGKILL')
    return await this.start([...(how > 2 ? [] : [last]), ...(how > 1 ? [placeOf(block)] : [])])
  }

  /** The program was retired with the last block: it ends by itself, and its successor goes on. */
  private async succeed(application: Application, version: number): Promise<Application> {
    const status = await application.end()
    need(status === 0, () => `it was retired and ended with ${status}`)
    this.programVersion = version
    return await this.start([this.last])
  }

  private async runAll(blocks: readonly Block[]): Promise<void> {
    let application = this.application ?? (await this.start([this.last]))
    let rest = blocks
    while (rest.length > 0) {
      const before = rest.findIndex(
        ({ request, programVersion }) => request.height >= this.restartAt || programVersion !== this.programVersion,
      )
      const stop = rest[before]
      await this.execute(application, stop === undefined ? rest : rest.slice(0, before))
      if (stop === undefined) return
      if (stop.programVersion !== this.programVersion) {
        await this.execute(application, [stop])
        application = await this.succeed(application, stop.programVersion)
      } else {
        application = await this.restart(application, stop)
        this.restartAt = stop.request.height + 1 + this.next(this.blocksMax)
      }
      rest = rest.filter(({ request }) => request.height > this.last.height)
    }
  }

  /** Executes the next blocks. Throws Broken at the first that is answered otherwise than expected. */
  async run(blocks: readonly Block[]): Promise<void> {
    try {
      await this.runAll(blocks)
    } catch (thrown) {
      if (!(thrown instanceof Broken)) throw thrown
      throw new Broken(`above height ${this.last.height}, ${this.name}: ${thrown.message}`)
    }
  }

  private get name(): string {
    return Object.values(this.setting.env).join(' ')
  }

  /** Stops it in order. Throws Broken when it does not end with status 0. */
  async stop(): Promise<void> {
    const status = await this.application?.end('SIGTERM')
    need(status === 0, () => `${this.name}: it was stopped at the end and ended with ${status}`)
  }

  /** Kills it, whatever it does; it cannot run any more. */
  async kill(): Promise<void> {
    this.isKilled = true
    await this.application?.end('SIGKILL')
  }
}
