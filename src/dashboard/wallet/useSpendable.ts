import { maxOf } from '../../base/amount.ts'
import type { OperationName } from '../../client/gen/forms.ts'
import { svc } from '../data/gateway.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { useWallet } from './wallet.ts'

/**
 * What the account that acts can spend with an operation, in base units: its balance, and `most`, which is less the fee.
 * Undefined while it is not known, or no account is open.
 */
export function useSpendable(operation: OperationName) {
  const { current } = useWallet()
  return useAnswer(current === undefined ? undefined : `spendable/${operation}/${current}`, async () => {
    const [units, { fee }] = await Promise.all([svc.async.getBalance(current ?? ''), svc.async.estimateFee(operation)])
    const balance = BigInt(units)
    return { balance, most: maxOf(0n, balance - BigInt(fee)) }
  }).data
}
