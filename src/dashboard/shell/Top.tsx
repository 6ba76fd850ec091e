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

/** The bar above every view. */
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
      <nav class='nav' aria-label='Views'>
        {NAVIGATION.map(([name, title]) => (
          <a key={name} href={linkTo([name].filter(Boolean))} {...(name === view ? { 'aria-current': 'page' } : {})}>
            {title}
          </a>
        ))}
      </nav>
    </header>
  )
}
