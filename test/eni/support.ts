import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { readdirSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { LIMITS, type Limits, type Report, startFetcherThread, type LibraryJob } from '../../src/eni/thread.ts'
import type { Lookup } from '../../src/eni/policy.ts'
import { tempFolder } from '../support/tempFolder.ts'

/** An HTTP server that counts the connections that reach it. */
export interface FileServer {
  readonly port: number
  readonly url: string
  readonly connections: () => number
}

const closers: (() => unknown)[] = []

/** Ends every server, fetcher and folder of these tests. For afterAll. */
export async function closeAll(): Promise<void> {
  for (const close of closers.reverse()) await close()
}

/** Serves on one address until the tests end. Rejects where the machine has no such address. */
export async function serve(answer: RequestListener, host = '127.0.0.1', port = 0): Promise<FileServer> {
  let connections = 0
  const server = createServer(answer).on('connection', () => {
    connections++
  })
  await new Promise<void>((done, failed) => server.once('error', failed).listen(port, host, done))
  const own = (server.address() as AddressInfo).port
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  closers.push(close)
  return { port: own, url: `http://${isIPv6(host) ? `[${host}]` : host}:${own}`, connections: () => connections }
}

/** A folder that is removed when the tests end. */
export function tempHome(): string {
  const { path, remove } = tempFolder('eni')
  closers.push(remove)
  return path
}

/** Bytes of a library, the same for the same seed. */
export const fileBytes = (seed: number, length = 5000): Buffer =>
  Buffer.alloc(length, createHash('sha256').update(String(seed)).digest())

/** Lower-case hex. */
export const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex')

/** A name server for A records: each question takes the next answer of its name, the last one again and again. */
export async function startNameServer(
  answers: Readonly<Record<string, readonly (readonly string[])[]>>,
): Promise<{ readonly lookup: Lookup; readonly asked: string[] }> {
  const asked: string[] = []
  const socket = createSocket('udp4').on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] as number; length > 0; length = query[at] as number) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const name = labels.join('.').toLowerCase()
    const turns = answers[name] ?? []
    const found = turns[Math.min(asked.filter((one) => one === name).length, turns.length - 1)] ?? []
    asked.push(name)
    const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, found.length, 0, 0, 0, 0])
    query.copy(header, 0, 0, 2)
    const records = found.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    )
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), ...records]), from.port, from.address)
  })
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done))
  closers.push(() => {
    socket.close()
  })
  const lookup: Lookup = async (host) => {
    const resolver = new Resolver()
    resolver.setServers([`127.0.0.1:${socket.address().port}`])
    return (await resolver.resolve4(host)).map((address) => ({ address, family: 4 }))
  }
  return { lookup, asked }
}

/** Times for tests: short pauses, so that a library is there soon after its server gives it, and long tries on a busy machine. */
export const QUICK: Limits = { ...LIMITS, delayMsMax: 0, tryMs: 300_000, pauseMs: 20, pauseMsMax: 80 }

/** A fetcher in its thread, and what it told. */
export interface Run {
  readonly update: (...libraries: readonly LibraryJob[]) => void
  readonly reports: readonly Report[]
  /** Statuses of one library in the order in which they were told. */
  readonly statuses: (library: LibraryJob) => readonly string[]
  /** Why tries failed, in order. */
  readonly tries: (library: LibraryJob) => readonly string[]
  /** Resolves once the library has this status. */
  readonly until: (library: LibraryJob, status: string) => Promise<void>
  /** Resolves once this holds; looked at after each report. */
  readonly untilTrue: (holds: () => boolean) => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts a fetcher for a home; 127.0.0.1 is allowed. */
export function startRun(home: string, limits: Limits = QUICK): Run {
  const reports: Report[] = []
  const watchers = new Set<() => void>()
  const fetcher = startFetcherThread(
    { home, allowAddresses: ['127.0.0.1'], limits },
    {
      onFailed: (error) => {
        throw error
      },
      onMessage: (report) => {
        reports.push(report)
        for (const watcher of watchers) watcher()
      },
    },
  )
  closers.push(fetcher.close)
  const statuses = ({ id }: LibraryJob): string[] =>
    reports.flatMap((report) => (report.type === 'status' && report.library.id === id ? [report.status] : []))
  const untilTrue = (holds: () => boolean): Promise<void> =>
    new Promise((done) => {
      const look = (): void => {
        if (!holds()) return
        watchers.delete(look)
        done()
      }
      watchers.add(look)
      look()
    })
  return {
    update: (...libraries) => fetcher.post(libraries),
    reports,
    statuses,
    untilTrue,
    tries: ({ id }) =>
      reports.flatMap((report) => (report.type === 'try' && report.library.id === id ? [report.why] : [])),
    until: (library, status) => untilTrue(() => statuses(library).at(-1) === status),
    close: fetcher.close,
  }
}

/** A library as the chain wants it; its id is made of the number. */
export const wanted = (
  number: number,
  bytes: Uint8Array,
  urls: readonly string[],
  rest: Partial<LibraryJob> = {},
): LibraryJob => ({
  id: Buffer.alloc(32, `${number}?>`).toString('base64'),
  name: 'lib',
  version: `v1.0.${number}`,
  urls,
  md5: md5Of(bytes),
  goal: 'stage',
  dueMs: 0,
  ...rest,
})

/** Names in a folder of a home's `eni`, sorted. */
export const namesIn = (home: string, folder: 'staging' | 'lib'): readonly string[] =>
  readdirSync(join(home, 'eni', folder)).sort()
