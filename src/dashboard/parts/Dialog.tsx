import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Guarded } from './Guarded.tsx'

/**
 * A sheet in front of the page. The focus stays in it, Escape closes it, and where the focus was before it goes back to. A
 * link to a view closes it too: the view would stand behind it.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // The end of a plain effect waits for the next paint: keys that are pressed until then would go nowhere.
  useLayoutEffect(() => {
    const before = document.activeElement
    const open = dialog.current
    open?.showModal()
    return () => {
      open?.close()
      if (before instanceof HTMLElement) before.focus()
      // What the dialog did may have taken that away, or led to another view.
      if (document.activeElement !== before || before === document.body)
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // A browser may close it without asking; not when it goes because the page took it away.
      onClose={() => {
        if (dialog.current === null) return
        onClose()
        // The page may have a question first.
        setTimeout(() => dialog.current?.open === false && dialog.current.showModal())
      }}
      // Of two Escapes a browser would ask about the first one only.
      onKeyDown={(event) => {
        // A key that is held since before the dialog was there must press nothing in it.
        if (event.key === 'Enter' && event.repeat) event.preventDefault()
        if (event.key !== 'Escape' || event.isComposing) return
        event.preventDefault()
        onClose()
      }}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={({ target, ctrlKey, metaKey, shiftKey }) => {
        // With one of these keys it opens elsewhere.
        if (ctrlKey || metaKey || shiftKey) return
        if (target instanceof Element && target.closest('a[href^="#"]') !== null) onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type='button' class='quiet' onClick={onClose}>
          Close
        </button>
      </header>
      <Guarded frame={(note) => note}>{children}</Guarded>
    </dialog>
  )
}
