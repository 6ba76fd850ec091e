import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findCometBft } from '../../../src/comet/find.ts'
import { openNodeRpc } from '../../../src/comet/rpc.ts'
import { gatewayClient } from './client.ts'
import { allGone, descendantsOf, freePorts } from './processes.ts'
import { recordedCometBft } from './recordedCometBft.ts'

const SVCD = fileURLToPath(new URL('../../../src/cli/svcd.js', import.meta.url))
// The tests' own Node, also when PATH is emptied.
const NODE = process.execPath

/** How a program ended, and all it said. */
export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** `svcd` with these arguments, until it ends by itself. `program`: its file, when it is not that of this checkout. */
export function svcd(args: readonly string[], env: NodeJS.ProcessEnv = process.env, program = SVCD): Promise<Ended> {
  return launch(args, env, program).ended
}

const launched = new Set<number>()

/**
 * Ends whatever a failed test left running, children too. For afterAll: a devnet left over would hold up the whole run.
 */
export function endLeftovers(): void {
  for (const pid of launched) {
    for (const one of [pid, ...descendantsOf(pid).map((below) => below.pid)]) {
      try {
        process.kill(one, 'SIGKILL')
      } catch {
        /* it has ended */
      }
    }
  }
}

function launch(args: readonly string[], env: NodeJS.ProcessEnv, program = SVCD) {
  // A process group of its own: a signal to the group is what Ctrl-C sends, and must not reach the tests.
  const child = spawn(NODE, [program, ...args], { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      text[name] += chunk.toString()
      for (const listener of listeners) listener()
    })
  }
  launched.add(child.pid as number)
  const ended = new Promise<Ended>((done) =>
    child.once('close', (status) => {
      launched.delete(child.pid as number)
      done({ status, ...text })
    }),
  )
  const said = (pattern: RegExp): Promise<string> =>
    new Promise((done, failed) => {
      const look = (): void => {
        const found = pattern.exec(text.stdout)
        if (found === null) return
        listeners.delete(look)
        done(found[0])
      }
      listeners.add(look)
      look()
      void ended.then(({ status }) =>
        failed(new Error(`svcd ${args.join(' ')} ended with ${status}:\n${text.stdout}${text.stderr}`)),
      )
    })
  return { pid: child.pid as number, ended, said }
}

/** Where a devnet lives: the same place may be started again. */
export interface Place {
  readonly home: string
  readonly ports: readonly number[]
  readonly blockTime: string
}

export const makePlace = async (home: string, blockTime = '200ms'): Promise<Place> => ({
  home,
  ports: await freePorts(3),
  blockTime,
})

export const devnetArgs = ({ home, ports, blockTime }: Place): readonly string[] => [
  'devnet',
  '--home',
  home,
  '--block-time',
  blockTime,
  ...['--gateway', '--rpc', '--p2p'].flatMap((flag, at) => [flag, `127.0.0.1:${ports[at]}`]),
]

/** CometBFT with recorders before the applications of all validators of a devnet. */
export async function recordedCometBftOf(home: string, validators = 1, env: NodeJS.ProcessEnv = process.env) {
  const homes = Array.from({ length: validators }, (_, at) => (at === 0 ? home : join(home, `node${at}`)))
  return recordedCometBft(env['SVCD_COMETBFT'] ?? (await findCometBft()).path, homes)
}

/** A running `svcd devnet`: a process whose children are the application and CometBFT. */
export type Devnet = Awaited<ReturnType<typeof startDevnet>>

/**
 * Starts `svcd devnet` and waits until it says that it is ready. Throws with all it said when it does not come up.
 * `program`: its file, when it is not that of this checkout. The order of CometBFT's calls is checked when all of it has
 * ended.
 */
export async function startDevnet(
  place: Place,
  extra: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
  program = SVCD,
) {
  const validators = extra.includes('--validators') ? Number(extra[extra.indexOf('--validators') + 1]) : 1
  const comet = await recordedCometBftOf(place.home, validators, env)
  const { pid, ended, said } = launch([...devnetArgs(place), ...extra], { ...env, SVCD_COMETBFT: comet.path }, program)
  const ready = await said(/devnet ready: gateway http:\S+/).catch(async (error: unknown) => {
    await comet.close()
    throw error
  })
  const url = /http:\S+/.exec(ready)?.[0] as string
  const below = descendantsOf(pid)
  const pidOf = (pattern: RegExp): number => {
    const found = below.find(({ args }) => pattern.test(args))
    if (found === undefined) throw new Error(`no process ${pattern} below the devnet`)
    return found.pid
  }
  const pids = { app: pidOf(/svcd\.js start /), node: pidOf(/cometbft node /) }
  const node = openNodeRpc(`http://127.0.0.1:${place.ports[1]}`)
  const all = [pid, ...below.map((one) => one.pid)]
  const gone = ended.then(async (end) => {
    node.close()
    await allGone(all)
    if ((await comet.close()) === 0) throw new Error('the devnet made blocks, and no ABCI call was recorded')
    return end
  })
  return {
    ...gatewayClient(url),
    place,
    pid,
    /** Of its parts, found by what they were started with. */
    pids,
    node,
    ended: gone,
    /** Sends a signal, to the whole process group when `group`, as Ctrl-C does. Resolves when no process of it is left. */
    stop: (signal: NodeJS.Signals = 'SIGTERM', group = false) => {
      try {
        process.kill(group ? -pid : pid, signal)
      } catch {
        /* it has ended already */
      }
      return gone
    },
  }
}
