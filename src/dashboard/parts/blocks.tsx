import type { BlockHead } from '../data/chain.ts'
import { linkTo } from '../route.ts'
import type { Column } from './Table.tsx'
import { Ago, HeightLink, Short } from './text.tsx'

/** The view of a block. */
export const blockLink = ({ height }: Pick<BlockHead, 'height'>): string => linkTo(['blocks', height])

/** The columns of tables of blocks. */
export const blockColumns = {
  height: {
    name: 'height',
    title: 'Height',
    value: ({ height }) => height,
    cell: ({ height }) => <HeightLink height={height} />,
    corner: 'name',
    width: '8rem',
  },
  time: {
    name: 'time',
    title: 'Time',
    value: ({ time }) => time,
    cell: ({ time }) => <Ago time={time} />,
    corner: 'aside',
    width: '9rem',
  },
  transactions: {
    name: 'transactions',
    title: 'Transactions',
    value: ({ transaction_count: count }) => count,
    isNumber: true,
    corner: 'figure',
    label: 'Transactions',
    width: '8rem',
  },
  hash: {
    name: 'hash',
    title: 'Hash',
    value: ({ hash }) => hash,
    cell: ({ hash }) => <Short text={hash} to={linkTo(['blocks', hash])} />,
  },
} as const satisfies Readonly<Record<string, Column<BlockHead>>>
