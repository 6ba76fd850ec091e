import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { examplesRunBy } from '../../docs/examples.ts'

const root = join(import.meta.dirname, '../../..')

/** One command of the tour, what it printed, and when, in ms from the start of the tour. */
export interface TourStep {
  readonly command: string
  readonly output: string
  readonly startedMs: number
  readonly endedMs: number
}

/** Every command of README's tour in order; a line that ends with a backslash goes on in the next. */
export const tourCommands = (): readonly string[] =>
  examplesRunBy('test/e2e/tour.test.ts')
    .map(({ code }) => code)
    .join('')
    .trim()
    .split(/(?<!\\)\n/)

const MARK = '\u0001'

/**
 * Pastes the tour into one bash in the checkout, as a person would: each command runs in the shell that the ones before
 * it left. `gateway`: HOST:PORT in place of the default one. Rejects with everything printed when a command fails.
 */
export function runTour(gateway: string, env: NodeJS.ProcessEnv): Promise<readonly TourStep[]> {
  const commands = tourCommands()
  const child = spawn('/bin/bash', ['--norc'], { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const begin = Date.now()
  let text = ''
  const ends: number[] = []
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (const _ of chunk.matchAll(new RegExp(MARK, 'g'))) ends.push(Date.now() - begin)
  })
  const pasted = commands.map((command) => `${command.replaceAll('127.0.0.1:8545', gateway)}\nprintf '\\1'\n`)
  child.stdin.end(`exec 2>&1\nset -e -o pipefail\n${pasted.join('')}`)
  return new Promise((done, failed) =>
    child.once('close', (status) => {
      if (status !== 0 || ends.length !== commands.length) {
        failed(new Error(`the tour ended with ${status} after ${ends.length} commands:\n${text}`))
        return
      }
      const outputs = text.split(MARK)
      done(
        commands.map((command, index) => ({
          command,
          output: outputs[index] ?? '',
          startedMs: ends[index - 1] ?? 0,
          endedMs: ends[index] ?? 0,
        })),
      )
    }),
  )
}
