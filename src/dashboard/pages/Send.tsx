import { AmountField } from '../forms/fields.tsx'
import { OperationForm } from '../forms/OperationForm.tsx'
import { formatTokens } from '../format.ts'
import { View } from '../parts/layout.tsx'
import { useRoute } from '../route.ts'
import { useSpendable } from '../wallet/useSpendable.ts'

/** Sends tokens to an account: `#/send?to=0x…&value=1.5`. */
export function Send() {
  const { options } = useRoute()
  const spendable = useSpendable('transfer')
  return (
    <View title='Send tokens'>
      <div class='narrow'>
        <OperationForm
          // Another link to this view fills the form anew.
          key={options.toString()}
          operation='transfer'
          initial={{ to: options.get('to') ?? '', value: options.get('value') ?? '' }}
          custom={{
            value: (field) => (
              <AmountField
                {...field}
                {...(spendable && {
                  most: spendable.most,
                  hint: `your balance is ${formatTokens(spendable.balance, 18)} token; Max is all of it less the fee`,
                })}
              />
            ),
          }}
          submit='Send'
        />
      </div>
    </View>
  )
}
