import { maxOf } from '../../base/amount.ts'
import type { OperationName } from '../../client/gen/forms.ts'
import { svc } from '../data/gateway.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { useWallet } from './wallet.ts'

/** What the account that acts can spend, in base units. */
interface Spendable {
  readonly balance: bigint
  /** Its balance less the fee of an operation. */
  readonly most: bigint
}

/** What the account that acts can spend with an operation. Undefined while it is not known, or no account is open. */
export function useSpendable(operation: OperationName): Spendable | undefined {
  const { current } = useWallet()
  return useAnswer(current === undefined ? undefined : `spendable/${operation}/${current}`, async () => {
    const [units, { fee }] = await Promise.all([svc.async.getBalance(current ?? ''), svc.async.estimateFee(operation)])
    const balance = BigInt(units)
    return { balance, most: maxOf(0n, balance - BigInt(fee)) }
  }).data
}
