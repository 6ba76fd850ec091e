import { exactTokens } from '../format.ts'
import type { Column } from './Table.tsx'
import { Ago, HeightLink, Tokens } from './text.tsx'

type More<Row> = Partial<Column<Row>>

/** A column of heights, each a link to its block. */
export const heightColumn = <Row,>(title: string, heightOf: (row: Row) => number, more: More<Row>): Column<Row> => ({
  title,
  value: heightOf,
  cell: (row) => <HeightLink height={heightOf(row)} />,
  ...more,
})

/** A column of times in ISO 8601, shown by how long ago they are; a dash for an empty one. */
export const agoColumn = <Row,>(title: string, timeOf: (row: Row) => string, more: More<Row>): Column<Row> => ({
  title,
  value: timeOf,
  cell: (row) => <Ago time={timeOf(row)} />,
  ...more,
})

/** A column of amounts in base units, in tokens: without their unit where they are shown, and exactly in a file. */
export const amountColumn = <Row,>(
  title: string,
  unitsOf: (row: Row) => string | bigint,
  decimals: number,
  more: More<Row>,
): Column<Row> => ({
  title,
  value: unitsOf,
  file: (row) => exactTokens(unitsOf(row)),
  cell: (row) => <Tokens units={unitsOf(row)} decimals={decimals} unit='' />,
  isNumber: true,
  ...more,
})
