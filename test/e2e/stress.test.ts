import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import type { Endured } from '../stress/limits.ts'

const MAIN = fileURLToPath(new URL('../stress/main.ts', import.meta.url))
const MINUTES_MAX = 8 * 60_000

test(
  'strangers hammer a chain of 2,500 candidacies: blocks go on, honest calls are served, memory comes back',
  async () => {
    // A broken limit ends it with 1; what it prints says which.
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--short', '--json'], {
      timeout: MINUTES_MAX - 10_000,
    }).catch((error: { readonly stdout: string }) => error)
    const rows = JSON.parse(stdout) as readonly (Endured & { readonly broken: readonly string[] })[]
    expect(rows.filter(({ broken }) => broken.length > 0)).toEqual([])
    expect(rows.map(({ name }) => name)).toEqual([
      'rpc-lists',
      'batch-lists',
      'garbage',
      'slow-readers',
      'slow-writers',
    ])
  },
  MINUTES_MAX,
)
