import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { FILE_BYTES_MAX } from '../../src/eni/download.ts'
import {
  type JobState,
  libPath,
  openLibraryFolder,
  measure,
  partPath,
  stagedPath,
} from '../../src/eni/libraryFolder.ts'
import type { LibraryJob } from '../../src/eni/thread.ts'
import {
  closeAll,
  fileBytes,
  type FileServer,
  md5Of,
  namesIn,
  QUICK,
  serve,
  startRun,
  tempHome,
  wanted,
} from './support.ts'

const LIMIT_MS = 60_000
const file = fileBytes(1, 200_000)
let server: FileServer
let answer: (request: IncomingMessage, response: ServerResponse) => void
const give = (_request: IncomingMessage, response: ServerResponse): void => {
  response.end(file)
}
const url = (path = ''): string => `${server.url}/${path}`

beforeAll(async () => {
  server = await serve((request, response) => answer(request, response))
})
afterAll(closeAll)

test('a library is fetched, waits, is deployed at its point, and current leads to it; older versions stay', async () => {
  answer = give
  const [home, [one, two]] = [tempHome(), [wanted(1, file, [url()]), wanted(2, file, [url()])]] as const
  const run = startRun(home)
  run.update(one)
  await run.until(one, 'ready')
  expect([namesIn(home, 'staging'), namesIn(home, 'lib')]).toEqual([[expect.stringMatching(/^[\w-]{43}\.so$/)], []])
  run.update({ ...one, goal: 'deploy' })
  await run.until(one, 'deployed')
  run.update(two)
  await run.until(two, 'ready')
  run.update({ ...two, goal: 'deploy' })
  await run.until(two, 'deployed')
  expect([run.statuses(one), run.statuses(two)]).toEqual([
    ['init', 'ready', 'deployed'],
    ['init', 'ready', 'deployed'],
  ])
  expect([namesIn(home, 'staging'), namesIn(home, 'lib')]).toEqual([
    [],
    ['lib-current.so', 'lib-v1.0.1.so', 'lib-v1.0.2.so'],
  ])
  expect(readlinkSync(join(home, 'eni/lib/lib-current.so'))).toBe('lib-v1.0.2.so')
  for (const library of [one, two]) {
    expect(readFileSync(libPath(home, library)).equals(file)).toBe(true)
    expect(statSync(libPath(home, library)).mode & 0o777).toBe(0o600)
  }
})

test('a late older version does not take current back', async () => {
  const home = tempHome()
  let isOldThere = false
  answer = (request, response) =>
    request.url === '/old' && !isOldThere ? response.writeHead(404).end() : response.end(file)
  const run = startRun(home)
  const [old, young] = [wanted(1, file, [url('old')], { goal: 'deploy' }), wanted(2, file, [url()], { goal: 'deploy' })]
  run.update(old, young)
  await run.until(young, 'deployed')
  isOldThere = true
  await run.until(old, 'deployed')
  expect(run.statuses(old)).toEqual(['collapsed', 'deployed'])
  expect(readlinkSync(join(home, 'eni/lib/lib-current.so'))).toBe('lib-v1.0.2.so')
})

test('every URL in turn; when none gives the file it has failed, and is tried again until one does', async () => {
  const asked: string[] = []
  answer = ({ url: path = '' }, response) => {
    asked.push(path)
    if (path === '/c' && asked.length > 7) response.end(file)
    else if (path === '/b') response.end('another file')
    else response.writeHead(404).end()
  }
  const run = startRun(tempHome())
  const library = wanted(1, file, [url('a'), url('b'), url('c')])
  run.update(library)
  await run.until(library, 'ready')
  expect(asked).toEqual(['/a', '/b', '/c', '/a', '/b', '/c', '/a', '/b', '/c'])
  expect(run.statuses(library)).toEqual(['init', 'failed', 'ready'])
  expect(run.tries(library).slice(0, 2)).toEqual([
    'the server answered with status 404',
    expect.stringMatching(/^the file has the MD5 .*, but the proposal says/),
  ])
})

test('pauses double from the first to the longest, and stay there', () => {
  const limits = { ...QUICK, pauseMs: 1000, pauseMsMax: 300_000 }
  const { postpone } = openLibraryFolder({
    home: tempHome(),
    jobs: new Map(),
    limits,
    report: () => {},
    onReconciled: () => {},
  })
  const library = wanted(1, file, [])
  const job: JobState = {
    library,
    status: 'init',
    stagedBytes: undefined,
    isDone: false,
    failures: 3,
    urlIndex: 3,
    nextTryMs: 0,
    pauseMs: 1000,
  }
  const pauses = Array.from({ length: 11 }, () => {
    const from = performance.now()
    postpone(job, 'why')
    return Math.round((job.nextTryMs - from) / 1000)
  })
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  expect(job).toMatchObject({ urlIndex: 0, status: 'failed', isDone: false })
})

test('not fetched at its point it is collapsed, and deployed when it arrives; without a file for the OS it stays so', async () => {
  let held: ServerResponse | undefined
  answer = (_request, response) => {
    held = response
  }
  const run = startRun(tempHome())
  const [library, absent] = [wanted(1, file, [url()]), wanted(2, file, [], { md5: '' })]
  run.update(library, absent)
  await run.until(absent, 'failed')
  while (held === undefined) await sleep(5)
  run.update({ ...library, goal: 'deploy' }, { ...absent, goal: 'deploy' })
  await run.until(library, 'collapsed')
  await run.until(absent, 'collapsed')
  held.end(file)
  await run.until(library, 'deployed')
  expect(run.statuses(library)).toEqual(['init', 'collapsed', 'deployed'])
  expect(run.statuses(absent)).toEqual(['failed', 'collapsed'])
})

test('rejected or expired: the try under way ends, what is staged goes, and nothing is asked for any more', async () => {
  const home = tempHome()
  const open = new Set<ServerResponse>()
  answer = (request, response) => {
    if (request.url === '/staged') response.end(file)
    else open.add(response.on('close', () => open.delete(response)))
  }
  const run = startRun(home, { ...QUICK, tryMs: 10 * LIMIT_MS })
  const [staged, stalled] = [wanted(1, file, [url('staged')]), wanted(2, file, [url('stalled')])]
  run.update(staged, stalled)
  await run.until(staged, 'ready')
  while (open.size === 0) await sleep(5)
  run.update({ ...staged, goal: 'drop' }, { ...stalled, goal: 'drop' })
  await run.until(stalled, 'rejected')
  await run.until(staged, 'rejected')
  while (open.size > 0) await sleep(5)
  expect(namesIn(home, 'staging')).toEqual([])
  expect([run.statuses(stalled), run.tries(stalled)]).toEqual([['init', 'rejected'], []])
})

test('a server that stalls holds up nobody longer than its time, and is left for the next URL', async () => {
  answer = (request, response) => {
    if (request.url !== '/stall') response.end(file)
  }
  const run = startRun(tempHome(), { ...QUICK, tryMs: 3_000 })
  const [stalled, other] = [wanted(1, file, [url('stall'), url('b')]), wanted(2, file, [url()])]
  run.update(stalled, other)
  await run.until(other, 'ready')
  await run.until(stalled, 'ready')
  // On a busy machine the file itself can take longer at first.
  expect(new Set(run.tries(stalled))).toEqual(new Set(['not done within 3 s']))
})

test('a full staging takes no more until something leaves it, but what is deployed at once still passes', async () => {
  answer = give
  const home = tempHome()
  // Room for the file that grows, the one kept for deployments, and one file that waits.
  const run = startRun(home, { ...QUICK, stagingBytesMax: 2 * FILE_BYTES_MAX + file.length - 1 })
  const [one, two, three] = [1, 2, 3].map((number) => wanted(number, file, [url()], { name: `lib${number}` })) as [
    LibraryJob,
    LibraryJob,
    LibraryJob,
  ]
  run.update(one, two, { ...three, goal: 'deploy' })
  await run.until(three, 'deployed')
  expect([run.statuses(one), run.statuses(two)]).toEqual([['init', 'ready'], ['init']])
  run.update({ ...one, goal: 'drop' })
  await run.until(two, 'ready')
})

describe('what a fetcher finds when it starts', () => {
  test('whole files stay, staged and deployed; damaged ones are fetched anew; what nobody wants is removed', async () => {
    answer = give
    const home = tempHome()
    const first = startRun(home)
    const all = [1, 2, 3, 4].map((number) => wanted(number, file, [url()], { name: `lib${number}` }))
    const [staged, spoilt, deployed, broken] = all as [LibraryJob, LibraryJob, LibraryJob, LibraryJob]
    first.update(...all)
    await first.untilTrue(() => all.every((library) => first.statuses(library).at(-1) === 'ready'))
    first.update({ ...deployed, goal: 'deploy' }, { ...broken, goal: 'deploy' })
    await first.until(broken, 'deployed')
    await first.close()
    writeFileSync(stagedPath(home, spoilt.id), 'half')
    writeFileSync(libPath(home, broken), 'half')
    writeFileSync(partPath(home, staged.id), 'half')
    writeFileSync(join(home, 'eni/staging/foreign.so'), 'x')
    rmSync(join(home, 'eni/lib/lib3-current.so'))
    const before = server.connections()
    const second = startRun(home)
    second.update(staged, spoilt, { ...deployed, goal: 'deploy' }, { ...broken, goal: 'deploy' })
    await second.until(spoilt, 'ready')
    await second.until(broken, 'deployed')
    expect(all.map(second.statuses)).toEqual([['ready'], ['init', 'ready'], ['deployed'], ['collapsed', 'deployed']])
    expect(server.connections()).toBe(before + 2)
    expect(namesIn(home, 'staging')).toHaveLength(2)
    for (const library of [deployed, broken]) expect((await measure(libPath(home, library)))?.md5).toBe(md5Of(file))
    expect(readlinkSync(join(home, 'eni/lib/lib3-current.so'))).toBe('lib3-v1.0.3.so')
  })

  test('current leads to the newest version all the time, and to the one before where that is damaged', async () => {
    answer = give
    const home = tempHome()
    const current = (): string => readlinkSync(join(home, 'eni/lib/lib-current.so'))
    const [one, two] = [1, 2].map((number) => ({ ...wanted(number, file, [url()]), goal: 'deploy' })) as [
      LibraryJob,
      LibraryJob,
    ]
    const first = startRun(home)
    first.update(one, two)
    for (const library of [one, two]) await first.until(library, 'deployed')
    await first.close()
    expect(current()).toBe('lib-v1.0.2.so')
    const second = startRun(home)
    second.update(one, two)
    await second.until(one, 'deployed')
    expect(current()).toBe('lib-v1.0.2.so')
    await second.until(two, 'deployed')
    await second.close()
    writeFileSync(libPath(home, two), 'half')
    answer = (_request, response) => void response.writeHead(404).end()
    const third = startRun(home)
    third.update(one, two)
    await third.until(two, 'collapsed')
    expect([current(), third.statuses(one)]).toEqual(['lib-v1.0.1.so', ['deployed']])
  })

  test('a folder that cannot be made is a failure that is told, and is got over', async () => {
    answer = give
    const home = tempHome()
    writeFileSync(join(home, 'eni'), 'in the way')
    const run = startRun(home)
    const library = wanted(1, file, [url()])
    run.update(library)
    await run.until(library, 'failed')
    expect(run.tries(library)[0]).toMatch(/^cannot keep the file: (?:EEXIST|ENOTDIR)/)
    rmSync(join(home, 'eni'))
    await run.until(library, 'ready')
  })
})

interface Child {
  readonly said: () => string
  readonly until: (text: string) => Promise<void>
  readonly kill: () => Promise<void>
}

/** Runs a program of these tests, in a shell of bash that runs `shell` first. */
function child(script: string, args: readonly string[], shell = ''): Child {
  const command = `${shell} exec "$0" --disable-warning=ExperimentalWarning "$@"`
  const file = join(import.meta.dirname, script)
  const run = spawn('/bin/bash', ['-c', command, process.execPath, file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  run.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const ended = once(run, 'close')
  return {
    said: () => text,
    kill: async () => {
      run.kill('SIGKILL')
      await ended
    },
    until: async (wantedText) => {
      while (!text.includes(wantedText)) {
        if (run.exitCode !== null) throw new Error(`${script} ended with ${run.exitCode}: ${text}`)
        await sleep(10)
      }
    },
  }
}

describe('kill -9', () => {
  test('during a fetch: what was there is no library, and the next start fetches it whole', async () => {
    const home = tempHome()
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': file.length }).write(file.subarray(0, 100_000))
    }
    const library = wanted(1, file, [url()], { goal: 'deploy' })
    const killed = child('fetcherChild.ts', [home, JSON.stringify([library])])
    while (!existsSync(partPath(home, library.id)) || statSync(partPath(home, library.id)).size < 100_000)
      await sleep(10)
    await killed.kill()
    expect([namesIn(home, 'staging'), namesIn(home, 'lib')]).toEqual([[expect.stringMatching(/\.part$/)], []])
    answer = give
    const run = startRun(home)
    run.update(library)
    await run.until(library, 'deployed')
    expect(readFileSync(libPath(home, library)).equals(file)).toBe(true)
    expect(namesIn(home, 'staging')).toEqual([])
  })

  test('during renames: every library is whole or absent, and current leads to one', async () => {
    const home = tempHome()
    for (const pauseMs of [0, 7, 13, 29]) {
      rmSync(join(home, 'eni'), { recursive: true, force: true })
      const killed = child('renameChild.ts', [home])
      await killed.until('3\n')
      await sleep(pauseMs)
      await killed.kill()
      const names = namesIn(home, 'lib').filter((name) => /-v/.test(name))
      expect(names.length).toBeGreaterThanOrEqual(3)
      for (const name of names) {
        const number = Number(/v1\.0\.(\d+)/.exec(name)?.[1])
        expect([name, readFileSync(join(home, 'eni/lib', name)).equals(fileBytes(number, 300_000))]).toEqual([
          name,
          true,
        ])
      }
      expect(names).toContain(readlinkSync(join(home, 'eni/lib/lib-current.so')))
    }
  })
})

test('a disk that is full: failed, in words that say so, and nothing is left; with room again the library arrives', async () => {
  answer = give
  const home = tempHome()
  mkdirSync(join(home, 'eni'))
  const library = wanted(1, file, [url()])
  // No file of this process may grow over 64 KiB: what a write gives then is what a full disk gives, but for its
  // name.
  const full = child('fetcherChild.ts', [home, JSON.stringify([library])], 'ulimit -f 64;')
  await full.until('"status":"failed"')
  const reports = full
    .said()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { why?: string; status?: string })
  expect(reports.map(({ status }) => status)).toEqual(['init', undefined, 'failed'])
  expect(reports[2]?.why).toMatch(/^not fetched: cannot write \S+\.part: EFBIG: file too large/)
  await full.until('"type":"try"')
  await full.kill()
  const run = startRun(home)
  run.update(library)
  await run.until(library, 'ready')
})
