import { escrowOf } from '../../modules/shownRules.ts'
import { svc } from '../data/gateway.ts'
import { useParamsHistory } from '../data/parameters.ts'
import type { Proposal, ProposalOf } from '../data/proposals.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { formatTokens, shorten } from '../format.ts'
import { ChoiceField } from '../forms/fields.tsx'
import type { CustomField, FormParts } from '../forms/FormParts.ts'
import {
  addressField,
  expiringFields,
  openUntil,
  type OperationPage,
  pieceOf,
  tokens,
  proposalOf,
} from '../operations/operation.ts'
import { AccountLink } from '../parts/text.tsx'
import { useWallet } from '../wallet/wallet.ts'
import { type KindPage, Side } from './kind.tsx'

function Changes({ proposal }: { readonly proposal: ProposalOf<'transfer_fund'> }) {
  const { from, to, amount } = proposal.Detail
  const isEscrow = from === proposal.Proposer
  const held: Readonly<Record<Proposal['Result'], string>> = {
    '': 'The proposer paid the amount into escrow when it proposed. It comes back if the proposal is rejected or expires.',
    Approved: 'The amount was paid from escrow.',
    Rejected: 'The amount went back from escrow to the proposer.',
    Expired: 'The amount went back from escrow to the proposer.',
  }
  return (
    <>
      <dl class='change'>
        <Side name='From'>
          <AccountLink address={from} />
        </Side>
        <span class='arrow' aria-hidden='true'>
          →
        </span>
        <Side name='To'>
          <AccountLink address={to} />
        </Side>
        <Side name='Amount'>
          <span class='number' title={`${amount} base units`}>
            {formatTokens(amount, 18)}
          </span>
          <span class='unit'> token</span>
        </Side>
      </dl>
      <p class='soft'>
        {isEscrow
          ? held[proposal.Result]
          : 'It is paid from a hold_account, which receives fees. Nothing is locked: the proposal is rejected if the ' +
            'balance does not cover the amount at approval.'}
      </p>
    </>
  )
}

/** The accounts that are or were the hold_account, the present one first; undefined until they are known. */
function useHolders(): ReadonlySet<string> | undefined {
  const history = useParamsHistory().data?.data
  return history && new Set(history.filter(({ name }) => name === 'hold_account').map(({ value }) => value))
}

/** Which account pays: that of the proposer, or one that is or was the hold_account. */
function FromField({ field }: { readonly field: CustomField }) {
  const { current } = useWallet()
  const holders = useHolders()
  const balance = useAnswer(field.value === '' ? undefined : `balance/${field.value}`, () =>
    svc.async.getBalance(field.value),
  ).data
  const others = [...(holders ?? [])].filter((one) => one !== current)
  const isOther = others.includes(field.value)
  const escrow = isOther
    ? 'Nothing is held: the approval pays if the balance covers it then.'
    : holders === undefined && field.value !== current
      ? ''
      : 'The amount is held in escrow until the decision.'
  // It was chosen while it acted: it is still what is proposed.
  const doubt = holders === undefined ? '' : ', which does not act now'
  const before = field.value !== '' && field.value !== current && !isOther
  return (
    <ChoiceField
      {...field}
      values={[
        ...(current === undefined ? [] : [[current, `Your account, ${current}`] as const]),
        ...(before ? [[field.value, `The account ${field.value}${doubt}`] as const] : []),
        ...others.map((one, at) => [one, `${at === 0 ? 'The' : 'An earlier'} hold_account, ${one}`] as const),
      ]}
      hint={
        balance === undefined
          ? current === undefined && 'Open the wallet to pay from your own account.'
          : `Its balance is ${formatTokens(balance)} token. ${escrow}`
      }
    />
  )
}

function useForm(): FormParts {
  const { current } = useWallet()
  const holders = useHolders()
  return {
    operation: 'proposeTransferFund',
    check: ({ transferFrom: from = '' }) =>
      current === undefined || from === '' || from === current || holders?.has(from) !== false
        ? {}
        : { transferFrom: 'expected the account that acts, or a hold_account' },
    custom: { transferFrom: (field) => <FromField field={field} /> },
  }
}

export const transferFund: KindPage<ProposalOf<'transfer_fund'>> = {
  title: 'Payment',
  doc: 'Pays an amount from your account, which is held in escrow until the decision, or from a hold_account, which has received fees.',
  sentence: ({ amount, to }) => `Pay ${formatTokens(amount)} token to ${shorten(to)}`,
  effect: ({ amount, from, to }) => `pays ${tokens(amount)} from ${from} to ${to}`,
  columns: { from: 'transfer_from', to: 'transfer_to' },
  Changes,
  useForm,
}

export const proposeTransferFund: OperationPage<'proposeTransferFund'> = {
  title: 'Propose a payment',
  words: (message) => [
    'propose to pay ',
    pieceOf('tokens', message, 'amount'),
    ' from ',
    pieceOf('account', message, 'transferFrom'),
    ' to ',
    pieceOf('account', message, 'transferTo'),
  ],
  happened: (of) => ['proposed a payment: ', proposalOf(of)],
  sentence: ({ amount, transferFrom, transferTo }) =>
    `Propose to pay ${tokens(amount)} from ${transferFrom} to ${transferTo}.`,
  due: openUntil,
  outflow: ({ amount, transferFrom }, { from }) => {
    const units = escrowOf(transferFrom.toLowerCase(), from, BigInt(amount))
    return units === 0n ? undefined : { name: 'Held until the proposal is decided', units }
  },
  fields: {
    transferFrom: { label: 'From', hint: 'your own account, or a present or earlier hold_account' },
    transferTo: addressField('To'),
    amount: { label: 'Amount' },
    ...expiringFields,
  },
}
