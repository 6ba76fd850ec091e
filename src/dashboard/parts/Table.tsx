import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createStore, useStore } from '../data/store.ts'
import { setOptions, useRoute } from '../route.ts'
import { type CsvValue, csvText, download } from './csv.ts'
import { EmptyNote } from './notes.tsx'

/**
 * Where a cell stands in a narrow window, whose rows are two lines: the name and what counts most in the first one, a note
 * and what stands aside below. What one can do stands beside both.
 */
type Corner = 'name' | 'figure' | 'note' | 'aside' | 'action'

/** A column of a table of `Row`s. */
export interface Column<Row> {
  readonly name: string
  readonly title: string
  /** What the column sorts by and writes to CSV. */
  readonly value: (row: Row) => CsvValue
  /** What a cell shows; the value when it is left out. */
  readonly cell?: (row: Row) => ComponentChildren
  /** What CSV has instead of the value. */
  readonly file?: (row: Row) => CsvValue
  /** Stands in the CSV file alone. */
  readonly isFileOnly?: boolean
  /** Does not stand in the CSV file, and no order is by it: it holds what one can do. */
  readonly isAction?: boolean
  readonly isNumber?: boolean
  /** Where it stands in a narrow window; left out there without one. */
  readonly corner?: Corner
  /** What stands before the value in a narrow window, which has no heads of columns. */
  readonly label?: string
  /** The width in CSS. With one of them the columns keep their widths whichever rows are in sight. */
  readonly width?: string
}

interface TableProps<Row> {
  /** What the table shows, for readers who do not see it, and the name of its CSV file. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string | number
  /** Where a row leads: in a narrow window the whole row is this link. */
  readonly linkOf: (row: Row) => string | undefined
  /** What stands there when there are no rows. */
  readonly empty: string
  /** Left out where the rows have an order of their own that must stay. */
  readonly isSortable?: boolean
}

/** A window so narrow that rows are two lines. style/rows.css says it too. */
const narrow = matchMedia('(max-width: 44rem)')
const isNarrow = createStore(narrow.matches)
narrow.addEventListener('change', () => isNarrow.set(narrow.matches))

/** The height of a row in px, which style/table.css and style/rows.css set too. */
const rowPx = (): number => (narrow.matches ? 60 : 44)

/** Rows that are drawn above and below what can be seen. */
const SPARE_ROWS = 12

/** Rows that a long table draws before it knows which are in sight. */
const FIRST_ROWS = 30

/** Tables with fewer rows are drawn whole. */
const WINDOWED_FROM = 100

interface Part {
  readonly first: number
  readonly end: number
  readonly px: number
}

/** The rows of a long table that the window shows. */
function useWindow(count: number, place: { readonly current: HTMLElement | null }): Part {
  const [part, setPart] = useState<Part>({ first: 0, end: Math.min(count, FIRST_ROWS), px: rowPx() })
  useEffect(() => {
    if (count < WINDOWED_FROM) return
    const look = (): void => {
      const top = place.current?.getBoundingClientRect().top ?? 0
      const px = rowPx()
      const drawn = Math.ceil(innerHeight / px) + 2 * SPARE_ROWS
      // A table that became shorter is not drawn beyond its end, however far down the window still is.
      const first = Math.max(0, Math.min(Math.floor(-top / px) - SPARE_ROWS, count - drawn))
      const end = Math.min(count, first + drawn)
      setPart((last) => (last.first === first && last.end === end && last.px === px ? last : { first, end, px }))
    }
    look()
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', look)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', look)
    }
  }, [count])
  return count < WINDOWED_FROM ? { first: 0, end: count, px: 0 } : part
}

const compare = (a: CsvValue, b: CsvValue): number => (a < b ? -1 : a > b ? 1 : 0)

/** The rows in the order that the address asks for: `sort=name` or `sort=-name`. */
function useSorted<Row>({ columns, rows, isSortable = false }: TableProps<Row>) {
  const asked = useRoute().options.get('sort') ?? ''
  const isDown = asked.startsWith('-')
  const column = isSortable ? columns.find(({ name }) => name === asked.replace(/^-/, '')) : undefined
  const sorted = useMemo(() => {
    if (column === undefined) return rows
    const ordered = [...rows].sort((a, b) => compare(column.value(a), column.value(b)))
    return isDown ? ordered.reverse() : ordered
  }, [rows, column, isDown])
  const sortBy = (name: string): void => {
    if (column?.name !== name) setOptions({ sort: name })
    else setOptions({ sort: isDown ? undefined : `-${name}` })
  }
  return { sorted, sortedBy: column?.name, isDown, sortBy }
}

const classOf = <Row,>({ isNumber, corner }: Column<Row>): string =>
  `${isNumber === true ? 'number ' : ''}${corner === undefined ? 'minor' : `at-${corner}`}`

const shownIn = <Row,>({ cell, value }: Column<Row>, row: Row): ComponentChildren =>
  cell === undefined ? String(value(row)) : cell(row)

/** The link that lies over a whole row. */
const RowLink = ({ to, name }: { readonly to: string | undefined; readonly name: string }) =>
  to === undefined ? null : (
    <a class='row-link' href={to}>
      <span class='visually-hidden'>{name}</span>
    </a>
  )

/** A table that sorts by its columns, draws only the rows in sight, and can be taken along as CSV. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, keyOf, linkOf, empty, isSortable = false } = props
  const columns = props.columns.filter(({ isFileOnly }) => isFileOnly !== true)
  const { sorted, sortedBy, isDown, sortBy } = useSorted(props)
  const table = useRef<HTMLTableElement>(null)
  const hasRowLinks = useStore(isNarrow)
  const { first, end, px } = useWindow(sorted.length, table)
  if (sorted.length === 0) return <EmptyNote>{empty}</EmptyNote>
  const save = (): void => {
    const filed = props.columns.filter(({ isAction }) => isAction !== true)
    const lines = sorted.map((row) => filed.map(({ value, file = value }) => file(row)))
    const titles = filed.map(({ title }) => title)
    download(`${label.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.csv`, csvText(titles, lines))
  }
  // What stands for the rows out of sight.
  const space = (rows: number) =>
    rows > 0 && (
      <tbody class='space' aria-hidden='true'>
        <tr>
          <td colSpan={columns.length} style={{ height: `${rows * px}px` }} />
        </tr>
      </tbody>
    )
  return (
    <div class={isSortable ? 'table sortable' : 'table'}>
      <table
        ref={table}
        class={columns.some(({ width }) => width !== undefined) ? 'fixed' : ''}
        aria-label={label}
        aria-rowcount={sorted.length + 1}
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.name}
                scope='col'
                class={classOf(column)}
                style={column.width === undefined ? {} : { width: column.width }}
                {...(sortedBy === column.name ? { 'aria-sort': isDown ? 'descending' : 'ascending' } : {})}
              >
                {isSortable && column.isAction !== true ? (
                  <button type='button' onClick={() => sortBy(column.name)}>
                    {column.title}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        {space(first)}
        <tbody>
          {sorted.slice(first, end).map((row, index) => (
            <tr key={keyOf(row)} aria-rowindex={first + index + 2}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)} data-label={column.label}>
                  {hasRowLinks && column.corner === 'name' && (
                    <RowLink to={linkOf(row)} name={String(column.value(row))} />
                  )}
                  {shownIn(column, row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {space(sorted.length - end)}
      </table>
      <footer>
        <span>{sorted.length === 1 ? '1 row' : `${sorted.length.toLocaleString('en')} rows`}</span>
        <button type='button' class='quiet' onClick={save}>
          CSV
        </button>
      </footer>
    </div>
  )
}
