import { spawn } from 'node:child_process'

/**
 * Runs a program with Node until it has printed more than `lines` lines and `delayMs` longer, kills it, and resolves with
 * what it printed. Rejects with its errors when it ends by itself, unless it may, with status 0.
 */
export function runAndKill(args: readonly string[], lines: number, delayMs: number, mayEnd = false): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let [said, errors, isKilling] = ['', '', false]
    child.stderr.on('data', (data: Buffer) => {
      errors += data.toString()
    })
    child.stdout.on('data', (data: Buffer) => {
      said += data.toString()
      if (isKilling || said.split('\n').length <= lines) return
      isKilling = true
      setTimeout(() => child.kill('SIGKILL'), delayMs)
    })
    child.on('close', (code, signal) =>
      signal === 'SIGKILL' || (mayEnd && code === 0)
        ? done(said)
        : failed(new Error(`the child ended by itself: ${errors}`)),
    )
  })
}
