import type { GetTransactionsResult } from '../../client/index.ts'
import { failureOf } from '../../client/errors.ts'
import { svc } from './gateway.ts'
import type { Tx } from './useTransactions.ts'

/** Which transactions are looked for. The gateway knows only `address`; the page itself looks for the others. */
export interface TxFilter {
  /** Those of the chain without one. */
  readonly address?: string | undefined
  readonly operation?: string | undefined
  /** Who sent a transaction of an account: the account, or somebody else. */
  readonly direction?: 'out' | 'in' | undefined
}

/** A page of what was found, and where it was looked for. */
export interface FoundTxs {
  readonly rows: readonly Tx[]
  /** How many transactions were looked at, and the oldest one's height. */
  readonly searched: number
  readonly lowest: number | undefined
  /** Where the older ones begin; null when there are none. */
  readonly next: string | null
  /** The newest block that was searched, and the oldest one that the node has. */
  readonly height: number
  readonly earliest: number
}

/** Transactions of a page, and those that one question asks for where a filter leaves some out. */
const PAGE_TXS = 20
const ASKED_TXS = 100

/** Transactions that one page looks at, at most: whoever wants to look further goes on. */
const SEARCHED_MAX = 500

const isFiltering = ({ operation, direction }: TxFilter): boolean => operation !== undefined || direction !== undefined

/** Whether a transaction is one of those. Bytes that are no transaction have no operation and no sender. */
export function isOf(tx: Tx, { address, operation, direction }: TxFilter): boolean {
  if (operation !== undefined && tx.operation !== operation) return false
  return direction === undefined || (direction === 'out') === (tx.sender === address)
}

/** Asks for the transactions below a cursor, the newest first, until a page is full or SEARCHED_MAX were looked at. */
export async function askTransactions(filter: TxFilter, before: string | undefined): Promise<FoundTxs> {
  const isFiltered = isFiltering(filter)
  const { address } = filter
  const rows: Tx[] = []
  let [searched, from]: [number, string | undefined] = [0, before]
  for (;;) {
    const page: GetTransactionsResult = await svc.async.getTransactions({
      limit: isFiltered ? ASKED_TXS : PAGE_TXS,
      ...(address === undefined ? {} : { address }),
      ...(from === undefined ? {} : { before: from }),
    })
    searched += page.data.length
    rows.push(...page.data.filter((tx) => isOf(tx, filter)))
    const { next, height, earliest_height: earliest } = page
    if (next === null || !isFiltered || rows.length >= PAGE_TXS || searched >= SEARCHED_MAX)
      return { rows, searched, lowest: page.data.at(-1)?.height, next, height, earliest }
    from = next
  }
}

/**
 * What a transaction brought to the balance of an account, without its fee; below 0 what it took. Undefined where it
 * moved nothing, or where only a rule of the chain knows how much, as with the stake of a candidacy.
 */
export function movedFor(address: string, tx: Tx): bigint | undefined {
  const { operation, message, sender } = tx
  if (message === null || failureOf(tx) !== undefined) return undefined
  const units = (name: string): bigint => BigInt(String(message[name] ?? 0))
  if (operation === 'transfer') {
    const [isIn, isOut] = [message['to'] === address, sender === address]
    return isIn === isOut ? undefined : isIn ? units('value') : -units('value')
  }
  if (sender !== address) return undefined
  if (operation === 'delegate') return -units('amount')
  // Whoever proposes to pay from the own account pays in advance.
  if (operation === 'proposeTransferFund' && message['transferFrom'] === address) return -units('amount')
  return undefined
}
