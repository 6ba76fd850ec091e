import { type SvcRpcError, TOO_MANY } from '../../client/errors.ts'

type Failure = Pick<Error, 'message'> & Partial<Pick<SvcRpcError, 'reason' | 'code' | 'data'>>

const SECOND_MS = 1_000

const seconds = (ms: number): string => {
  const count = Math.max(1, Math.ceil(ms / SECOND_MS))
  return count === 1 ? 'a second' : `${count} seconds`
}

const sentence = (text: string): string => {
  const trimmed = text.trim().replace(/\.$/, '')
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`
}

/** Why something cannot be shown, as a sentence for a reader. Errors are told apart by their code. Source: protocol.md §10. */
export function sentenceOf({ message, reason = message, code, data }: Failure): string {
  // A stranger may answer in the place of a gateway, so nothing is sure of its data.
  const { retryAfterMs = SECOND_MS, stalledMs, status, error } = (data ?? {}) as Readonly<Record<string, unknown>>
  if (code === TOO_MANY) return `${sentence(reason)} The gateway answers again in ${seconds(Number(retryAfterMs))}.`
  if (code === -32011 && stalledMs === undefined)
    return `The node behind the gateway does not answer now. ${sentence(reason)}`
  if (code === -32603) return `The gateway met a defect of its own. ${sentence(reason)}`
  if (status === 403 && typeof error === 'string') return `The gateway refuses this page. ${sentence(error)}`
  return sentence(reason)
}
