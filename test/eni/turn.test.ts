import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, test } from '@jest/globals'
import { createFetcher } from '../../src/eni/fetcher.ts'
import { parseAllowList, systemResolver } from '../../src/eni/policy.ts'
import type { Limits, Report, LibraryJob } from '../../src/eni/thread.ts'
import { closeAll, fileBytes, type FileServer, QUICK, serve, tempHome, wanted } from './support.ts'

const file = fileBytes(1)
const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})
afterAll(closeAll)

/** A server that notes the paths it is asked for; those under /no it has not. */
async function notingServer(): Promise<FileServer & { readonly asked: string[] }> {
  const asked: string[] = []
  const server = await serve(({ url = '' }, response) => {
    asked.push(url)
    if (url.startsWith('/no')) response.writeHead(404).end()
    else response.end(file)
  })
  return { ...server, asked }
}

/** A fetcher in this thread, whose chance is chosen. `done`: how many libraries are fetched. */
interface Chosen {
  readonly update: (libraries: readonly LibraryJob[]) => void
  readonly done: () => number
}

function fetcher(random: number, limits: Partial<Limits> = {}): Chosen {
  const reports: Report[] = []
  const update = createFetcher({
    home: tempHome(),
    allowed: parseAllowList(['127.0.0.1']),
    lookup: systemResolver,
    limits: { ...QUICK, ...limits },
    report: (report) => void reports.push(report),
    random: () => random,
  })
  let known: readonly LibraryJob[] = []
  stops.push(() => update(known.map((library) => ({ ...library, goal: 'drop' }))))
  return {
    update: (libraries) => {
      known = libraries
      update(libraries)
    },
    done: () => reports.filter((report) => report.type === 'status' && report.status === 'ready').length,
  }
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(2)
}

test('the library with the nearest point is fetched first, whenever it was proposed', async () => {
  const { url, asked } = await notingServer()
  const { update, done } = fetcher(0)
  const inMs = (ms: number): number => Date.now() + ms
  update([
    wanted(1, file, [`${url}/late`], { dueMs: inMs(9e6) }),
    wanted(2, file, [`${url}/near`], { dueMs: inMs(1e6) }),
    wanted(3, file, [`${url}/middle`], { dueMs: inMs(5e6) }),
  ])
  await until(() => done() === 3)
  expect(asked).toEqual(['/near', '/middle', '/late'])
})

test('URLs that give nothing do not hold up others, however near their point', async () => {
  const { url, asked } = await notingServer()
  const { update, done } = fetcher(0, { pauseMs: 1, pauseMsMax: 1 })
  const bad = Array.from({ length: 8 }, (_, at) => `${url}/no${at}`)
  update([
    wanted(1, file, bad, { dueMs: Date.now() + 1e6 }),
    wanted(2, file, [`${url}/good`], { dueMs: Date.now() + 9e6 }),
  ])
  await until(() => done() === 1)
  expect(asked.slice(0, 2)).toEqual(['/no0', '/good'])
})

// Where a short wait or none is expected, a wrong one takes 30 s or more, and the test fails for taking too long.
test.each([
  ['half of the longest wait where the point is far', 0.5, 4_000_000, 400, 200],
  ['none at chance 0', 0, 4_000_000, 60_000, 0],
  ['half of a tenth of the time where the point is near', 0.5, 2_000, 60_000, 100],
  ['none once the point has come', 0.5, -1, 60_000, 0],
])('the first try waits: %s', async (_name, random, pointInMs, delayMsMax, expectedMs) => {
  const { url, asked } = await notingServer()
  const { update, done } = fetcher(random, { delayMsMax })
  const begun = performance.now()
  update([wanted(1, file, [`${url}/`], { dueMs: Date.now() + pointInMs })])
  await until(() => asked.length === 1)
  expect(performance.now() - begun).toBeGreaterThanOrEqual(expectedMs - 20)
  await until(() => done() === 1)
})

test('what is to be deployed at once waits no more', async () => {
  const { url, asked } = await notingServer()
  const library = wanted(1, file, [`${url}/`], { dueMs: Date.now() + 1e9 })
  const { update } = fetcher(0.99, { delayMsMax: 60_000 })
  update([library])
  await sleep(50)
  expect(asked).toEqual([])
  update([{ ...library, goal: 'deploy' }])
  await until(() => asked.length === 1)
})
