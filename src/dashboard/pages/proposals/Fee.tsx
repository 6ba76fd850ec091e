import type { OperationName } from '../../../client/gen/forms.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { Pending } from '../../parts/notes.tsx'
import { Tokens } from '../../parts/text.tsx'

/** What an operation costs at the present gas price. */
export function Fee({ operation }: { readonly operation: OperationName }) {
  const fee = useAnswer(`fee/${operation}`, () => svc.async.estimateFee(operation)).data?.fee
  return (
    <small class='soft'>
      Fee: {fee === undefined ? <Pending /> : <Tokens units={fee} decimals={18} />}. You see everything before you sign.
    </small>
  )
}
