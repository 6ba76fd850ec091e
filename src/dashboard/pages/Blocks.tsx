import { type BlockHead, head, recentBlocks } from '../data/chain.ts'
import { svc } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { useEarliest } from '../data/useTransactions.ts'
import type { ViewProps } from '../app.tsx'
import { linkTo, useRoute } from '../route.ts'
import { blockColumns, blockLink } from '../parts/blocks.tsx'
import { View } from '../parts/layout.tsx'
import { ErrorNote, Loading } from '../parts/notes.tsx'
import { Steps } from '../parts/Steps.tsx'
import { type Column, partIn, Table } from '../parts/Table.tsx'
import { Block } from './Block.tsx'
import { useProposers } from './useProposers.tsx'

const PAGE_BLOCKS = 25

/** The heights of a page, the highest first. */
const heightsFrom = (top: number): number[] =>
  Array.from({ length: Math.min(PAGE_BLOCKS, Math.max(0, top)) }, (_, index) => top - index)

const readBlocks = async (heights: readonly number[]): Promise<readonly BlockHead[]> => {
  const blocks = await Promise.all(heights.map((block) => svc.async.getBlock({ block, limit: 1 })))
  return blocks.filter((block) => block !== null)
}

/** The blocks of a page: those that the page has heard of, and the others from the gateway. */
function usePage(top: number, isLive: boolean) {
  const known = useStore(recentBlocks)
  const wanted = heightsFrom(top)
  const lacking = isLive ? [] : wanted.filter((height) => !known.some((block) => block.height === height))
  const answer = useAnswer(
    lacking.length === 0 ? undefined : `blocks/${lacking[0]}/${lacking.at(-1)}`,
    () => readBlocks(lacking),
    'once',
  )
  const rows = [...known.filter(({ height }) => wanted.includes(height)), ...(answer.data ?? [])]
  return {
    rows: rows.sort((a, b) => b.height - a.height),
    error: answer.error,
    isLoading: lacking.length > 0 && answer.data === undefined && answer.error === undefined,
  }
}

function List() {
  const newest = useStore(head)
  const asked = Number(useRoute().options.get('from') ?? Number.NaN)
  const isLive = !Number.isSafeInteger(asked) || asked < 1
  const headHeight = newest?.height ?? 0
  const earliest = useEarliest()
  const top = isLive ? headHeight : Math.min(asked, headHeight)
  const { rows, error, isLoading } = usePage(top, isLive)
  const proposerOf = useProposers()
  const columns: readonly Column<BlockHead>[] = [
    blockColumns.height,
    blockColumns.time,
    {
      title: 'Proposer',
      value: ({ proposer_address: proposer }) => proposer,
      cell: ({ proposer_address: proposer }) => proposerOf(proposer),
      corner: 'note',
    },
    blockColumns.transactions,
    { ...blockColumns.hash, width: '8.5rem' },
  ]
  const newer = top + PAGE_BLOCKS
  return (
    <View title='Blocks'>
      <ErrorNote error={error} />
      {isLoading || newest === undefined ? (
        <Loading lines={8} />
      ) : (
        <Table
          label='Blocks'
          columns={columns}
          rows={rows}
          keyOf={({ height }) => height}
          linkOf={blockLink}
          part={partIn(headHeight - top, rows.length, headHeight)}
          empty={isLive ? 'There is no block yet.' : 'The node has no blocks of these heights.'}
        />
      )}
      <Steps
        label='Pages of blocks'
        back={{
          name: 'Newer',
          to: isLive ? undefined : linkTo(['blocks'], { from: newer >= headHeight ? undefined : String(newer) }),
        }}
        on={{
          name: 'Older',
          to: top - PAGE_BLOCKS < earliest ? undefined : linkTo(['blocks'], { from: String(top - PAGE_BLOCKS) }),
        }}
      />
    </View>
  )
}

/** The blocks of the chain, or one of them. */
export const Blocks = ({ path: [id] }: ViewProps) => (id === undefined ? <List /> : <Block id={id} />)
