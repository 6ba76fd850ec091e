import { isHeightTooHigh } from '../../comet/messages.ts'
import { retryAfterMs, SvcProofError } from '../errors.ts'
import type { WaitOptions } from '../types.ts'
import { pause, POLL_MS, reasonOf, type Target, timeoutSignal, WAIT_MS } from '../transport.ts'
import type { VerifiedHeader } from './proveRow.ts'

type Light = Required<Pick<Target, 'light'>> & Pick<Target, 'fetch'>

interface Reply {
  readonly result?: { readonly sync_info?: { readonly latest_block_height?: string } }
  readonly error?: { readonly message?: string; readonly data?: unknown }
}

const HASH = /^[0-9A-F]{64}$/

/** One call of the light client's RPC, which is CometBFT's. */
async function ask(
  { light, fetch: given }: Light,
  method: string,
  params: object,
  signal: AbortSignal,
): Promise<Reply> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  try {
    const response = await (given ?? fetch)(light, { method: 'POST', headers, body, signal })
    return Object(await response.json()) as Reply
  } catch (thrown) {
    signal.throwIfAborted()
    throw new SvcProofError(`the light client at ${light} does not answer: ${reasonOf(thrown)}`)
  }
}

function readHeader(light: string, result: unknown, height: number): VerifiedHeader {
  const { header, commit } = ((result as { signed_header?: unknown } | undefined)?.signed_header ?? {}) as {
    header?: Readonly<Record<string, string>>
    commit?: { block_id?: { hash?: string } }
  }
  const { chain_id = '', time = '', app_hash = '' } = header ?? {}
  const hash = commit?.block_id?.hash ?? ''
  if (header?.['height'] !== String(height) || !HASH.test(hash) || !HASH.test(app_hash)) {
    throw new SvcProofError(`the light client at ${light} does not answer with the header of block ${height}`)
  }
  return { chain_id, height, time, hash, app_hash }
}

async function fetchHeader(source: Light, height: number, signal: AbortSignal): Promise<VerifiedHeader> {
  for (;;) {
    // A light client that is asked for a header too early replaces its primary by a witness, so the primary's head is
    // read first.
    let { result, error } = await ask(source, 'status', {}, signal)
    const isThere = Number(result?.sync_info?.latest_block_height) >= height
    if (isThere) ({ result, error } = await ask(source, 'commit', { height: String(height) }, signal))
    if (isThere && !error) return readHeader(source.light, result, height)
    const { message, data } = error ?? {}
    const reason = String(typeof data === 'string' ? data : message)
    // A witness may be a block behind the primary.
    const mayCome = !error || isHeightTooHigh(reason)
    // A gateway says it after too many calls.
    const pauseMs = retryAfterMs(error) ?? (mayCome ? POLL_MS : undefined)
    if (pauseMs === undefined)
      throw new SvcProofError(`the light client has no verified header of block ${height}: ${reason}`)
    await pause(pauseMs, signal)
  }
}

/**
 * The header of a block, verified by the `cometbft light` proxy that answers at `light`; waits until there is such a
 * block. Rejects with SvcProofError when the proxy cannot verify it, does not answer, or after `timeoutMs`; with the
 * signal's reason when that is aborted.
 */
export async function verifiedHeader(
  source: Light,
  height: number,
  { signal, timeoutMs = WAIT_MS }: WaitOptions,
): Promise<VerifiedHeader> {
  const late = timeoutSignal(timeoutMs)
  try {
    return await fetchHeader(source, height, AbortSignal.any([late, signal ?? late]))
  } catch (error) {
    signal?.throwIfAborted()
    if (!late.aborted) throw error
    throw new SvcProofError(
      `the light client at ${source.light} has no header of block ${height} after ${timeoutMs} ms`,
    )
  }
}
