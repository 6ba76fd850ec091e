import { type BlockHead, head, recentBlocks } from '../data/chain.ts'
import { svc } from '../data/gateway.ts'
import { useStore } from '../data/store.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { useEarliest } from '../data/useTransactions.ts'
import type { ViewProps } from '../app.tsx'
import { linkTo, useRoute } from '../route.ts'
import { blockColumns, blockLink } from '../parts/blocks.tsx'
import { View } from '../parts/layout.tsx'
import { Shown } from '../parts/notes.tsx'
import { Steps } from '../parts/Steps.tsx'
import { type Column, partIn, Table } from '../parts/Table.tsx'
import { Block } from './Block.tsx'
import { useProposers } from './useProposers.tsx'

const PAGE_BLOCKS = 25

/** The blocks of a page, the highest first, without those that the node does not have. */
async function readBlocks(top: number): Promise<readonly BlockHead[]> {
  const heights = Array.from({ length: Math.min(PAGE_BLOCKS, top) }, (_, index) => top - index)
  const blocks = await Promise.all(heights.map((block) => svc.async.getBlock({ block, limit: 1 })))
  return blocks.filter((block) => block !== null)
}

function List() {
  const newest = useStore(head)
  const known = useStore(recentBlocks)
  const asked = Number(useRoute().options.get('from') ?? Number.NaN)
  const headHeight = newest?.height ?? 0
  // Not by the head: it rises from a hundred blocks back when the page is opened.
  const isLive = !Number.isSafeInteger(asked) || asked < 1
  const earliest = useEarliest()
  const top = isLive ? headHeight : asked
  const answer = useAnswer(isLive ? undefined : `blocks/${top}`, () => readBlocks(top), 'once')
  const live = newest && known.filter(({ height }) => height > headHeight - PAGE_BLOCKS).toReversed()
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
      <Shown answer={isLive ? { data: live, error: undefined } : answer} lines={8}>
        {(rows) => (
          <Table
            label='Blocks'
            columns={columns}
            rows={rows}
            keyOf={({ height }) => height}
            linkOf={blockLink}
            part={headHeight < top ? undefined : partIn(headHeight - top, rows.length, headHeight)}
            empty={isLive ? 'There is no block yet.' : 'The node has no blocks of these heights.'}
          />
        )}
      </Shown>
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
