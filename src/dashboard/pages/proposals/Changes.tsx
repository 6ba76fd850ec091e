import type { ComponentChildren } from 'preact'
import { type Change, changeOf, type WholeProposal } from '../../data/proposals.ts'
import { preservedKeys } from '../../operations/proposeRetireProgram.ts'
import { svc } from '../../data/gateway.ts'
import { parameterOf, type Params, rangeOf } from '../../data/parameters.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { useCandidates } from '../../data/validators.ts'
import { formatCount, formatTokens } from '../../format.ts'
import { Facts } from '../../parts/layout.tsx'
import { EmptyNote, Shown } from '../../parts/notes.tsx'
import { AccountLink, Badge, HeightLink, type Tone, UserLink, UserText } from '../../parts/text.tsx'
import { ParamValue } from '../../parts/ParamValue.tsx'
import { Names } from '../../parts/Names.tsx'
import { linkTo } from '../../route.ts'

type DetailOf<T extends Change['type']> = Extract<Change, { readonly type: T }>['detail']

/** One side of a change: what stands there, and what it is called. */
function Side({ name, children }: { readonly name: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function ParamChange({
  proposal,
  detail: { name, value },
}: {
  readonly proposal: WholeProposal
  readonly detail: DetailOf<'change_param'>
}) {
  const { BlockHeight: height, Result: result, ResultBlockHeight: end } = proposal
  const before = useAnswer(`params/${height}`, () => svc.async.governance.getParams(height), 'once')
  const now = useAnswer('params', () => svc.async.governance.getParams())
  const parameter = parameterOf(name)
  return (
    <Shown answer={before} lines={2}>
      {({ data }) => {
        const old = (data as Params)[name] ?? ''
        const present = (now.data?.data as Params | undefined)?.[name]
        // What neither stood there when it was proposed nor is proposed: another proposal came in between.
        const isOther = present !== undefined && String(present) !== String(old) && String(present) !== value
        return (
          <>
            <dl class='change'>
              <Side name={result === '' ? 'When it was proposed' : 'Before'}>
                <ParamValue name={name} value={old} />
              </Side>
              <span class='arrow' aria-hidden='true'>
                →
              </span>
              <Side
                name={
                  result === 'Approved' ? (
                    <>
                      From block <HeightLink height={end + 1} />
                    </>
                  ) : (
                    'Proposed'
                  )
                }
              >
                <ParamValue name={name} value={value} />
              </Side>
              {isOther ? (
                <Side name='In force now'>
                  <ParamValue name={name} value={present} />
                </Side>
              ) : null}
            </dl>
            <p class='soft'>
              <a href={linkTo(['parameters', name])}>{name}</a>: {parameter?.doc} A proposal may set{' '}
              {parameter === undefined ? '' : rangeOf(parameter)}.
            </p>
          </>
        )
      }}
    </Shown>
  )
}

/** What became of a library on the node behind this gateway, in words. Source: protocol.md §7. */
const LIBRARY_STATUS: Readonly<Record<string, readonly [Tone, string]>> = {
  init: ['waiting', 'The node has not fetched the file yet.'],
  ready: ['good', 'The node has fetched the file, its MD5 is right, and it waits for its point.'],
  failed: ['bad', 'The node could not fetch the file so far; it tries again.'],
  deployed: ['good', 'The library is in place on the node.'],
  collapsed: ['bad', 'It was approved, but the node did not have the file at its point. It goes on trying.'],
  rejected: ['plain', 'The node keeps no file, because the proposal was not approved.'],
}

/** What each OS is given in a JSON text that the chain has checked. */
function perOs<T>(json: string): Readonly<Record<string, T>> {
  try {
    return JSON.parse(json) as Record<string, T>
  } catch {
    return {}
  }
}

function LibraryChange({ detail }: { readonly detail: DetailOf<'deploy_libeni'> }) {
  const urls = perOs<readonly string[]>(detail.fileurl)
  const sums = perOs<string>(detail.md5)
  const [tone, status] = LIBRARY_STATUS[detail.status] ?? ['plain', '']
  const files = Object.entries(urls).map(([os, all]) => [
    `For ${os}`,
    <>
      <ul class='urls'>
        {all.map((url) => (
          <li key={url}>
            <UserLink url={url} />
          </li>
        ))}
      </ul>
      <span class='soft'>MD5</span> <span class='mono'>{String(sums[os] ?? '–')}</span>
    </>,
  ])
  return (
    <Facts
      facts={{
        Library: <span class='mono'>{detail.name}</span>,
        Version: <span class='mono'>{detail.version}</span>,
        ...(Object.fromEntries(files) as Record<string, ComponentChildren>),
        'On this node': (
          <>
            <Badge tone={tone}>{detail.status}</Badge> {status}
          </>
        ),
      }}
    />
  )
}

const RETIRE_STATUS: Readonly<Record<string, string>> = {
  init: 'Not retired. If it is approved, every node stops after the block of its point.',
  success: 'Retired: every node stopped after the block of its point, and its successor went on.',
  rejected: 'Not retired.',
}

function Retirement({ detail, isOpen }: { readonly detail: DetailOf<'retire_program'>; readonly isOpen: boolean }) {
  const candidates = useCandidates()
  const keys = new Set(preservedKeys(detail.preserved_validators))
  return (
    <Shown answer={candidates}>
      {(all) => {
        const kept = all.filter(({ pub_key: { value } }) => keys.has(value))
        const known = new Set(kept.map(({ pub_key: { value } }) => value))
        const gone = all.filter(({ active, pub_key: { value } }) => active === 'Y' && !keys.has(value))
        const unknown = [...keys].filter((key) => !known.has(key))
        return (
          <Facts
            facts={{
              'Program version': detail.retired_version,
              [`Preserved (${formatCount(keys.size)})`]: (
                <>
                  <Names owners={kept.map((one) => one.owner_address)} candidates={all} />
                  {unknown.map((key) => (
                    <div key={key}>
                      <UserText text={key} /> <span class='soft'>has no candidacy now</span>
                    </div>
                  ))}
                </>
              ),
              // Afterwards the list would name those who came later.
              [`Would be deactivated (${formatCount(gone.length)})`]: isOpen ? (
                gone.length === 0 ? (
                  'Nobody'
                ) : (
                  <Names owners={gone.map((one) => one.owner_address)} candidates={all} />
                )
              ) : undefined,
              Status: RETIRE_STATUS[detail.status] ?? detail.status,
            }}
          />
        )
      }}
    </Shown>
  )
}

function Payment({
  proposal,
  detail,
}: {
  readonly proposal: WholeProposal
  readonly detail: DetailOf<'transfer_fund'>
}) {
  const isEscrow = detail.from === proposal.Proposer
  const held: Readonly<Record<WholeProposal['Result'], string>> = {
    '': 'The proposer paid the amount into escrow when it proposed. It comes back if the proposal is rejected or expires.',
    Approved: 'The amount was paid from escrow.',
    Rejected: 'The amount went back from escrow to the proposer.',
    Expired: 'The amount went back from escrow to the proposer.',
  }
  return (
    <>
      <dl class='change'>
        <Side name='From'>
          <AccountLink address={detail.from} />
        </Side>
        <span class='arrow' aria-hidden='true'>
          →
        </span>
        <Side name='To'>
          <AccountLink address={detail.to} />
        </Side>
        <Side name='Amount'>
          <span class='number' title={`${detail.amount} base units`}>
            {formatTokens(detail.amount, 18)}
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

/** What a proposal would change, or changed. */
export function WhatChanges({ proposal }: { readonly proposal: WholeProposal }) {
  const change = changeOf(proposal)
  switch (change.type) {
    case 'change_param':
      return <ParamChange proposal={proposal} detail={change.detail} />
    case 'deploy_libeni':
      return <LibraryChange detail={change.detail} />
    case 'retire_program':
      return <Retirement detail={change.detail} isOpen={proposal.Result === ''} />
    case 'transfer_fund':
      return <Payment proposal={proposal} detail={change.detail} />
    default:
      return <EmptyNote>This page does not know this kind of proposal.</EmptyNote>
  }
}
