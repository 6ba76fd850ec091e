import { createHash } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { Writable } from 'node:stream'
import { Agent, stream } from 'undici'
import { addressesOf, type AllowList, type Lookup, parseTarget } from './policy.ts'

/** The largest library, in bytes. Source: protocol.md §7, deploy_libeni. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024

/** The most redirects that one try follows. Source: protocol.md §7, deploy_libeni. */
export const REDIRECTS_MAX = 3

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
const TOO_LARGE = `the file is larger than ${FILE_BYTES_MAX} bytes`

/** One try to download a file. */
interface DownloadRequest {
  readonly url: string
  /** The MD5 that the file must have, in lower-case hex. */
  readonly md5: string
  /** Where the file is written, in place of any other. It is removed again when the try fails. */
  readonly path: string
  readonly allowed: AllowList
  readonly lookup: Lookup
  /** Aborts the try at any stage. */
  readonly signal: AbortSignal
}

/** A `lookup` for sockets that knows only these addresses, so the name is not resolved a second time. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, { all }, found) => {
    const [first] = addresses as readonly [LookupAddress]
    if (all === true) found(null, [...addresses])
    else found(null, first.address, first.family)
  }

/** Runs a step of writing the file. Its error names the file, so that it cannot be taken for a failure of the server. */
function written<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw new Error(`cannot write ${path}: ${(error as Error).message}`)
  }
}

/**
 * A stream that writes to the file, counts and hashes the bytes, and fails at the first byte above the limit. It writes
 * synchronously and never applies back-pressure: undici 7 throws an error that nobody can catch when a server hangs up
 * while its parser waits (nodejs/undici#5360). The thread has nothing else to do meanwhile.
 */
function sinkTo(file: number, { md5, path }: DownloadRequest): Writable {
  const hash = createHash('md5')
  let bytes = 0
  const write = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > FILE_BYTES_MAX) throw new Error(TOO_LARGE)
    hash.update(chunk)
    written(path, () => writeFileSync(file, chunk))
  }
  const finish = (): void => {
    const sum = hash.digest('hex')
    if (sum !== md5) throw new Error(`the file has the MD5 ${sum}, but the proposal says ${md5}`)
    written(path, () => fsyncSync(file))
  }
  const settling = (step: () => void, done: (error?: Error) => void): void => {
    try {
      step()
    } catch (error) {
      return done(error as Error)
    }
    done()
  }
  return new Writable({
    highWaterMark: 2 * FILE_BYTES_MAX,
    write: (chunk: Buffer, _encoding, done) => settling(() => write(chunk), done),
    final: (done) => settling(finish, done),
    destroy: (error, done) => {
      closeSync(file)
      done(error)
    },
  })
}

/** Sends one request. Resolves with the URL to which it is redirected, or with undefined once the file is saved. */
async function hop(url: URL, request: DownloadRequest): Promise<URL | undefined> {
  const { path, signal } = request
  signal.throwIfAborted()
  // A name server may never answer.
  const aborted = once(signal, 'abort').then((): never => {
    throw signal.reason
  })
  const addresses = await Promise.race([addressesOf(url, request.allowed, request.lookup), aborted])
  // An agent of its own, so that no connection of another try and no proxy from the environment is used.
  const agent = new Agent({ connect: { lookup: pinned(addresses) }, pipelining: 0 })
  let next: URL | undefined
  try {
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'svcd' }
    // An error thrown in here ends the request before any of the body is read.
    await stream(url, { method: 'GET', dispatcher: agent, signal, headers }, (response) => {
      const { location, 'content-length': length = '0' } = response.headers
      if (REDIRECTS.includes(response.statusCode) && typeof location === 'string') {
        next = parseTarget(location, url)
        throw new Error('redirected')
      }
      if (response.statusCode !== 200) throw new Error(`the server answered with status ${response.statusCode}`)
      if (Number(length) > FILE_BYTES_MAX) throw new Error(TOO_LARGE)
      rmSync(path, { force: true })
      return sinkTo(
        written(path, () => openSync(path, 'wx', 0o600)),
        request,
      )
    })
  } catch (error) {
    if (next === undefined) throw error
  } finally {
    await agent.destroy()
  }
  return next
}

/**
 * Downloads a file; it is complete and flushed to disk when this resolves. On failure it throws an Error of one line
 * and leaves no file. Limits: FILE_BYTES_MAX bytes and REDIRECTS_MAX redirects, each checked like the first URL. The
 * signal limits the time. Source: protocol.md §7, deploy_libeni.
 */
export async function download(request: DownloadRequest): Promise<void> {
  try {
    let url: URL | undefined = parseTarget(request.url)
    for (let redirects = 0; (url = await hop(url, request)) !== undefined; redirects++) {
      if (redirects === REDIRECTS_MAX) throw new Error(`the server redirected more than ${REDIRECTS_MAX} times`)
    }
  } catch (error) {
    rmSync(request.path, { force: true })
    throw error
  }
}
