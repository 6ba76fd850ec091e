/** `svcd start` as a process, and the connection of its node. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFrameReader } from '../../src/abci/frame.ts'
import { readReply, requestFrame } from '../abci/peer.ts'
import { Broken, need } from '../support/campaign.ts'

/** What a replica runs on, and how. */
export interface Setting {
  /** Node's program. */
  readonly node: string
  readonly env: Readonly<Record<string, string>>
  /** Flags of `svcd start`. */
  readonly flags: readonly string[]
}

const STARTUP_MS_MAX = 120_000
const ERRORS_CHARS_MAX = 4096

async function* framesOf(socket: Socket): AsyncGenerator<Buffer, undefined> {
  const reader = createFrameReader()
  for await (const packet of socket) {
    reader.push(packet as Buffer)
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) yield frame
  }
}

/** Settles when the socket is connected; undefined when nobody listens there. */
async function tryConnect(path: string): Promise<Socket | undefined> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return socket.on('error', () => undefined) // Its process is killed. Who reads is told.
  } catch {
    return undefined
  }
}

/** One run of the application, from its start to its end. */
export class Application {
  private readonly child: ChildProcess
  private readonly ended: Promise<string | number>
  private errors = ''
  private socket!: Socket
  private frames!: AsyncGenerator<Buffer, undefined>

  /** Starts it. It has to be connected next, and ended in any case. */
  constructor(program: string, { node, env, flags }: Setting, home: string, more: readonly string[]) {
    const args = ['start', '--home', home, '--abci', `unix://${home}.sock`, '--log-file', `${home}.log`]
    this.child = spawn(node, [program, ...args, ...flags, ...more], {
      // With a channel to this process it ends when this process does, however that is killed.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    })
    this.child.stderr?.on('data', (data: Buffer) => {
      this.errors = (this.errors + data.toString()).slice(-ERRORS_CHARS_MAX)
    })
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => resolve(error.message))
      this.child.once('close', (status, signal) => resolve(signal ?? status ?? 'nothing'))
    })
  }

  /** Connects to it. Throws Broken when it ends or does not listen. */
  async connect(home: string): Promise<void> {
    let end: string | number | undefined
    void this.ended.then((how) => {
      end = how
    })
    const untilMs = performance.now() + STARTUP_MS_MAX
    while (end === undefined && performance.now() < untilMs) {
      const socket = await tryConnect(`${home}.sock`)
      if (socket !== undefined) {
        this.socket = socket
        this.frames = framesOf(socket)
        return
      }
      await sleep(5)
    }
    throw new Broken(`it does not start: ${end ?? 'it does not listen'}: ${this.errors.trim()}`)
  }

  send(...frames: readonly Buffer[]): void {
    for (const frame of frames) this.socket.write(frame)
  }

  /** The next reply's frame, without its length. Throws Broken when there is none. */
  async read(): Promise<Buffer> {
    const { value } = await this.frames.next().catch(() => ({ value: undefined }))
    need(value !== undefined, () => `it closed the connection: ${this.errors.trim()}`)
    return value
  }

  /** The next reply's members. Throws Broken unless it is of that kind. */
  async readValue(kind: string): Promise<Readonly<Record<string, unknown>>> {
    const reply = readReply(await this.read())
    need(reply.kind === kind, () => `${kind} is answered with ${reply.kind} ${JSON.stringify(reply.value)}`)
    return reply.value
  }

  async ask(kind: string, request?: object): Promise<Readonly<Record<string, unknown>>> {
    this.send(requestFrame(kind, request))
    return await this.readValue(kind)
  }

  /** Ends it with a signal, or waits for it to end by itself. Returns its exit status, or the signal that ended it. */
  async end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<string | number> {
    if (signal !== undefined) this.child.kill(signal)
    const how = await this.ended
    this.socket?.destroy()
    return how
  }
}
