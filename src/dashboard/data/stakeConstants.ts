import { fromBase64 } from '../../base/bytes.ts'
import { svc } from './gateway.ts'

/** What genesis set for good. Amounts in base units. */
export interface StakeConstants {
  /** The max_shares of a candidacy that names none. */
  readonly defaultMaxAmount: bigint
  /** Who misses so many blocks in a row is removed from the validator set. */
  readonly maxAbsentBlocks: number
  /** The account that may verify candidacies; empty where nobody may. */
  readonly foundationAddress: string
}

/** Reads the constants from the chain's own row, the only place where they stand. */
export async function stakeConstants(): Promise<StakeConstants> {
  const [{ key, value }, { printRow }] = await Promise.all([
    svc.async.getProof('chain'),
    import('../../client/light/rows.ts'),
  ])
  const row = printRow('chain', fromBase64(key) ?? new Uint8Array(), fromBase64(value) ?? new Uint8Array())
  return {
    defaultMaxAmount: BigInt(String(row['default_max_amount'])),
    maxAbsentBlocks: Number(row['max_absent_blocks']),
    foundationAddress: String(row['foundation_address'] ?? ''),
  }
}
