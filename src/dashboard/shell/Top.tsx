import { useEffect, useId, useState } from 'preact/hooks'
import { chainId, head, line } from '../data/chain.ts'
import { useNow } from '../data/clock.ts'
import { useStore } from '../data/store.ts'
import { formatSpan } from '../format.ts'
import { linkTo } from '../route.ts'
import { WalletButton } from '../wallet/WalletButton.tsx'
import { Search } from './Search.tsx'

const icon = new URL('../icon.svg', import.meta.url).href

const NAVIGATION: readonly (readonly [view: string, title: string])[] = [
  ['', 'Overview'],
  ['account', 'My account'],
  ['validators', 'Validators'],
  ['proposals', 'Proposals'],
  ['parameters', 'Parameters'],
  ['blocks', 'Blocks'],
  ['transactions', 'Transactions'],
]

/** Views that other views lead to. */
const OTHER_PLACES: typeof NAVIGATION = [
  ['accounts', 'Account'],
  ['send', 'Send tokens'],
  ['sign', 'Sign'],
  ['search', 'Search'],
]

/** How old the newest block may be until the page says so, in seconds. */
const OLD_SECONDS = 15

/** Whether the page is told of new blocks, and of which one last. */
function LineState() {
  const { state, reason } = useStore(line)
  const newest = useStore(head)
  const now = useNow()
  if (state === 'lost') {
    return (
      <span class='line lost' title={reason}>
        No connection
      </span>
    )
  }
  if (newest === undefined) {
    return (
      <span class='line' role='status'>
        {state === 'live' ? 'Connected, no block yet' : 'Connecting'}
      </span>
    )
  }
  const age = (now - Date.parse(newest.time)) / 1000
  return (
    <span class='line live'>
      Block {newest.height.toLocaleString('en')}
      {age > OLD_SECONDS ? `, ${formatSpan(age)} ago` : ''}
    </span>
  )
}

/** The places, and which one the reader is in. In a narrow window they stand behind a button that names it. */
function Places({ view }: { readonly view: string }) {
  const [isOpen, open] = useState(false)
  const id = useId()
  const [, here] = [...NAVIGATION, ...OTHER_PLACES].find(([name]) => name === view) ?? []
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') open(false)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <div class='places'>
      <button type='button' class='menu' aria-expanded={isOpen} aria-controls={id} onClick={() => open(!isOpen)}>
        Menu{here === undefined ? null : <span class='soft'> {here}</span>}
      </button>
      <nav id={id} class='nav' aria-label='Views' data-open={isOpen}>
        {NAVIGATION.map(([name, title]) => (
          <a
            key={name}
            href={linkTo([name].filter(Boolean))}
            onClick={() => open(false)}
            {...(name === view ? { 'aria-current': 'page' } : {})}
          >
            {title}
          </a>
        ))}
      </nav>
    </div>
  )
}

export function Top({ view }: { readonly view: string }) {
  return (
    <header class='top'>
      <a class='brand' href={linkTo([])}>
        <img src={icon} alt='' />
        svcd <small>{useStore(chainId)}</small>
      </a>
      <Search />
      <LineState />
      <WalletButton />
      <Places view={view} />
    </header>
  )
}
