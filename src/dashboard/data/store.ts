import { useEffect, useState } from 'preact/hooks'

/** A value that the page shows, and who is told when it changes. */
export interface Store<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  /** Calls `listener` after each change; returns what ends that. */
  readonly listen: (listener: () => void) => () => void
}

export function createStore<T>(first: T): Store<T> {
  const listeners = new Set<() => void>()
  let value = first
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    listen: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The value of a store; the component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [value, show] = useState(store.get())
  useEffect(() => {
    show(store.get())
    return store.listen(() => show(store.get()))
  }, [store])
  return value
}
