import type { ComponentType } from 'preact'
import { Bottom } from './shell/Bottom.tsx'
import { LineBar } from './shell/LineBar.tsx'
import { Top } from './shell/Top.tsx'
import { Blocks } from './pages/Blocks.tsx'
import { Overview } from './pages/Overview.tsx'
import { NotFound } from './pages/NotFound.tsx'
import { Validators } from './pages/Validators.tsx'
import { Send } from './pages/Send.tsx'
import { Proposals } from './pages/Proposals.tsx'
import { Guarded } from './parts/Guarded.tsx'
import { lazyView } from './parts/lazyView.tsx'
import { useRoute } from './route.ts'
import { IdleNote } from './wallet/IdleNote.tsx'
import { ReviewDialog } from './wallet/ReviewDialog.tsx'
import { WalletDialog } from './wallet/WalletDialog.tsx'

/** What every view is given: the parts of its path behind its name. */
export interface ViewProps {
  readonly path: readonly string[]
}

/** The views, by the first part of the path. */
const views: Readonly<Record<string, ComponentType<ViewProps>>> = {
  '': Overview,
  account: lazyView(async () => (await import('./pages/MyAccount.tsx')).MyAccount),
  validators: Validators,
  send: Send,
  parameters: lazyView(async () => (await import('./pages/Parameters.tsx')).Parameters),
  proposals: Proposals,
  blocks: Blocks,
  transactions: lazyView(async () => (await import('./pages/Transactions.tsx')).Transactions),
  accounts: lazyView(async () => (await import('./pages/Account.tsx')).Account),
  // Few are asked to sign a draft, and what checks its signatures is large.
  sign: lazyView(async () => (await import('./pages/Sign.tsx')).Sign, undefined, false),
  search: lazyView(async () => (await import('./pages/SearchResults.tsx')).SearchResults),
}

/** Goes to the content. A link could not: the part of the address behind `#` is the view. */
function skip(): void {
  document.querySelector<HTMLElement>('main h1')?.focus()
}

export function App() {
  const { path } = useRoute()
  const [name = '', ...rest] = path
  const Shown = Object.hasOwn(views, name) ? (views[name] as ComponentType<ViewProps>) : NotFound
  return (
    <>
      <button type='button' class='skip' onClick={skip}>
        Skip to the content
      </button>
      <Top view={name} />
      <LineBar />
      <IdleNote />
      <Guarded key={path.join('/')}>
        <Shown path={rest} />
      </Guarded>
      <Bottom />
      <WalletDialog />
      <ReviewDialog />
    </>
  )
}
