import type { ViewProps } from '../app.tsx'
import { View } from '../parts/layout.tsx'
import { TxHistory } from '../parts/TxHistory.tsx'
import { Transaction } from './Transaction.tsx'

/** The transactions of the chain, or one of them. */
export const Transactions = ({ path: [hash] }: ViewProps) =>
  hash === undefined ? (
    <View title='Transactions'>
      <div>
        <TxHistory label='Transactions' />
      </div>
    </View>
  ) : (
    <Transaction hash={hash} />
  )
