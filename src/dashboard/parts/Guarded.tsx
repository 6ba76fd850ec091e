import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { View } from './layout.tsx'
import { ErrorNote } from './notes.tsx'

/** A view, or what `frame` is around. Where a defect keeps it from being drawn, it says so, and the rest of the page stays. */
export function Guarded({
  children,
  frame = (note) => <View title='Not shown'>{note}</View>,
}: {
  readonly children: ComponentChildren
  readonly frame?: (note: ComponentChildren) => ComponentChildren
}) {
  const [error] = useErrorBoundary((thrown) => reportError(thrown))
  if (error === undefined) return children
  const note = new Error('this view cannot be shown: the page has a defect here. The other views work')
  return frame(<ErrorNote error={note} />)
}
