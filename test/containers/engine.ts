import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** A container engine and the compose program that drives it. */
export interface Engine {
  /** The compose program and its first arguments. */
  readonly compose: readonly string[]
  /** What it calls itself. */
  readonly version: string
}

/** How a program ended; `status` is undefined when there is no such program. */
interface Ended {
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program in the checkout to its end. `input`: what it reads from stdin. */
export function run(command: readonly string[], env: NodeJS.ProcessEnv, input = ''): Ended {
  const [program = '', ...args] = command
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    env,
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return { status: error === undefined ? (status ?? 1) : undefined, stdout: stdout ?? '', stderr: stderr ?? '' }
}

/** The engine that answers, or the reason why there is none, in one line. */
export function findEngine(env: NodeJS.ProcessEnv): Engine | string {
  const info = run(['docker', 'info', '--format', '{{.ServerVersion}}'], env)
  if (info.status === undefined) return 'there is no docker program on the PATH'
  if (info.status !== 0 || info.stdout.trim() === '')
    return `no engine answers: ${info.stderr.trim().split('\n')[0] ?? ''}`
  for (const compose of [['docker-compose'], ['docker', 'compose']]) {
    const { status, stdout } = run([...compose, 'version', '--short'], env)
    if (status === 0) return { compose, version: `${compose.join(' ')} ${stdout.trim()}, engine ${info.stdout.trim()}` }
  }
  return 'there is neither docker-compose nor docker compose'
}
