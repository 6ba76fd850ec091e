import { fromBase64 } from '../../base/bytes.ts'
import { svc } from './gateway.ts'

/** Reads what genesis set for good from the chain's own row, the only place where it stands. Amounts in base units. */
export async function stakeConstants() {
  const [{ key, value }, { printRow }] = await Promise.all([
    svc.async.getProof('chain'),
    import('../../client/light/rows.ts'),
  ])
  const row = printRow('chain', fromBase64(key) ?? new Uint8Array(), fromBase64(value) ?? new Uint8Array())
  return {
    /** The max_shares of a candidacy that names none. */
    defaultMaxAmount: BigInt(String(row['default_max_amount'])),
    /** Who misses so many blocks in a row is removed from the validator set. */
    maxAbsentBlocks: Number(row['max_absent_blocks']),
    /** The account that may verify candidacies; empty where nobody may. */
    foundationAddress: String(row['foundation_address'] ?? ''),
  }
}
