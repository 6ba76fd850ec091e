import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { Writable } from 'node:stream'
import { Agent, stream } from 'undici'
import { addressesOf, type AllowList, type Lookup, parseTarget, type Resolved } from './policy.ts'

/** Most bytes of a library. Source: protocol.md §7, deploy_libeni. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024

/** Most redirects of one try. Source: protocol.md §7, deploy_libeni. */
export const REDIRECTS_MAX = 3

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
const TOO_LARGE = `larger than ${FILE_BYTES_MAX} bytes`

/** One try to fetch a file. */
export interface Try {
  readonly url: string
  /** Lower-case hex of the md5 that the file must have. */
  readonly md5: string
  /** Where the file is written, anew. It is removed again when the try fails. */
  readonly path: string
  readonly allowed: AllowList
  readonly lookup: Lookup
  /** Ends the try, wherever it stands, with its reason. */
  readonly signal: AbortSignal
}

/** `work`, unless the signal comes first: a name server may never answer. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, failed) => {
    const give = (): void => failed(signal.reason as Error)
    if (signal.aborted) give()
    signal.addEventListener('abort', give, { once: true })
    work.then(done, failed).finally(() => signal.removeEventListener('abort', give))
  })
}

/** A `lookup` for sockets that knows these addresses only: the name is not asked for again. */
const pinned =
  (addresses: readonly Resolved[]): LookupFunction =>
  (_host, { all }, found) => {
    const [first] = addresses as readonly [Resolved]
    if (all === true) found(null, [...addresses])
    else found(null, first.address, first.family)
  }

/** A step of writing the file; its failure says so, and where: it is not the server's. */
function written<T>(path: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw new Error(`cannot write ${path}: ${(error as Error).message}`)
  }
}

/**
 * Writes what comes to the file, bytes as they are sent, counting and hashing; the first byte too many ends it.
 * Why written synchronously, and why it never asks its source to wait: undici 7 throws where nobody can catch it when a
 * server hangs up while its parser waits (nodejs/undici#5360). The thread does nothing else meanwhile.
 */
function sinkTo(file: number, { md5, path }: Try): Writable {
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
    if (sum !== md5) throw new Error(`its md5 is ${sum}, the proposal says ${md5}`)
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

/** One request to one host. Resolves with where it redirects to, or with undefined once the file is saved. */
async function hop(url: URL, given: Try): Promise<URL | undefined> {
  const { path, signal } = given
  const addresses = await unlessAborted(addressesOf(url, given.allowed, given.lookup), signal)
  // An agent of its own: no connection of another try, no proxy of the environment.
  const agent = new Agent({ connect: { lookup: pinned(addresses) }, pipelining: 0 })
  let next: URL | undefined
  try {
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'svcd' }
    // Whatever is thrown in here ends the request, and no body is read.
    await stream(url, { method: 'GET', dispatcher: agent, signal, headers }, (response) => {
      const { location, 'content-length': length = '0' } = response.headers
      if (REDIRECTS.includes(response.statusCode) && typeof location === 'string') {
        next = parseTarget(location, url)
        throw new Error('elsewhere')
      }
      if (response.statusCode !== 200) throw new Error(`answered with status ${response.statusCode}`)
      if (Number(length) > FILE_BYTES_MAX) throw new Error(TOO_LARGE)
      rmSync(path, { force: true })
      return sinkTo(
        written(path, () => openSync(path, 'wx', 0o600)),
        given,
      )
    })
    return undefined
  } catch (error) {
    if (next !== undefined) return next
    throw error
  } finally {
    await agent.destroy()
  }
}

/**
 * Fetches a file whole, or throws and leaves none. On disk when it resolves. Bounds: FILE_BYTES_MAX bytes,
 * REDIRECTS_MAX redirects, each checked like the first URL; time is the signal's. Errors: an Error of one line, from
 * the URL, the name server, the server or the disk. Source: protocol.md §7, deploy_libeni.
 */
export async function download(given: Try): Promise<void> {
  try {
    let url: URL | undefined = parseTarget(given.url)
    for (let redirects = 0; (url = await hop(url, given)) !== undefined; redirects++) {
      if (redirects === REDIRECTS_MAX) throw new Error(`more than ${REDIRECTS_MAX} redirects`)
    }
  } catch (error) {
    rmSync(given.path, { force: true })
    throw error
  }
}
