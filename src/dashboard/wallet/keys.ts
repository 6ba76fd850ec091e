import { KeyError, type KeyReply } from './keyError.ts'
import type { KeyJobs, KeyRequest } from './keyWorker.ts'
import workerUrl from './keyWorker.ts?worker&url'

type Policy = { readonly createScriptURL: (url: string) => string }
type TrustedTypes = { readonly createPolicy: (name: string, rules: Policy) => Policy }

// The gateway forbids scripts at addresses that were not vouched for (trusted types). This is the only one.
const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('svcd-worker', {
  createScriptURL: () => workerUrl,
})

/**
 * Does a job in a worker, which ends with it and takes along whatever it remembers. Rejects with a KeyError.
 */
export async function runKeyJob<J extends keyof KeyJobs>(
  job: J,
  ...given: Parameters<KeyJobs[J]>
): Promise<ReturnType<KeyJobs[J]>> {
  const worker = new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: 'module' })
  try {
    const reply = await new Promise<KeyReply>((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<KeyReply>) => resolve(data))
      worker.addEventListener('error', () =>
        reject(new KeyError('The browser could not run the part that opens keys.')),
      )
      worker.postMessage({ job, given } satisfies KeyRequest)
    })
    if ('why' in reply) throw new KeyError(reply.why, reply.field)
    return reply.answer as ReturnType<KeyJobs[J]>
  } finally {
    worker.terminate()
  }
}
