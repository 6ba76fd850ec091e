import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { View } from './layout.tsx'
import { ErrorNote } from './notes.tsx'

/** A view. Where a defect keeps it from being drawn, it says so, and the rest of the page stays. */
export function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary((thrown) => reportError(thrown))
  if (error === undefined) return <>{children}</>
  return (
    <View title='Not shown'>
      <ErrorNote error={new Error('this view cannot be shown: the page has a defect here. The other views work')} />
    </View>
  )
}
