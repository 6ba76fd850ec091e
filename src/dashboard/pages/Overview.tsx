import { type BlockHead, head, recentBlocks } from '../data/chain.ts'
import { svc } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { useAnswer, useTold } from '../data/useAnswer.ts'
import { nameOf } from '../data/validators.ts'
import { formatCount, formatShare, formatTokens } from '../format.ts'
import { blockColumns, blockLink } from '../parts/blocks.tsx'
import { Figures, Section, View } from '../parts/layout.tsx'
import { Pending, Shown } from '../parts/notes.tsx'
import { Plot } from '../parts/Plot.tsx'
import { PowerStrip } from '../parts/PowerStrip.tsx'
import { type Column, Table } from '../parts/Table.tsx'
import { Ago } from '../parts/text.tsx'
import { linkTo } from '../route.ts'

const timeOf = ({ time }: BlockHead): number => Date.parse(time)

/** Over how many blocks an interval is averaged: block times are whole seconds. */
const AVERAGED = 10

/** Seconds a block took, on average of it and the ones before it; the first AVERAGED blocks have none. */
const intervals = (blocks: readonly BlockHead[]): number[] =>
  blocks.slice(AVERAGED).map((block, index) => (timeOf(block) - timeOf(blocks[index] as BlockHead)) / 1000 / AVERAGED)

function rate(blocks: readonly BlockHead[]): number {
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined || first === last) return 0
  const count = blocks.slice(1).reduce((sum, block) => sum + block.transaction_count, 0)
  return count / Math.max(1, (timeOf(last) - timeOf(first)) / 1000)
}

const { height, hash, transactions, time } = blockColumns
const columns: readonly Column<BlockHead>[] = [
  height,
  { ...hash, corner: 'note' },
  transactions,
  { ...time, isNumber: true },
]

const SHOWN_BLOCKS = 8

/** The latest blocks: how long they took and what they held. */
function Pulse({ blocks }: { readonly blocks: readonly BlockHead[] }) {
  const heights = blocks.map(({ height }) => height)
  return (
    <div class='plots'>
      <Plot
        label='Seconds a block takes, over ten blocks'
        x={heights.slice(AVERAGED)}
        y={intervals(blocks)}
        print={(value) => `${value.toFixed(1)} s`}
      />
      <Plot
        label='Transactions in a block'
        kind='bars'
        x={heights}
        y={blocks.map(({ transaction_count: count }) => count)}
        print={(value) => (Number.isInteger(value) ? value.toLocaleString('en') : '')}
      />
    </div>
  )
}

/** Candidacies whose shares are summed up: the set has 200 members at most, and who is behind them has little. */
const SUMMED = 500

/** With more candidacies than these, none is asked how many have staked with it: each would be one question more. */
const ASKED_MAX = 20

async function askStaked() {
  const { list, queryStake } = svc.async.stake.validator
  const { data } = await list({ limit: SUMMED })
  const asked = data.length > ASKED_MAX ? [] : data
  const stakes = await Promise.all(asked.map(({ owner_address: owner }) => queryStake(owner)))
  return {
    shares: data.reduce((sum, { shares }) => sum + BigInt(shares), 0n),
    owners: data.length,
    delegators: stakes.reduce((sum, { data: stake }) => sum + (stake?.delegators ?? 0), 0),
    candidates: data,
    isAll: asked.length === data.length,
  }
}

/** How much of the supply is staked by how many. An account that stakes with several validators counts with each of them. */
function stakedWords(
  { shares, owners, delegators, isAll }: Awaited<ReturnType<typeof askStaked>>,
  supply: bigint,
): string {
  const owned = owners === 1 ? '1 owner' : `${formatCount(owners)} owners`
  const count = delegators === 1 ? '1 delegation' : `${formatCount(delegators)} delegations`
  const much = `${formatTokens(shares, 0)} of it staked (${formatShare(shares, supply)})`
  return isAll ? `${much} by ${owned} and ${count}` : `${much} with ${owned}`
}

/** How much of the supply is staked. It is asked for when the view opens: it changes by awards only, in the main. */
const useStaked = () => useAnswer('staked', askStaked, 'onReturn').data

/** The validator set. It is asked for again when a subscription reports a change. */
const useSet = () => useTold('validatorSet', 'validatorSet', () => svc.async.stake.validator.queryValidatorSet())

/** What the chain has, and what of it secures it. With each block only the supply is asked for. */
function Figured({ set }: { readonly set: ReturnType<typeof useSet> }) {
  const blocks = useStore(recentBlocks)
  const newest = useStore(head)
  const open = useTold('proposal', 'openProposals', () =>
    svc.async.governance.listProposals({ state: 'open', newest: true, limit: 1 }),
  )
  const supply = useAnswer('supply', () => svc.async.getSupply()).data?.supply
  const staked = useStaked()
  const members = set.data?.data ?? []
  const joining = members.filter((member) => !member.proven).length
  return (
    <Figures
      figures={[
        {
          name: 'Height',
          value: newest === undefined ? '–' : newest.height.toLocaleString('en'),
          note: newest === undefined ? 'no block yet' : <Ago time={newest.time} />,
        },
        {
          name: 'Block time',
          value: blocks.length <= AVERAGED ? '–' : `${(intervals(blocks).at(-1) ?? 0).toFixed(1)} s`,
          note: 'over the last ten blocks',
        },
        {
          name: 'Transactions',
          value: blocks.length < 2 ? '–' : `${rate(blocks).toFixed(1)} /s`,
          note: `over the last ${blocks.length} blocks`,
        },
        {
          name: 'Validators',
          value: set.data === undefined ? <Pending /> : formatCount(members.length),
          note: joining === 0 ? 'that sign blocks and vote' : `${formatCount(joining)} of them joining`,
        },
        {
          name: 'Open proposals',
          value:
            open.data?.total === undefined ? (
              <Pending />
            ) : (
              <a href={linkTo(['proposals'], { state: 'open' })}>{open.data.total}</a>
            ),
          note: 'waiting for votes',
        },
        {
          name: 'Supply in tokens',
          value:
            supply === undefined ? <Pending /> : <span title={`${supply} base units`}>{formatTokens(supply, 0)}</span>,
          note: supply === undefined || staked === undefined ? '' : stakedWords(staked, BigInt(supply)),
        },
      ]}
    />
  )
}

/** The chain at a glance. */
export function Overview() {
  const blocks = useStore(recentBlocks)
  const set = useSet()
  const candidates = useStaked()?.candidates
  return (
    <View title='Overview' isNameHidden>
      <p class='soft'>
        You hold tokens and run no node? <a href={linkTo(['validators'])}>Stake them with a validator</a>: a part of
        what it earns is yours.
      </p>
      <Figured set={set} />
      <Pulse blocks={blocks} />
      <Section title='Voting power' aside={<a href={linkTo(['validators'])}>All validators</a>}>
        <Shown answer={set} lines={1}>
          {({ data }) => <PowerStrip members={data} nameOf={(owner) => nameOf(candidates, owner)} />}
        </Shown>
      </Section>
      <Section title='Latest blocks' aside={<a href={linkTo(['blocks'])}>All blocks</a>}>
        <Table
          label='Latest blocks'
          columns={columns}
          rows={[...blocks.slice(-SHOWN_BLOCKS)].reverse()}
          keyOf={({ height }) => height}
          linkOf={blockLink}
          empty='There is no block yet.'
        />
      </Section>
    </View>
  )
}
