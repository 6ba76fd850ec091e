import { type CompleteApplication, CheckTxType } from '../abci/index.ts'

/** Decides when the application answers PrepareProposal, and so when its node proposes a block. */
export type BlockGate = ReturnType<typeof gateBlocks>

/**
 * Puts a gate before an application: without it CometBFT proposes the next block at once, because every block changes
 * the app hash, and `create_empty_blocks = false` holds a block back only after one that did not (needProofBlock in
 * CometBFT's consensus/state.go). A proposal that waited carries the transactions that CheckTx has accepted meanwhile,
 * since CometBFT read its mempool before it asked. The gate is open until `openTo` is called.
 */
export function gateBlocks(inner: CompleteApplication) {
  let openUntil = Infinity
  // Accepted since the last commit. CometBFT has those accepted before it in its mempool when it reads that.
  let accepted: Uint8Array[] = []
  let waiting: { readonly height: number; readonly proceed: () => void } | undefined
  const check = (): void => {
    if (waiting === undefined || (waiting.height > openUntil && accepted.length === 0)) return
    waiting.proceed()
    waiting = undefined
  }
  const untilOpen = (height: number): Promise<void> =>
    new Promise((proceed) => {
      waiting = { height, proceed }
      check()
    })
  const application: CompleteApplication = {
    ...inner,
    checkTx: async (request) => {
      const response = await inner.checkTx(request)
      if (openUntil === Infinity || request.type !== CheckTxType.new || (response.code ?? 0) !== 0) return response
      accepted.push(Buffer.from(request.tx))
      // Others that arrived with it go into the same block.
      setImmediate(check)
      return response
    },
    prepareProposal: async (request) => {
      if (request.txs.length > 0) return inner.prepareProposal(request)
      await untilOpen(request.height)
      return inner.prepareProposal({ ...request, txs: accepted })
    },
    commit: (request) => {
      accepted = []
      return inner.commit(request)
    },
  }
  return {
    /** The application behind the gate. */
    application,
    /**
     * Lets blocks up to this height be proposed at once, those above wait until there is a transaction. A later call can
     * only raise the height.
     */
    openTo: (height: number): void => {
      openUntil = openUntil === Infinity ? height : Math.max(openUntil, height)
      check()
    },
  }
}
