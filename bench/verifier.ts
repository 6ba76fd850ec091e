/**
 * The least that an application with our signatures can do, as a process: `node bench/verifier.ts <abci address>`. It
 * decodes each transaction, verifies its signature, and keeps nothing: what it comes to bounds whatever stands behind
 * the same ABCI server.
 */
import { type Application, startAbciServer } from '../src/abci/index.ts'
import { decodeTx } from '../src/tx/envelope.ts'
import { isSignedBySender } from '../src/modules/isSignedBySender.ts'

const nothing = new Uint8Array(0)
const APP_HASH = new Uint8Array(32)
let height = 0

function isGood(bytes: Uint8Array): boolean {
  const tx = decodeTx(bytes)
  return !('why' in tx) && isSignedBySender(tx)
}

const application: Application = {
  info: () => ({ lastBlockHeight: height, lastBlockAppHash: height === 0 ? nothing : APP_HASH }),
  initChain: () => ({ appHash: APP_HASH }),
  checkTx: ({ tx }) => ({ code: isGood(tx) ? 0 : 1 }),
  finalizeBlock: ({ txs, ...block }) => {
    height = block.height
    return { txResults: txs.map(() => ({ code: 0 })), appHash: APP_HASH }
  },
}

const [address = ''] = process.argv.slice(2)
const onFatal = (error: unknown): never => {
  throw error
}
const server = await startAbciServer({ application, address, onFatal })
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)))
