interface Failure {
  readonly message: string
  readonly code?: unknown
  readonly data?: unknown
}

const SECOND_MS = 1_000

const seconds = (ms: number): string => {
  const count = Math.max(1, Math.ceil(ms / SECOND_MS))
  return count === 1 ? 'a second' : `${count} seconds`
}

/** The message without the method that it is about: a reader did not call it. */
const bare = (message: string): string => message.replace(/^(?:svc|eth|net|web3|rpc)[._][A-Za-z]+: /, '')

const sentence = (text: string): string => {
  const trimmed = text.trim().replace(/\.$/, '')
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`
}

/** Why something cannot be shown, as a sentence for a reader. Errors are told apart by their code. Source: protocol.md §10. */
export function sentenceOf({ message, code, data }: Failure): string {
  const reason = bare(message)
  if (code === -32015) {
    const waitMs = Number((data as { readonly retryAfterMs?: unknown } | undefined)?.retryAfterMs ?? SECOND_MS)
    const limit = sentence(reason.replace(/^Too many requests, try again later: /, ''))
    return `The gateway is asked too often, and answers again in ${seconds(waitMs)}. ${limit}`
  }
  if (code === -32011) return `The node behind the gateway does not answer now. ${sentence(reason)}`
  if (code === -32603) return `The gateway met a defect of its own. ${sentence(reason)}`
  const [, why] = /HTTP status 403, .*?\{"error":"(.*)"\}/.exec(reason) ?? []
  if (why !== undefined) return `The gateway refuses this page. ${sentence(why)}`
  return sentence(reason)
}
