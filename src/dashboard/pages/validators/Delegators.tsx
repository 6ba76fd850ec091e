import type { QueryDelegationsResult } from '../../../client/index.ts'
import { svc } from '../../data/gateway.ts'
import { useAnswer } from '../../data/useAnswer.ts'
import { formatCount, formatRatio, formatShare } from '../../format.ts'
import { amountColumn } from '../../parts/columns.tsx'
import { Section } from '../../parts/layout.tsx'
import { Shown } from '../../parts/notes.tsx'
import { Steps } from '../../parts/Steps.tsx'
import { type Column, partIn, Table } from '../../parts/Table.tsx'
import { AccountLink, Tokens } from '../../parts/text.tsx'
import { WhenBlock } from '../../parts/TimeLeft.tsx'
import { linkTo, useRoute } from '../../route.ts'
import type { Stake } from '../../wallet/facts.ts'

/** That the commission rises, and when. */
export function RaiseNote({ stake: { next_comp_rate: rate, next_comp_rate_height: height } }: { stake: Stake }) {
  if (!rate || !height) return null
  return (
    <p class='note waiting'>
      Its commission rises to {formatRatio(rate)} in block <span class='number'>{formatCount(height)}</span>
      <WhenBlock height={height} />. Whoever disagrees can take their stake back before.
    </p>
  )
}

type Delegation = QueryDelegationsResult['data'][number]

const PAGE_ROWS = 20

const columnsOf = (shares: bigint): readonly Column<Delegation>[] => [
  {
    title: 'Account',
    value: ({ delegator_address: account }) => account,
    cell: ({ delegator_address: account }) => <AccountLink address={account} />,
    corner: 'name',
  },
  amountColumn('Staked', ({ shares: units }) => units, 2, {
    cell: ({ shares: units }) => <Tokens units={units} decimals={2} />,
    corner: 'figure',
    width: '14rem',
  }),
  {
    title: 'Part of the shares',
    value: (one) => formatShare(BigInt(one.shares), shares),
    isNumber: true,
    corner: 'aside',
    label: 'Share',
    width: '9rem',
  },
]

/** Who has staked with a validator, page by page in the order of their addresses. */
export function Delegators({ owner, stake }: { readonly owner: string; readonly stake: Stake }) {
  const { options } = useRoute()
  const asked = Number(options.get('delegators') ?? 0)
  const offset = Number.isSafeInteger(asked) && asked > 0 ? asked : 0
  const answer = useAnswer(`delegations/${owner}/${offset}`, () =>
    svc.async.stake.validator.queryDelegations({ validatorAddress: owner, limit: PAGE_ROWS, offset }),
  )
  const link = (to: number): string =>
    linkTo(['validators', owner], { ...Object.fromEntries(options), delegators: to === 0 ? '' : String(to) })
  const shares = BigInt(stake.self_shares) + BigInt(stake.delegated_shares)
  return (
    <Section title='Delegators' aside={`${formatCount(stake.delegators)} in all`}>
      <Shown answer={answer}>
        {({ data }) => (
          <Table
            label='Delegators'
            columns={columnsOf(shares)}
            rows={data}
            keyOf={({ delegator_address: account }) => account}
            linkOf={({ delegator_address: account }) => linkTo(['accounts', account])}
            empty={
              stake.delegators === 0
                ? 'Nobody but its owner has staked with this validator.'
                : 'That page does not exist.'
            }
            part={partIn(offset, data.length, stake.delegators)}
          />
        )}
      </Shown>
      <Steps
        label='Pages of delegators'
        back={{ name: 'Back', to: offset === 0 ? undefined : link(Math.max(0, offset - PAGE_ROWS)) }}
        on={{ name: 'Next', to: offset + PAGE_ROWS < stake.delegators ? link(offset + PAGE_ROWS) : undefined }}
      />
    </Section>
  )
}
