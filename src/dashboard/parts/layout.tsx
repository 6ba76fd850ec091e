import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { visibleText } from '../marks.ts'

/** The first view is shown before a reader has gone anywhere. */
let isFirst = true

/** A view: its heading, which takes the focus when a reader arrives, and what stands under it. */
export function View({
  title,
  name,
  isNameHidden = false,
  actions,
  children,
}: {
  /** The title of the browser's tab. */
  readonly title: string
  /** The heading; the title when it is left out. */
  readonly name?: ComponentChildren
  /** True where the view needs no heading to be seen: readers who do not see it still hear it. */
  readonly isNameHidden?: boolean
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${visibleText(title)} · svcd`
  }, [title])
  // Before the next frame: later it would take the focus from what the reader has gone to since.
  useLayoutEffect(() => {
    // A reader who came by a link within the page hears where they are. The link itself may be gone by now.
    if (!isFirst) heading.current?.focus({ preventScroll: true })
    isFirst = false
    scrollTo(0, 0)
  }, [])
  return (
    <main id='main'>
      <header class={isNameHidden ? 'visually-hidden' : 'view-head'}>
        <h1 ref={heading} tabIndex={-1}>
          {name ?? title}
        </h1>
        {actions === undefined ? null : <div class='actions'>{actions}</div>}
      </header>
      {children}
    </main>
  )
}

/** A part of a view, with a heading of its own. */
export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section>
      <header class='section-head'>
        <h2>{title}</h2>
        {aside === undefined ? null : <div class='aside'>{aside}</div>}
      </header>
      {children}
    </section>
  )
}

/** Names and values, one under the other. Facts that are undefined are left out. */
export function Facts({ facts }: { readonly facts: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class='facts'>
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** Figures beside each other, each with its name. */
export function Figures({
  figures,
}: {
  readonly figures: readonly {
    readonly name: string
    readonly value: ComponentChildren
    readonly note: ComponentChildren
  }[]
}) {
  return (
    <dl class='figures'>
      {figures.map(({ name, value, note }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          <dd class='note'>{note}</dd>
        </div>
      ))}
    </dl>
  )
}
