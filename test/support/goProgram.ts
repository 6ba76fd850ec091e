import { execFileSync } from 'node:child_process'

/** As src/comet/build.ts builds CometBFT: Go then has most packages already, and needs no C compiler. */
const FLAGS = ['-trimpath', '-buildvcs=false']
const env = { ...process.env, CGO_ENABLED: '0' }

/** Builds the Go program of a folder, or of one below it, into the file `path`. */
export function buildGoProgram(folder: string, path: string, below = '.'): void {
  execFileSync('go', ['build', ...FLAGS, '-o', path, below], { cwd: folder, env })
}

/** Runs the Go program of a folder below `folder`. Returns what it prints. */
export const runGoProgram = (folder: string, below: string): string =>
  execFileSync('go', ['run', ...FLAGS, below], { cwd: folder, env, encoding: 'utf8', maxBuffer: 1 << 24 })
