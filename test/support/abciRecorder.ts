import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { tempFolder } from './tempFolder.ts'

export interface Recorded {
  /** How often a CometBFT connected, with its four connections. */
  readonly runs: number
  readonly calls: number
  /** The first call that may not come where it did, with those before it. */
  readonly violation: string | undefined
}

/** Somebody between CometBFT and the socket of its application, who hands on what both say and reads the calls along. */
export type AbciRecorder = Awaited<ReturnType<typeof recordAbci>>

/** Where somebody listens: a unix socket, or TCP. */
export type SocketAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/**
 * Starts a recorder in front of an application, which may come later. `listen`: where CometBFT connects, by default a new
 * unix socket. It works in a thread of its own, so that a test that blocks its own thread does not hold up the chain, and
 * dies with the tests.
 */
export async function recordAbci(application: SocketAddress, listen?: SocketAddress) {
  const { path: folder, remove } = tempFolder('abci')
  const near = listen ?? { path: join(folder, 'recorder.sock') }
  const workerData = { listen: near, application }
  const thread = new Worker(new URL('./abciRecorderThread.ts', import.meta.url), { workerData })
  const failed = new Promise<never>((_, fail) => thread.once('error', fail))
  failed.catch(() => {})
  const answer = <T>(): Promise<T> => Promise.race([new Promise<T>((done) => thread.once('message', done)), failed])
  await answer()
  thread.unref()
  let closed: Promise<Recorded> | undefined
  const close = async (): Promise<Recorded> => {
    try {
      const answered = answer<Recorded>()
      thread.ref()
      thread.postMessage('close')
      const recorded = await answered
      if (recorded.violation !== undefined) throw new Error(`CometBFT and its grammar differ: ${recorded.violation}`)
      return recorded
    } finally {
      await thread.terminate()
      remove()
    }
  }
  return {
    /** Where CometBFT connects: its `--proxy_app`. */
    address: 'path' in near ? `unix://${near.path}` : `tcp://${near.host}:${near.port}`,
    /**
     * Ends it, and with it the connections that are left. Throws when CometBFT called in an order that its grammar does
     * not have (src/abci/testing/grammar.ts): then the grammar here is wrong, or CometBFT is. May be repeated.
     */
    close: () => (closed ??= close()),
  }
}
