import type { OperationName } from '../../../client/gen/forms.ts'
import type { TransactionResult } from '../../../client/index.ts'
import { svc } from '../../data/gateway.ts'
import { proposalLink } from '../../data/proposals.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { OperationForm } from '../../forms/OperationForm.tsx'
import { View } from '../../parts/layout.tsx'
import { Pending } from '../../parts/notes.tsx'
import { Tokens } from '../../parts/text.tsx'
import { kinds } from '../../proposals/index.ts'
import type { KindPage } from '../../proposals/kind.tsx'
import { goTo, linkTo } from '../../route.ts'
import { closeReview, isWatched } from '../../wallet/act.ts'
import { useWallet } from '../../wallet/wallet.ts'
import { NotFound } from '../NotFound.tsx'
import { useVoters, WhoMay } from './WhoMay.tsx'

/** The chain knows this kind by name only. Source: interface, Limits 6. */
const UPGRADE = { title: 'Upgrade', doc: 'Would replace the program by a newer one.' }

const NotImplemented = () => (
  <p class='note waiting'>
    The chain does not implement this kind: it refuses every such proposal with code 4,{' '}
    <q>proposeUpgradeProgram is not implemented</q>. So there is nothing to send from here. To replace the program,
    propose to retire it.
  </p>
)

const TABS: Readonly<Record<string, KindPage | typeof UPGRADE>> = { ...kinds, upgrade_program: UPGRADE }

/** What an operation costs at the present gas price. */
export function Fee({ operation }: { readonly operation: OperationName }) {
  const fee = useAnswer(`fee/${operation}`, () => svc.async.estimateFee(operation)).data?.fee
  return (
    <small class='soft'>
      Fee: {fee === undefined ? <Pending /> : <Tokens units={fee} decimals={18} />}. You see everything before you sign.
    </small>
  )
}

function KindForm({ kind }: { readonly kind: KindPage }) {
  const parts = kind.useForm()
  return (
    <OperationForm
      {...parts}
      submit='Propose'
      isDangerous={kind.warning !== undefined}
      note={<Fee operation={parts.operation} />}
      onDone={showNew}
    >
      {() => (kind.warning === undefined ? null : <p class='note bad'>{kind.warning}</p>)}
    </OperationForm>
  )
}

/** Goes to the proposal that a transaction made. */
function showNew(result: TransactionResult): void {
  const { data } = result.deliver_tx
  if (!isWatched(result)) return
  closeReview()
  if (data !== undefined) goTo(proposalLink(data))
}

/** A new proposal: its kind, and the form of that kind. */
export function NewProposal({ kind = 'change_param' }: { readonly kind: string | undefined }) {
  const { current } = useWallet()
  const voters = useVoters(true)
  const chosen = Object.hasOwn(TABS, kind) ? TABS[kind] : undefined
  if (chosen === undefined) return <NotFound />
  const page = 'useForm' in chosen ? chosen : undefined
  const isRefused = page !== undefined && current !== undefined && voters?.includes(current) === false
  return (
    <View title='New proposal'>
      <div class='new-proposal'>
        <div class='tabs'>
          <nav aria-label='Kind'>
            {Object.entries(TABS).map(([name, { title }]) => (
              <a
                key={name}
                href={linkTo(['proposals', 'new', name])}
                {...(name === kind ? { 'aria-current': 'true' } : {})}
              >
                {title}
              </a>
            ))}
          </nav>
        </div>
        <p class='soft'>{chosen.doc}</p>
        {isRefused ? <WhoMay account={current} voters={voters} what='propose' /> : null}
        {/* It stays where it is while it is hidden, and keeps what was typed. */}
        <div class='narrow' hidden={isRefused}>
          {page === undefined ? <NotImplemented /> : <KindForm key={kind} kind={page} />}
        </div>
      </div>
    </View>
  )
}
