import { askTransactions, type FoundTxs, isOf, movedFor, type TxFilter } from '../data/txHistory.ts'
import { useLatest } from '../data/proposals.ts'
import { refresh } from '../data/questions.ts'
import { useAnswer } from '../data/useAnswer.ts'
import { LATEST_TXS, type Tx, useLive } from '../data/useTransactions.ts'
import { exactTokens, formatCount } from '../format.ts'
import { operationNames, operationTitle } from '../operations/index.ts'
import { linkTo, useRoute } from '../route.ts'
import { ChoiceList } from './Filter.tsx'
import { HeightLink, Tokens } from './text.tsx'
import { Shown } from './notes.tsx'
import { Steps } from './Steps.tsx'
import { type Column, Table } from './Table.tsx'
import { txColumns, txLink } from './transactions.tsx'

const positionOf = ({ height, index }: Tx): string => `${height}/${index}`

/** What a transaction brought to a balance, or took from it. */
const moved = (address: string): Column<Tx> => ({
  title: 'In and out',
  value: (tx) => Number(movedFor(address, tx) ?? 0n),
  file: (tx) => {
    const units = movedFor(address, tx)
    return units === undefined ? '' : exactTokens(units)
  },
  cell: (tx) => {
    const units = movedFor(address, tx)
    if (units === undefined) return ''
    return (
      <span class={units < 0n ? 'moved' : 'moved in'}>
        {units < 0n ? '−' : '+'}
        <Tokens units={units < 0n ? -units : units} unit='' />
      </span>
    )
  },
  isNumber: true,
  corner: 'figure',
  width: '8.5rem',
})

const OPERATIONS = [
  { value: '', title: 'Every operation' },
  ...operationNames
    .map((value) => ({ value, title: operationTitle(value) }))
    .sort((a, b) => (a.title < b.title ? -1 : 1)),
]
const DIRECTIONS = [
  { value: '', title: 'In and out' },
  { value: 'out', title: 'Out: sent by this account' },
  { value: 'in', title: 'In: sent by others' },
]

/** What the address asks for. What it cannot ask for is left out. */
function useFilter(address: string | undefined): { readonly filter: TxFilter; readonly before: string | undefined } {
  const { options } = useRoute()
  const operation = operationNames.find((name) => name === options.get('operation'))
  const direction = (['in', 'out'] as const).find((one) => one === options.get('direction'))
  return {
    filter: { operation, address, direction: address === undefined ? undefined : direction },
    before: options.get('before') ?? undefined,
  }
}

/** The newest transactions: those that the page was told of, and behind them what the gateway found. */
function newestOf(told: readonly Tx[], filter: TxFilter, found: FoundTxs): FoundTxs {
  const rows = told.filter((tx) => isOf(tx, filter))
  const last = told.at(-1)
  // Of more transactions than this the page has forgotten the first ones, which stand before those that were found.
  if (last !== undefined && told.length >= LATEST_TXS)
    return { ...found, rows, searched: told.length, lowest: last.height, next: positionOf(last) }
  const known = new Set(rows.map(positionOf))
  const searched = found.searched + told.filter((tx) => tx.height > found.height).length
  return { ...found, searched, rows: [...rows, ...found.rows.filter((tx) => !known.has(positionOf(tx)))] }
}

/** What was looked through, where a filter chooses among it. */
function Searched({ found: { rows, searched, lowest, next, earliest } }: { readonly found: FoundTxs }) {
  return (
    <p class='list-foot'>
      <span>
        Looked through {searched === 1 ? 'one transaction' : `${formatCount(searched)} transactions`}, back to block{' '}
        <HeightLink height={next === null ? earliest : (lowest ?? earliest)} />
        {next === null ? ', the first one that this node has' : ''}: {formatCount(rows.length)} of them{' '}
        {rows.length === 1 ? 'is' : 'are'} shown.
        {next === null ? '' : ' Choose “Older” to look further.'}
      </span>
    </p>
  )
}

/** The transactions of an account, or of the chain, page by page back to the first; the first page goes on as blocks come. */
export function TxHistory({ address, label }: { readonly address?: string; readonly label: string }) {
  const { filter, before } = useFilter(address)
  const { operation, direction } = filter
  const key = `transactions/${address ?? ''}/${operation ?? ''}/${direction ?? ''}/${before ?? ''}`
  const answer = useAnswer(key, () => askTransactions(filter, before), before === undefined ? 'onReturn' : 'once')
  const { data, error } = answer
  const first = before === undefined ? data : undefined
  const told = useLive(first && Math.max(1, first.height), address, () => refresh(key))
  const shown = first === undefined ? data : newestOf(told, filter, first)
  // A link that goes while a page is on its way takes the focus with it. It leads on in this list, not in that of another filter.
  const list = `${operation ?? ''}/${direction ?? ''}`
  const last = useLatest({ data: shown && { list, next: shown.next }, error }).data
  const isInList = last?.list === list && (before !== undefined || shown !== undefined)
  const next = isInList ? (last.next ?? undefined) : undefined
  const path = address === undefined ? ['transactions'] : ['accounts', address]
  const link = (from?: string): string => linkTo(path, { operation, direction, before: from })
  const columns = address === undefined ? txColumns() : txColumns(moved(address))
  const isFiltered = operation !== undefined || direction !== undefined
  return (
    <>
      <div class='filters'>
        <ChoiceList name='operation' label='Operation' choices={OPERATIONS} />
        {address === undefined ? null : <ChoiceList name='direction' label='Direction' choices={DIRECTIONS} />}
      </div>
      <Shown answer={{ data: shown, error }} lines={8}>
        {(found) => (
          <>
            <Table
              label={label}
              columns={columns}
              rows={found.rows}
              keyOf={positionOf}
              linkOf={txLink}
              part={
                before === undefined && found.next === null
                  ? undefined
                  : `${formatCount(found.rows.length)} on this page`
              }
              empty={
                isFiltered
                  ? 'None of these.'
                  : address === undefined
                    ? 'No transaction, as far back as this node has blocks. The next one appears here when it is in a block.'
                    : 'No transaction of this account or about it, as far back as this node has blocks.'
              }
            />
            {isFiltered && <Searched found={found} />}
          </>
        )}
      </Shown>
      <Steps
        label='Pages of transactions'
        back={{ name: 'Newest', to: before === undefined ? undefined : link() }}
        on={{ name: 'Older', to: next && link(next) }}
      />
    </>
  )
}
