/**
 * A fetcher as a program that a test can kill: `node fetcherChild.ts <home> <JSON of the libraries>`; a line of JSON
 * for each report.
 */
import { startRun } from './support.ts'
import type { LibraryJob } from '../../src/eni/thread.ts'

const [home = '', libraries = '[]'] = process.argv.slice(2)
const { update, untilTrue, reports } = startRun(home)
let told = 0
void untilTrue(() => {
  for (; told < reports.length; told++) process.stdout.write(`${JSON.stringify(reports[told])}\n`)
  return false
})
update(...(JSON.parse(libraries) as LibraryJob[]))
// The fetcher's thread does not keep the process alive.
setInterval(() => {}, 60_000)
