import { setTimeout as sleep } from 'node:timers/promises'
import { fromBase64 } from '../../base/bytes.ts'
import type { FoundTx } from './found.ts'
import { RETRY_AFTER_MS, RpcError } from '../rpc/errors.ts'
import { INDEX_PAUSE_MS, INDEX_TRIES } from '../http/limits.ts'

/** What every answer of the node's index says: it is whole between these heights. */
interface Span {
  readonly first_height: number
  readonly last_height: number
}

/** A page of a history as the node answers it. */
export interface HistoryPage<Row> extends Span {
  readonly rows: readonly Row[]
  /** The `before` of the next page; null behind the last row. */
  readonly next: string | null
}

/** A transaction as the node answers it. Bytes are base64. Source: protocol.md §8, `/history`. */
export interface TxRow {
  readonly height: number
  readonly index: number
  readonly time_ms: number
  readonly hash: string
  readonly tx: string
  readonly code: number
  readonly log: string
  readonly info: string
  readonly data: string
  readonly gas_used: number
  readonly gas_price: string
}

const bytes = (text: string): Uint8Array => fromBase64(text) as Uint8Array

/** A transaction of the index, and the price of gas that was in force in its block. */
export const foundTxOf = (row: TxRow): FoundTx & { readonly gasPrice: bigint } => ({
  height: row.height,
  index: row.index,
  hash: row.hash,
  tx: bytes(row.tx),
  result: { code: row.code, log: row.log, info: row.info, data: bytes(row.data), gasUsed: row.gas_used },
  gasPrice: BigInt(row.gas_price),
})

/**
 * Returns a function that finds a transaction in a block by its hash, or undefined. The index may be a moment behind the
 * blocks, so it is asked again until it has the block that was the head at first, up to INDEX_TRIES times. Throws RpcError
 * -32011 with the hash when it still lacks that block: what it does not have may be there all the same.
 */
export const findTxWith =
  (read: (path: string) => Promise<{ readonly height: number; readonly data: unknown }>) =>
  async (hash: string): Promise<ReturnType<typeof foundTxOf> | undefined> => {
    let head: number | undefined
    for (let tries = 1; ; tries++) {
      const { height, data } = await read(`/history/transaction/${hash}`)
      const { transaction, first_height: first, last_height } = data as Span & { readonly transaction: TxRow | null }
      if (transaction !== null) return foundTxOf(transaction)
      head ??= height
      // One that holds no block yet says that it begins behind the head.
      const last = first > last_height ? 0 : last_height
      if (last >= head) return undefined
      if (tries === INDEX_TRIES) {
        const why = `the node's index of histories has blocks up to ${last}, and the chain is at ${head}: ask again`
        throw new RpcError('nodeAway', why, { hash, retryAfterMs: RETRY_AFTER_MS })
      }
      await sleep(INDEX_PAUSE_MS)
    }
  }
