import type { ComponentType } from 'preact'
import type { TransactionResult } from '../../../client/index.ts'
import { proposalLink } from '../../data/proposals.ts'
import { useCandidates } from '../../data/validators.ts'
import { View } from '../../parts/layout.tsx'
import { goTo, linkTo } from '../../route.ts'
import { closeReview } from '../../wallet/act.ts'
import { useWallet } from '../../wallet/wallet.ts'
import { NotFound } from '../NotFound.tsx'
import { ChangeParamForm } from './forms/ChangeParam.tsx'
import { LibraryForm } from './forms/Library.tsx'
import { RetirementForm } from './forms/Retirement.tsx'
import { PaymentForm } from './forms/Payment.tsx'
import { useVoters, WhoMay } from './WhoMay.tsx'

/** What the form of each kind is given. */
export interface KindProps {
  readonly onDone: (result: TransactionResult) => void
}

interface Kind {
  readonly title: string
  readonly doc: string
  readonly Form: ComponentType<KindProps>
}

/** The chain knows this kind by name only. Source: interface, Limits 6. */
const NotImplemented = () => (
  <p class='note waiting'>
    The chain does not implement this kind: it refuses every such proposal with code 4,{' '}
    <q>proposeUpgradeProgram is not implemented</q>. So there is nothing to send from here. To replace the program,
    propose to retire it.
  </p>
)

const KINDS: Readonly<Record<string, Kind>> = {
  change_param: {
    title: 'Parameter',
    doc: 'Gives a parameter of the chain a new value. It is in force from the block after the approval.',
    Form: ChangeParamForm,
  },
  transfer_fund: {
    title: 'Payment',
    doc: 'Pays from your account, which is held in escrow until the decision, or from a hold_account, which has received fees.',
    Form: PaymentForm,
  },
  deploy_libeni: {
    title: 'Library',
    doc: 'Deploys a native library. Every node fetches the file for its own system, and puts it in place where the proposal ends.',
    Form: LibraryForm,
  },
  retire_program: {
    title: 'Retirement',
    doc: 'Ends this version of the program: every node stops where the proposal ends, and whoever is not preserved is deactivated.',
    Form: RetirementForm,
  },
  upgrade_program: {
    title: 'Upgrade',
    doc: 'Would replace the program by a newer one.',
    Form: NotImplemented,
  },
}

/** Goes to the proposal that a transaction made. */
function showNew({ deliver_tx: { data } }: TransactionResult): void {
  closeReview()
  if (data !== undefined) goTo(proposalLink(data))
}

/** A new proposal: its kind, and the form of that kind. */
export function NewProposal({ kind = 'change_param' }: { readonly kind: string | undefined }) {
  const { current } = useWallet()
  const candidates = useCandidates().data
  const voters = useVoters()
  const chosen = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (chosen === undefined) return <NotFound />
  const { Form, doc } = chosen
  const isRefused = Form !== NotImplemented && current !== undefined && voters?.includes(current) === false
  return (
    <View title='New proposal'>
      <div class='new-proposal'>
        <div class='tabs'>
          <nav aria-label='Kind'>
            {Object.entries(KINDS).map(([name, { title }]) => (
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
        <p class='soft'>{doc}</p>
        {isRefused ? <WhoMay account={current} voters={voters} candidates={candidates} what='propose' /> : null}
        {/* It stays where it is while it is hidden, and keeps what was typed. */}
        <div class='narrow' hidden={isRefused}>
          <Form key={kind} onDone={showNew} />
        </div>
      </div>
    </View>
  )
}
