/** A counter on a blockchain, in memory: a transaction is the next number in decimal digits, and any query reads the count. */
import {
  type Application,
  baseApplication,
  type CheckTxRequest,
  type FinalizeBlockRequest,
  type PrepareProposalRequest,
  ProposalStatus,
  type ProcessProposalRequest,
  startAbciServer,
} from '@svcd/abci'

const numberOf = (tx: Uint8Array) => Number(/^\d{1,9}$/.exec(Buffer.from(tx).toString())?.[0] ?? Number.NaN)
const printed = (count: number) => Buffer.from(String(count))

class Counter implements Application {
  private committed = { height: 0, count: 0 }
  private next = this.committed

  info() {
    const { height, count } = this.committed
    return { data: `count ${count}`, lastBlockHeight: height, lastBlockAppHash: printed(count) }
  }

  /** The app hash of genesis, which the first block carries. */
  initChain() {
    return { appHash: printed(0) }
  }

  /** Numbers to come may wait in the mempool. CometBFT checks them again after each block, which drops what is past. */
  checkTx({ tx }: CheckTxRequest) {
    const { count } = this.committed
    return numberOf(tx) > count ? {} : { code: 1, log: `expected a number above ${count}` }
  }

  /** Proposes the numbers that follow one another; the base application cuts them at the size of the block. */
  prepareProposal(request: PrepareProposalRequest) {
    const { count } = this.committed
    const txs = request.txs
      .filter((tx) => numberOf(tx) > count)
      .toSorted((a, b) => numberOf(a) - numberOf(b))
      .filter((tx, index) => numberOf(tx) === count + 1 + index)
    return baseApplication.prepareProposal({ ...request, txs })
  }

  processProposal({ txs }: ProcessProposalRequest) {
    const { count } = this.committed
    const isRight = txs.every((tx, index) => numberOf(tx) === count + 1 + index)
    return { status: isRight ? ProposalStatus.accept : ProposalStatus.reject }
  }

  finalizeBlock({ height, txs }: FinalizeBlockRequest) {
    let { count } = this.committed
    const txResults = txs.map((tx) => {
      if (numberOf(tx) !== count + 1) return { code: 1, log: `expected ${count + 1}` }
      count += 1
      return { data: printed(count) }
    })
    this.next = { height, count }
    return { txResults, appHash: printed(count) }
  }

  commit() {
    this.committed = this.next
    return {}
  }

  query() {
    const { height, count } = this.committed
    return { value: printed(count), height }
  }
}

const [address = 'tcp://127.0.0.1:26658'] = process.argv.slice(2)
const server = await startAbciServer({ application: new Counter(), address })
console.log(`listening on ${server.address}`)
process.once('SIGTERM', () => server.close())
