import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote, Loading } from './notes.tsx'

/** A view whose code is loaded when it is opened for the first time. */
export function lazyView<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let known: ComponentType<P> | undefined
  return (props) => {
    const [loaded, show] = useState(known === undefined ? undefined : { view: known })
    const [error, setError] = useState<Error>()
    useEffect(() => {
      if (loaded !== undefined) return
      load().then(
        (view) => {
          known = view
          show({ view })
        },
        () => setError(new Error('this part of the page could not be loaded: load the page again')),
      )
    }, [])
    if (loaded !== undefined) return <loaded.view {...props} />
    // No heading yet: the view takes the focus to its own.
    return <main id='main'>{error === undefined ? <Loading /> : <ErrorNote error={error} />}</main>
  }
}
