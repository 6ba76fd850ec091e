import type { MessagePort, Worker } from 'node:worker_threads'

/** How long a synchronous call waits for its answer, in ms: longer than any gateway waits for a block. */
const ANSWER_MS_MAX = 300_000

/** How long a gateway may take to answer at all while this thread stands still, in ms. */
const SIGN_OF_LIFE_MS_MAX = 3_000

/** An HTTP answer of any status. */
export interface HttpText {
  readonly status: number
  readonly text: string
}

/** What came of a request: an answer, or the reason why there is none. */
type HttpAnswer = HttpText | { readonly reason: string; readonly isLate: boolean }

/** The Error of a synchronous call where waiting is impossible; it shows the line to write instead. */
export const cannotWait = (functionCall: string, why: string): Error =>
  new Error(
    `svc.${functionCall} without a callback waits for its answer, but ${why}. ` +
      `Write instead: const result = await svc.async.${functionCall}(…)`,
  )

// Text, so that a bundle needs no second file. It sends the request while the other thread waits at `flag`.
const WORKER = `
const { parentPort } = require('node:worker_threads')
parentPort.on('message', async ({ url, init, ms, flag, port }) => {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ms) })
    port.postMessage({ status: response.status, text: await response.text() })
  } catch ({ cause, message, name }) {
    port.postMessage({ reason: String(cause?.code ?? cause?.message ?? message), isLate: name === 'TimeoutError' })
  }
  Atomics.store(flag, 0, 1)
  Atomics.notify(flag, 0)
})
`

type Threads = typeof import('node:worker_threads')

// Not an import: a browser has no such module, and a bundler for browsers would stop at it.
const threads = (): Threads | undefined => globalThis.process?.getBuiltinModule?.('node:worker_threads')

let shared: Worker | undefined

function workerOf({ Worker: NodeWorker }: Threads): Worker {
  if (shared) return shared
  shared = new NodeWorker(WORKER, { eval: true, execArgv: [] })
  // It must not keep a finished program alive. One that died is replaced by the next call.
  shared.unref()
  const forget = (): void => {
    shared = undefined
  }
  return shared.once('error', forget).once('exit', forget)
}

const newFlag = (): Int32Array => new Int32Array(new SharedArrayBuffer(4))

/** Stops this thread for `ms`. Only where it can wait for an answer, too. */
export const pauseBlocking = (ms: number): void => void Atomics.wait(newFlag(), 0, 0, ms)

/** Does a job in the worker while this thread waits for it. */
function wait(node: Threads, job: { url: string; init: RequestInit; ms: number }): HttpAnswer {
  const flag = newFlag()
  const { port1, port2 } = new node.MessageChannel()
  workerOf(node).postMessage({ ...job, flag, port: port2 }, [port2])
  Atomics.wait(flag, 0, 0, job.ms + 1_000)
  const received = node.receiveMessageOnPort(port1 as MessagePort) as { readonly message: HttpAnswer } | undefined
  port1.close()
  return received?.message ?? { reason: 'the worker did not answer', isLate: true }
}

/**
 * POSTs to `url` in a worker while this thread waits. The first call asks for a sign of life before it sends anything:
 * a gateway that lives in this very thread cannot give one, and what is sent to it would be carried out after the call
 * has failed. Throws the Error of `cannotWait` there and in a browser. Source: interface, Call style.
 */
export function blockingHttp(url: string, headers: Readonly<Record<string, string>>) {
  let isElsewhere = false
  return (body: string, functionCall: string): HttpAnswer => {
    const node = threads()
    if (node === undefined) throw cannotWait(functionCall, 'a page cannot wait')
    if (!isElsewhere) {
      const sign = wait(node, { url, init: { method: 'GET' }, ms: SIGN_OF_LIFE_MS_MAX })
      if ('reason' in sign && sign.isLate) {
        throw cannotWait(
          functionCall,
          `the gateway at ${url} says nothing while this thread waits, as one that lives in this thread`,
        )
      }
      isElsewhere = !('reason' in sign)
    }
    return wait(node, { url, init: { method: 'POST', headers, body }, ms: ANSWER_MS_MAX })
  }
}
