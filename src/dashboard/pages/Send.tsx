import { OperationForm } from '../forms/OperationForm.tsx'
import { View } from '../parts/layout.tsx'
import { useRoute } from '../route.ts'

/** Sends tokens to an account: `#/send?to=0x…&value=1.5`. */
export function Send() {
  const { options } = useRoute()
  return (
    <View title='Send tokens'>
      <div class='narrow'>
        <OperationForm
          // Another link to this view fills the form anew.
          key={options.toString()}
          operation='transfer'
          initial={{ to: options.get('to') ?? '', value: options.get('value') ?? '' }}
          submit='Send'
        />
      </div>
    </View>
  )
}
