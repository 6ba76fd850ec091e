import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote, Loading } from './notes.tsx'

/**
 * A view that is not part of what the page begins with: the first one is shown before this one is loaded. If `isEarly`, it
 * is loaded although nobody has opened it yet, so that it can be opened while the gateway is away.
 */
export function lazyView<P extends object>(
  load: () => Promise<ComponentType<P>>,
  // No heading yet: the view takes the focus to its own.
  frame = (content: ComponentChildren) => <main id='main'>{content}</main>,
  isEarly = true,
): ComponentType<P> {
  let View: ComponentType<P> | undefined
  const get = async (): Promise<void> => {
    View ??= await load()
  }
  if (isEarly) setTimeout(() => get().catch(() => undefined))
  return (props) => {
    const [, setThere] = useState(false)
    const [error, setError] = useState<Error>()
    useEffect(() => {
      get().then(
        () => setThere(true),
        () => setError(new Error('this part of the page could not be loaded: load the page again')),
      )
    }, [])
    if (View !== undefined) return <View {...props} />
    return frame(error === undefined ? <Loading /> : <ErrorNote error={error} />)
  }
}

/** A part of a view or a dialog that is loaded when it is first shown: what stands around it needs the gateway too. */
export const lazyPart = <P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> =>
  lazyView(load, (content) => <>{content}</>, false)
