import { svc } from '../../../data/gateway.ts'
import { useParamsHistory } from '../../../data/parameters.ts'
import { useAnswer } from '../../../data/useAnswer.ts'
import { ChoiceField } from '../../../forms/fields.tsx'
import { type CustomField, OperationForm } from '../../../forms/OperationForm.tsx'
import { formatTokens } from '../../../format.ts'
import { useWallet } from '../../../wallet/wallet.ts'
import type { KindProps } from '../New.tsx'
import { Fee } from './Fee.tsx'

/** Which account pays: that of the proposer, or one that is or was the hold_account. */
function FromField({ field }: { readonly field: CustomField }) {
  const { current } = useWallet()
  const history = useParamsHistory().data?.data ?? []
  const holders = new Set(history.filter(({ name }) => name === 'hold_account').map(({ value }) => value))
  const balance = useAnswer(field.value === '' ? undefined : `balance/${field.value}`, () =>
    svc.async.getBalance(field.value),
  ).data
  const isOwn = field.value === current
  const escrow = isOwn
    ? 'The amount is held in escrow until the decision.'
    : 'Nothing is held: the approval pays if the balance covers it then.'
  const others = [...holders].filter((one) => one !== current)
  return (
    <ChoiceField
      {...field}
      values={[
        ...(current === undefined ? [] : [[current, `Your account, ${current}`] as const]),
        ...others.map((one, at) => [one, `${at === 0 ? 'The' : 'An earlier'} hold_account, ${one}`] as const),
      ]}
      hint={
        balance === undefined
          ? current === undefined && 'Open the wallet to pay from your own account.'
          : `Its balance is ${formatTokens(balance)} token. ${escrow}`
      }
    />
  )
}

/** Proposes a payment. */
export function PaymentForm({ onDone }: KindProps) {
  return (
    <OperationForm
      operation='proposeTransferFund'
      submit='Propose'
      note={<Fee operation='proposeTransferFund' />}
      custom={{ transferFrom: (field) => <FromField field={field} /> }}
      onDone={onDone}
    />
  )
}
