import type { BlockHead } from '../data/chain.ts'
import { linkTo } from '../route.ts'
import { agoColumn, heightColumn } from './columns.tsx'
import type { Column } from './Table.tsx'
import { Short } from './text.tsx'

export const blockLink = ({ height }: Pick<BlockHead, 'height'>): string => linkTo(['blocks', height])

export const blockColumns = {
  height: heightColumn('Height', ({ height }) => height, { corner: 'name', width: '8rem' }),
  time: agoColumn('Time', ({ time }) => time, { corner: 'aside', width: '9rem' }),
  transactions: {
    title: 'Transactions',
    value: ({ transaction_count: count }) => count,
    isNumber: true,
    corner: 'figure',
    label: 'Transactions',
    width: '8rem',
  },
  hash: {
    title: 'Hash',
    value: ({ hash }) => hash,
    cell: ({ hash }) => <Short text={hash} to={linkTo(['blocks', hash])} />,
  },
} as const satisfies Readonly<Record<string, Column<BlockHead>>>
