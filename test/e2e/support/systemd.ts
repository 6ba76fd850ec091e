/** Runs the units of svcd as systemd does, for machines that have none: what they say of starts, ends and each other. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a drop-in file changes of a unit. */
export interface DropIn {
  readonly restart?: 'always'
  /** Words behind those of ExecStart. */
  readonly args?: readonly string[]
}

export type Units = ReturnType<typeof openUnits>

interface Unit {
  readonly words: readonly string[]
  readonly cwd: string
  readonly restarts: (status: number | null) => boolean
  readonly restartMs: number
  readonly stopMs: number
  readonly upholds: readonly string[]
  readonly bindsTo: readonly string[]
  wanted: boolean
  child: ChildProcess | undefined
  /** Resolves when the child has ended. */
  ended: Promise<unknown>
  log: string
}

/** The words of a command line of a unit. Source: systemd.syntax(7), quoting; systemd.unit(5), specifiers. */
const wordsOf = (line: string, instance: string): readonly string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain = '']) =>
    (quoted?.replaceAll(/\\(.)/g, '$1') ?? plain)
      .replaceAll('%i', instance)
      .replaceAll('%%', '%')
      .replaceAll('$$', '$'),
  )

function readUnit(path: string, instance: string, { restart, args = [] }: DropIn): Unit {
  const text = readFileSync(path, 'utf8')
  const all = (name: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value.replaceAll('%i', instance))
  const one = (name: string, fallback: string): string => all(name)[0] ?? fallback
  const policy = restart ?? one('Restart', 'no')
  if (policy !== 'always' && policy !== 'on-failure') throw new Error(`${path}: Restart=${policy} is not known here`)
  return {
    words: [...wordsOf(one('ExecStart', ''), instance), ...args],
    cwd: wordsOf(one('WorkingDirectory', '.'), instance).join(' '),
    restarts: (status) => policy === 'always' || status !== 0,
    restartMs: Number(one('RestartSec', '0.1')) * 1000,
    stopMs: Number(one('TimeoutStopSec', '90')) * 1000,
    upholds: all('Upholds'),
    bindsTo: all('BindsTo'),
    wanted: false,
    child: undefined,
    ended: Promise.resolve(),
    log: '',
  }
}

/**
 * Reads the units of a machine from `folder`. `instance`: that of template units. `dropIns`: by the name of the unit
 * without `.service`.
 */
export function openUnits(
  folder: string,
  names: readonly string[],
  env: NodeJS.ProcessEnv,
  instance = '',
  dropIns: Readonly<Record<string, DropIn>> = {},
) {
  const full = (name: string): string => (instance === '' ? name : `${name}@${instance}`)
  const units = new Map(
    names.map((name) => [
      full(name),
      readUnit(join(folder, `${name}${instance === '' ? '' : '@'}.service`), instance, dropIns[name] ?? {}),
    ]),
  )
  const timers = new Set<NodeJS.Timeout>()
  const need = (name: string): Unit => {
    const unit = units.get(name.replace(/\.service$/, ''))
    if (unit === undefined) throw new Error(`there is no unit ${name}`)
    return unit
  }
  const later = (ms: number, work: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, ms)
    timers.add(timer)
  }
  const run = (unit: Unit): void => {
    if (!unit.wanted || unit.child !== undefined) return
    const [program = '', ...args] = unit.words
    const child = spawn(program, args, { cwd: unit.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    unit.child = child
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        unit.log += chunk.toString()
      })
    unit.ended = once(child, 'close')
    child.once('close', (status) => {
      unit.child = undefined
      unit.log += `Main process exited, status=${status}\n`
      // Whoever is bound to it stops with it, and is started with it when it is upheld.
      for (const bound of units.values()) if (bound.bindsTo.some((name) => need(name) === unit)) void end(bound)
      if (!unit.wanted) return
      if (!unit.restarts(status) && !isUpheld(unit)) unit.wanted = false
      else later(unit.restartMs, () => run(unit))
    })
    for (const name of unit.upholds) begin(need(name))
  }
  const killAll = (): void => {
    for (const { child } of units.values()) child?.kill('SIGKILL')
  }
  process.once('exit', killAll)
  const isUpheld = (unit: Unit): boolean =>
    [...units.values()].some(({ upholds, child }) => child !== undefined && upholds.some((name) => need(name) === unit))
  const begin = (unit: Unit): void => {
    unit.wanted = true
    run(unit)
  }
  const end = async (unit: Unit): Promise<void> => {
    unit.wanted = false
    const { child } = unit
    if (child === undefined) return
    child.kill('SIGTERM')
    later(unit.stopMs, () => child.kill('SIGKILL'))
    await unit.ended
  }
  return {
    start: (name: string) => begin(need(full(name))),
    stop: (name: string) => end(need(full(name))),
    isActive: (name: string) => need(full(name)).child !== undefined,
    /** What its processes printed, and how each of them ended, as `journalctl --unit` shows it. */
    journal: (name: string) => need(full(name)).log,
    close: async () => {
      await Promise.all([...units.values()].map(end))
      for (const timer of timers) clearTimeout(timer)
      process.off('exit', killAll)
    },
  }
}
