import { View } from '../parts/layout.tsx'
import { linkTo } from '../route.ts'

export function NotFound() {
  return (
    <View title='Nothing here'>
      <p>
        This address leads nowhere. Go to the <a href={linkTo([])}>overview</a>.
      </p>
    </View>
  )
}
