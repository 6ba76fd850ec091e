/** A key-value store on a blockchain, in memory: a transaction is `key=value`, and the data of a query is a key. */
import { createHash } from 'node:crypto'
import { type Application, startAbciServer } from '@svcd/abci'

let state = { height: 0, appHash: new Uint8Array(0), rows: new Map<string, string>() } // as committed
let next = state // as finalized, and not committed yet

const wrong = { code: 1, log: 'expected key=value' }
const pairOf = (tx: Uint8Array) => /^([^=]+)=([^=]+)$/.exec(Buffer.from(tx).toString())

const application: Application = {
  info: () => ({ data: `${state.rows.size} keys`, lastBlockHeight: state.height, lastBlockAppHash: state.appHash }),
  checkTx: ({ tx }) => (pairOf(tx) ? {} : wrong),
  finalizeBlock: ({ height, txs }) => {
    const pairs = txs.map(pairOf)
    const rows = new Map(state.rows)
    let { appHash } = state
    for (const [pair, key = '', value = ''] of pairs.filter((pair) => pair !== null)) {
      rows.set(key, value)
      appHash = createHash('sha256').update(appHash).update(pair).digest()
    }
    next = { height, appHash, rows }
    return { txResults: pairs.map((pair) => (pair ? {} : wrong)), appHash }
  },
  commit: () => {
    state = next
    return {}
  },
  query: ({ data }) => {
    const value = state.rows.get(Buffer.from(data).toString())
    return value === undefined ? { code: 1, log: 'no such key' } : { key: data, value: Buffer.from(value) }
  },
}

const [address = 'tcp://127.0.0.1:26658'] = process.argv.slice(2)
const server = await startAbciServer({ application, address })
console.log(`listening on ${server.address}`)
process.once('SIGTERM', () => server.close())
