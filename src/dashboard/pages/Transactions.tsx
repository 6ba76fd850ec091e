import type { ViewProps } from '../app.tsx'
import { useLatest } from '../data/useTransactions.ts'
import { View } from '../parts/layout.tsx'
import { Loading } from '../parts/notes.tsx'
import { Table } from '../parts/Table.tsx'
import { txColumns } from '../parts/transactions.tsx'
import { Transaction } from './Transaction.tsx'

function List() {
  const rows = useLatest()
  return (
    <View title='Transactions'>
      {rows === undefined ? (
        <Loading lines={8} />
      ) : (
        <Table
          label='Latest transactions'
          columns={txColumns}
          rows={rows}
          keyOf={({ height, index }) => `${height}/${index}`}
          empty='The last 100 blocks hold no transaction. The next one appears here when it is in a block.'
        />
      )}
    </View>
  )
}

/** The latest transactions, or one of them. */
export const Transactions = ({ path: [hash] }: ViewProps) =>
  hash === undefined ? <List /> : <Transaction hash={hash} />
