import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import type { CampaignReport } from '../support/campaign.ts'
import { testFolder } from './support/testFolder.ts'

const MAIN = fileURLToPath(new URL('../soak/main.ts', import.meta.url))
const LIMIT_MS = 300_000
const MINUTES = '0.3'
const LEAK_MB_AN_HOUR = '7200'
const folder = testFolder()

// Seconds say nothing of the figures: this is whether everything is looked at, and a leak is told.
test('a soak looks at every process under load, and reports one that leaks memory and files', async () => {
  const json = join(folder, 'reports.json')
  const args = [MAIN, '--minutes', MINUTES, '--leak', LEAK_MB_AN_HOUR, '--json', json]
  const ended = await promisify(execFile)(process.execPath, args, { timeout: LIMIT_MS - 20_000 }).then(
    () => undefined,
    (error: { readonly code: number }) => error.code,
  )
  expect(ended).toBe(1)
  const reports = JSON.parse(readFileSync(json, 'utf8')) as readonly CampaignReport[]
  const found = (name: string): CampaignReport | undefined => reports.find((report) => report.name === name)
  expect(found('memory, process that leaks')).toMatchObject({ passed: false })
  expect(found('file descriptors, process that leaks')).toMatchObject({ passed: false })
  for (const part of ['application', 'gateway', 'CometBFT']) {
    expect(found(`memory, ${part}`)?.result).toMatch(/^-?\d+\.\d+ ± \d+\.\d+ MB an hour, from \d+ to \d+ MB, at most/)
    expect(found(`file descriptors, ${part}`)?.result).toMatch(/^\d+ at least in the first third, \d+ in the last/)
    expect(found('logs')?.result).toMatch(new RegExp(`${part} \\d+\\.\\d`))
  }
  expect(found("SQLite's write-ahead log")?.result).toMatch(/^(?!0\.0)\d+\.\d+ MiB/)
  expect(found('load')?.result).toMatch(/^[1-9]\d* in blocks, [1-9]\d* reads, [1-9]\d* notifications/)
})
