import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import type { CampaignReport } from '../support/campaign.ts'
import { testFolder } from './support/testFolder.ts'

const MAIN = fileURLToPath(new URL('../stress/main.ts', import.meta.url))
const MINUTES_MAX = 8 * 60_000
const folder = testFolder()

test(
  'strangers hammer a chain of 2,500 candidacies: blocks go on, callers are served, memory comes back; a node that stalls is reported',
  async () => {
    const json = join(folder, 'report.json')
    const ended = await promisify(execFile)(process.execPath, [MAIN, '--short', '--stall', '--json', json], {
      timeout: MINUTES_MAX - 10_000,
    }).then(
      () => undefined,
      (error: { readonly code: number }) => error.code,
    )
    // Of all that was tried, four attacks and a node that was made to stand still, only that one broke limits. It is up
    // again for a moment only, in which strangers of low priority may get no answer.
    expect(JSON.parse(readFileSync(json, 'utf8')) as readonly CampaignReport[]).toMatchObject([
      {
        ran: 5,
        passed: false,
        result: expect.stringMatching(/^broken under stalled \((?:no stranger reached the node, )?blocks[^;]*\)$/),
      },
    ])
    expect(ended).toBe(1)
  },
  MINUTES_MAX,
)
