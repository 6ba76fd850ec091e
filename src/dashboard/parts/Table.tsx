import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createStore, useStore } from '../data/store.ts'
import { formatCount } from '../format.ts'
import { visibleText } from '../marks.ts'
import { setOptions, useRoute } from '../route.ts'
import { type CsvValue, csvText, download } from './csv.ts'
import { EmptyNote } from './notes.tsx'

export interface Column<Row> {
  /** What the address calls an order by this column. Without one, no order is by it. */
  readonly name?: string
  readonly title: string
  /** What the column sorts by and writes to CSV. */
  readonly value: (row: Row) => CsvValue
  /** What a cell shows; the value when it is left out. */
  readonly cell?: (row: Row) => ComponentChildren
  /** What CSV has instead of the value. */
  readonly file?: (row: Row) => CsvValue
  /** Stands in the CSV file alone. */
  readonly isFileOnly?: boolean
  /** Holds controls, or what is right only now, so the CSV file leaves it out. */
  readonly isShownOnly?: boolean
  readonly isNumber?: boolean
  /**
   * Its place in a row of a narrow window. The name comes first and wraps; note, figure and aside share the line below, and
   * actions stand beside both. A column without a place is left out there, and wherever a table is too narrow for it.
   */
  readonly corner?: 'name' | 'figure' | 'note' | 'aside' | 'action'
  /** What stands before the value in a narrow window, which has no heads of columns. */
  readonly label?: string
  /** The width in CSS, whichever rows are in sight. One column of a table has none: it takes what the others leave. */
  readonly width?: `${number}rem`
}

interface TableProps<Row> {
  /** What the table shows, for readers who do not see it, and the name of its CSV file. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => Key
  /** Where a row leads: in a narrow window the whole row is this link. */
  readonly linkOf: (row: Row) => string | undefined
  /** What stands there when there are no rows. */
  readonly empty?: string
  /** Which rows these are of a longer list: `1–20 of 45`. */
  readonly part?: string | undefined
}

/** A window so narrow that rows are not one line. style/rows.css says it too. */
const narrow = matchMedia('(max-width: 44rem)')
const isNarrow = createStore(narrow.matches)
narrow.addEventListener('change', () => isNarrow.set(narrow.matches))

/** The height of a row in px whose name takes one line; style/table.css and style/rows.css set it too. */
const rowPx = (): number => (narrow.matches ? 60 : 44)

/** How far above and below what can be seen rows are drawn, in px. */
const SPARE_PX = 600

/** Rows that a long table draws before it knows which are in sight. */
const FIRST_ROWS = 30

/** `aria-rowindex` of the first row: the head has 1. */
const FIRST_INDEX = 2

/** Tables with fewer rows are drawn whole. */
const WINDOWED_FROM = 100

/** The rows that are drawn, from `first` to before `end`, and the room of those above and below, in px. */
interface Part {
  readonly first: number
  readonly end: number
  readonly above: number
  readonly below: number
}

type Key = string | number

/** `1–20 of 45`; undefined for rows that are all there are. */
export const partIn = (offset: number, count: number, total: number): string | undefined =>
  count >= total ? undefined : `${formatCount(offset + 1)}–${formatCount(offset + count)} of ${formatCount(total)}`

/** Which rows to draw when `top` px of the table are above the window. `pxOf`: the height of a row. */
export function partOf(count: number, pxOf: (index: number) => number, top: number, windowPx: number): Part {
  let [first, above] = [0, 0]
  for (; first < count && above + pxOf(first) < top - SPARE_PX; first++) above += pxOf(first)
  let [end, bottom] = [first, above]
  for (; end < count && bottom < top + windowPx + SPARE_PX; end++) bottom += pxOf(end)
  // A table that became shorter is not drawn beyond its end, however far down the window still is.
  for (; first > 0 && bottom - above < windowPx + 2 * SPARE_PX; ) above -= pxOf(--first)
  let below = 0
  for (let index = end; index < count; index++) below += pxOf(index)
  return { first, end, above, below }
}

/** The rows of a long table that the window shows. Names may wrap, so each row's height is known once it was drawn. */
function useWindow(keys: readonly Key[], place: { readonly current: HTMLElement | null }): Part {
  const count = keys.length
  const [part, setPart] = useState<Part>(() => {
    const end = Math.min(count, FIRST_ROWS)
    return { first: 0, end, above: 0, below: (count - end) * rowPx() }
  })
  const [heights] = useState(() => new Map<Key, number>())
  const look = (): void => {
    if (count < WINDOWED_FROM) return
    // Rows of a list that goes on come and go.
    if (heights.size > 4 * count) {
      const there = new Set(keys)
      for (const key of heights.keys()) if (!there.has(key)) heights.delete(key)
    }
    for (const row of place.current?.querySelectorAll('tbody > [aria-rowindex]') ?? []) {
      const key = keys[Number(row.ariaRowIndex) - FIRST_INDEX]
      if (key !== undefined) heights.set(key, row.getBoundingClientRect().height)
    }
    const pxOf = (index: number): number => heights.get(keys[index] as Key) ?? rowPx()
    const next = partOf(count, pxOf, -(place.current?.getBoundingClientRect().top ?? 0), innerHeight)
    setPart((last) => (JSON.stringify(last) === JSON.stringify(next) ? last : next))
  }
  const latest = useRef(look)
  latest.current = look
  useEffect(look)
  useEffect(() => {
    const onScroll = (): void => latest.current()
    const onResize = (): void => {
      heights.clear()
      latest.current()
    }
    addEventListener('scroll', onScroll, { passive: true })
    addEventListener('resize', onResize)
    return () => {
      removeEventListener('scroll', onScroll)
      removeEventListener('resize', onResize)
    }
  }, [])
  return count < WINDOWED_FROM ? { first: 0, end: count, above: 0, below: 0 } : part
}

/** The least width, in rem, of a column that sets none: a name of two words fits on one line. */
const REST_REM = 11

const remOf = <Row,>({ width }: Column<Row>): number => (width === undefined ? REST_REM : Number.parseFloat(width))

/** The columns that fit into a table of `rem`: those without a corner are left out, the widest first, until the others fit. */
function columnsIn<Row>(columns: readonly Column<Row>[], rem: number): readonly Column<Row>[] {
  let over = columns.reduce((sum, column) => sum + remOf(column), -rem)
  const out = new Set<Column<Row>>()
  for (const column of columns.filter(({ corner }) => corner === undefined).sort((a, b) => remOf(b) - remOf(a))) {
    if (over <= 0) break
    out.add(column)
    over -= remOf(column)
  }
  return columns.filter((column) => !out.has(column))
}

/** The width of a table in rem; 0 in a narrow window, where it is a list. `isShown`: its element is there. */
function useRoom(place: { readonly current: HTMLElement | null }, isShown: boolean): number {
  const [rem, setRem] = useState(Number.POSITIVE_INFINITY)
  useLayoutEffect(() => {
    const around = place.current?.parentElement
    if (!around) return
    const remPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const look = (): void => setRem(around.clientWidth / remPx)
    look()
    const observer = new ResizeObserver(look)
    observer.observe(around)
    return () => observer.disconnect()
  }, [isShown])
  return useStore(isNarrow) ? 0 : rem
}

/** Texts as a dictionary has them, and 9 before 10 in them: by their code units `Zeta` would stand before `alpha`. */
const { compare: compareTexts } = new Intl.Collator('en', { numeric: true })

const compare = (a: CsvValue, b: CsvValue): number =>
  typeof a === 'string' && typeof b === 'string' ? compareTexts(a, b) : a < b ? -1 : a > b ? 1 : 0

/** The rows in the order that the address asks for: `sort=name` or `sort=-name`. */
function useSorted<Row>({ columns, rows }: TableProps<Row>) {
  const asked = useRoute().options.get('sort') ?? ''
  const isDown = asked.startsWith('-')
  const column = columns.find(({ name }) => name === asked.replace(/^-/, ''))
  const sorted = useMemo(() => {
    if (column === undefined) return rows
    const ordered = [...rows].sort((a, b) => compare(column.value(a), column.value(b)))
    return isDown ? ordered.reverse() : ordered
  }, [rows, column, isDown])
  const sortBy = (by: Column<Row>): void =>
    setOptions({ sort: by !== column ? by.name : isDown ? undefined : `-${by.name}` })
  return { sorted, sortedBy: column, isDown, sortBy }
}

const classOf = <Row,>({ isNumber, corner }: Column<Row>): string =>
  `${isNumber === true ? 'number ' : ''}${corner === undefined ? '' : `at-${corner}`}`

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
  const { label, keyOf, linkOf, empty = '', part } = props
  const { sorted, sortedBy, isDown, sortBy } = useSorted(props)
  const table = useRef<HTMLTableElement>(null)
  const room = useRoom(table, sorted.length > 0)
  const columns = columnsIn(
    props.columns.filter(({ isFileOnly }) => isFileOnly !== true),
    room,
  )
  const hasRowLinks = useStore(isNarrow)
  const { first, end, above, below } = useWindow(sorted.map(keyOf), table)
  if (sorted.length === 0) return <EmptyNote>{empty}</EmptyNote>
  const save = (): void => {
    const filed = props.columns.filter(({ isShownOnly }) => isShownOnly !== true)
    const lines = sorted.map((row) => filed.map(({ value, file = value }) => file(row)))
    const titles = filed.map(({ title }) => title)
    download(`${label.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.csv`, csvText(titles, lines))
  }
  // What stands for the rows out of sight.
  const space = (px: number) =>
    px > 0 && (
      <tbody class='space' aria-hidden='true'>
        <tr>
          <td colSpan={columns.length} style={{ height: `${px}px` }} />
        </tr>
      </tbody>
    )
  return (
    <div class={columns.some(({ name }) => name !== undefined) ? 'table sortable' : 'table'}>
      <table ref={table} aria-label={label} aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.title}
                scope='col'
                class={classOf(column)}
                style={column.width === undefined ? {} : { width: column.width }}
                {...(sortedBy === column ? { 'aria-sort': isDown ? 'descending' : 'ascending' } : {})}
              >
                {column.name === undefined ? (
                  column.title
                ) : (
                  <button type='button' onClick={() => sortBy(column)}>
                    {column.title}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        {space(above)}
        <tbody>
          {sorted.slice(first, end).map((row, index) => (
            <tr key={keyOf(row)} aria-rowindex={first + index + FIRST_INDEX}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)} data-label={column.label}>
                  {hasRowLinks && column.corner === 'name' && (
                    <RowLink to={linkOf(row)} name={visibleText(String(column.value(row)))} />
                  )}
                  {shownIn(column, row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {space(below)}
      </table>
      <footer>
        <span>{part ?? (sorted.length === 1 ? '1 row' : `${formatCount(sorted.length)} rows`)}</span>
        <button type='button' class='quiet' onClick={save}>
          {part === undefined ? 'CSV' : 'CSV of this page'}
        </button>
      </footer>
    </div>
  )
}
