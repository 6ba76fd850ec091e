import { useEffect, useRef } from 'preact/hooks'

/** A reference to an element, which takes the focus once it is shown. */
export function useFocus<T extends HTMLElement>() {
  const ref = useRef<T>(null)
  useEffect(() => ref.current?.focus(), [])
  return ref
}
