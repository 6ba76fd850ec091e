import { isNodeError } from '../../comet/errors.ts'
import { isHeightTooHigh } from '../../comet/messages.ts'
import { openTransport } from '../../comet/transport.ts'
import type { Params } from '../rpc/envelope.ts'
import { RpcError, tooMany } from '../rpc/errors.ts'
import { fewAtATime } from '../fewAtATime.ts'
import { LIGHT_ANSWER_BYTES_MAX, LIGHT_ASKED_MAX, LIGHT_BLOCKS_MAX, LIGHT_CALLS_MAX, LIGHT_MS_MAX } from './limits.ts'

/** The light client that a gateway asks for the pages that it serves. */
export type Light = ReturnType<typeof openLight>

interface Status {
  readonly sync_info?: { readonly latest_block_height?: unknown }
}

interface Commit {
  readonly signed_header?: { readonly header?: unknown; readonly commit?: { readonly block_id?: unknown } }
}

const heightOf = (params: Params): number => {
  const given = params === undefined || Array.isArray(params) ? undefined : (params as { height?: unknown }).height
  if (typeof given === 'string' && /^[1-9]\d{0,14}$/.test(given) && Object.keys(params ?? {}).length === 1)
    return Number(given)
  throw new RpcError('invalidParams', 'expected {"height": "…"} with the height of a block as decimal text')
}

/** A failure as the caller sees it. The words of the light client may name its nodes: they are for the log. */
function failureOf(error: unknown): unknown {
  if (!isNodeError(error)) return error
  const { code, message } = error
  if (code === 'NodeBusy') return tooMany('too many calls to the light client at once')
  if (code === 'NodeTimeout' || code === 'NodeUnreachable')
    return new RpcError('nodeAway', 'the light client does not answer', undefined, { cause: error })
  // One of its witnesses may be a block behind. A client asks again when it reads these words.
  if (isHeightTooHigh(message)) return new RpcError('invalidParams', 'the height is too high for the light client')
  return new RpcError('nodeAway', 'the light client could not verify the header', undefined, { cause: error })
}

/**
 * Opens the RPC of a `cometbft light` proxy at `url`. It is asked for what `svc.verified` needs and nothing else:
 * `status`, of which callers get the height of the head, and `commit`, of which they get the header and its hash. Only
 * heights near the head are passed on. Asked for a later one, a light client asks each of its witnesses too, to replace
 * its primary by one; asked for one below its first, it walks there header by header.
 */
export function openLight(url: string) {
  const { call, close } = openTransport(url, {
    timeoutMs: LIGHT_MS_MAX,
    connections: LIGHT_ASKED_MAX,
    calls: LIGHT_CALLS_MAX,
    answerBytes: LIGHT_ANSWER_BYTES_MAX,
  })
  let head = 0
  const readHead = async (): Promise<number> => {
    const { sync_info } = (await call('status')) as Status
    head = Number(sync_info?.latest_block_height) || 0
    return head
  }
  const readCommit = async (height: number): Promise<unknown> => {
    const { signed_header: { header, commit } = {} } = (await call('commit', { height: String(height) })) as Commit
    return { signed_header: { header, commit: { block_id: commit?.block_id } } }
  }
  // A table of rows needs one header: a caller gets the same answer to the same question while it is on its way.
  const inTurn = fewAtATime(1)
  const underWay = new Map<string, Promise<unknown>>()
  const share = <T>(caller: string, question: string, read: () => Promise<T>): Promise<T> => {
    const key = `${caller} ${question}`
    const known = underWay.get(key)
    if (known !== undefined) return known as Promise<T>
    const reading = inTurn(caller, read).finally(() => underWay.delete(key))
    underWay.set(key, reading)
    return reading
  }
  const headFor = (caller: string): Promise<number> => share(caller, 'status', readHead)
  const recentCommit = async (params: Params, caller: string): Promise<unknown> => {
    const height = heightOf(params)
    if (height > head && height > (await headFor(caller)))
      throw new RpcError('invalidParams', `the height ${height} is too high: the light client's node is at ${head}`)
    if (height <= head - LIGHT_BLOCKS_MAX)
      throw new RpcError('invalidParams', `expected one of the last ${LIGHT_BLOCKS_MAX} blocks, got ${height}`)
    return share(caller, `commit ${height}`, () => readCommit(height))
  }
  return {
    /** Answers one call of a caller, who delays only itself with many of them. Throws RpcErrors. */
    call: async (name: string, params: Params, caller: string): Promise<unknown> => {
      try {
        if (name === 'status') return { sync_info: { latest_block_height: String(await headFor(caller)) } }
        if (name === 'commit') return await recentCommit(params, caller)
      } catch (error) {
        throw failureOf(error)
      }
      throw new RpcError('methodNotFound', `Method not found: ${name.slice(0, 80)}`)
    },
    close,
  }
}
