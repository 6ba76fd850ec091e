import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Hit, useSearch } from '../data/search.ts'
import { shorten } from '../format.ts'
import { UserText } from '../parts/text.tsx'
import { goTo, linkTo } from '../route.ts'

/** How long a reader pauses before what they typed so far is looked for, in ms. */
const TYPING_MS = 250

/** Hits that are offered below the box; the view of the search has all of them. */
const OFFERED_MAX = 8

/** What a text names, a moment after it was typed; undefined until then. */
function useHits(text: string): readonly Hit[] | undefined {
  const [asked, ask] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => ask(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  // The view of the search has the same question, and says why where there is no answer.
  const { data } = useSearch(asked)
  return asked === text ? data : undefined
}

/** `/` leads to the box from anywhere but another field. */
function useSlash(box: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const at = event.target
      const isField =
        at instanceof HTMLElement && (at.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(at.tagName))
      if (event.key !== '/' || isField || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      box.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

const optionId = (list: string, index: number): string => `${list}-${index}`

/**
 * What makes a field a box with a list of its own. Types and lint know this role only of fields whose list the browser
 * makes of a `datalist`, so it does not stand among the other attributes.
 */
const combobox = (list: string, isShown: boolean, chosen: number): object => ({
  role: 'combobox',
  'aria-autocomplete': 'list',
  'aria-expanded': isShown,
  'aria-controls': list,
  ...(isShown && chosen >= 0 ? { 'aria-activedescendant': optionId(list, chosen) } : {}),
})

interface OfferedProps {
  readonly hits: readonly Hit[]
  readonly list: string
  readonly chosen: number
  readonly onLeave: () => void
}

/** The hits below the box. They take no focus: it stays in the box, which says which one is chosen. */
function Offered({ hits, list, chosen, onLeave }: OfferedProps) {
  return (
    <div id={list} class='offered' role='listbox' aria-label='What this names'>
      {hits.map((hit, index) => (
        <a
          key={hit.to}
          href={hit.to}
          tabIndex={-1}
          id={optionId(list, index)}
          role='option'
          aria-selected={index === chosen}
          // Otherwise the box loses the focus, and the list is gone before the click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={onLeave}
        >
          <span class='soft'>{hit.kind}</span> <UserText text={shorten(hit.name, 24, 8)} />
        </a>
      ))}
    </div>
  )
}

/** Looks for a block, a transaction, an account, a validator, a proposal, a parameter or a library. */
export function Search() {
  const [text, setText] = useState('')
  const [chosen, choose] = useState(-1)
  const [isOpen, open] = useState(false)
  const list = useId()
  const box = useRef<HTMLInputElement>(null)
  useSlash(box)
  const wanted = text.trim()
  const hits = useHits(wanted)?.slice(0, OFFERED_MAX) ?? []
  const isShown = isOpen && hits.length > 0
  const close = (): void => {
    setText('')
    choose(-1)
    open(false)
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const hit = isShown ? hits[chosen] : undefined
    if (wanted === '') return
    close()
    goTo(hit?.to ?? linkTo(['search', wanted]))
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && hits.length > 0) {
      event.preventDefault()
      open(true)
      // Behind the last hit comes the text itself, which Enter looks for.
      choose(((chosen + 1 + step + hits.length + 1) % (hits.length + 1)) - 1)
    } else if (event.key === 'Escape' && isShown) {
      event.preventDefault()
      open(false)
      choose(-1)
    }
  }
  return (
    <search class='search'>
      <form onSubmit={submit}>
        <input
          ref={box}
          type='search'
          {...combobox(list, isShown, chosen)}
          aria-label='Search for a block, a transaction, an account, a validator, a proposal, a parameter or a library'
          aria-keyshortcuts='/'
          autocomplete='off'
          spellcheck={false}
          placeholder='Height, hash, address, validator, proposal'
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            choose(-1)
            open(true)
          }}
          onFocus={() => open(true)}
          onBlur={() => open(false)}
          onKeyDown={onKey}
        />
      </form>
      {isShown && <Offered hits={hits} list={list} chosen={chosen} onLeave={close} />}
    </search>
  )
}
