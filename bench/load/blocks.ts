import { openWebSocket, textFrame } from './websocket.ts'

/** A block as its event told: when the event came, and how many transactions it carried. */
export interface SeenBlock { readonly height: number; readonly atMs: number; readonly txs: number }

/** Watches the blocks of a node by events that carry no transactions, so that watching costs next to nothing. */
export interface BlockWatch {
  readonly blocks: readonly SeenBlock[]
  /** Transactions in all blocks seen. */
  committed(): number
  close(): void
}

/** Begins to watch; resolves when the node has accepted the subscription. `onBlock` is called after each block. */
export async function watchBlocks(host: string, port: number, onBlock: (block: SeenBlock) => void): Promise<BlockWatch> {
  const blocks: SeenBlock[] = []
  let committed = 0
  const { promise: accepted, resolve: accept } = Promise.withResolvers<void>()
  const socket = await openWebSocket(host, port, {
    onMessage: (text) => {
      const atMs = performance.now()
      const message = JSON.parse(text.toString()) as { result?: { data?: { value?: { height?: string; num_txs?: string } } } }
      const value = message.result?.data?.value
      if (value?.height === undefined) return accept()
      const block = { height: Number(value.height), atMs, txs: Number(value.num_txs ?? 0) }
      blocks.push(block)
      committed += block.txs
      onBlock(block)
    },
    onDrain: () => undefined,
    onClose: () => undefined,
  })
  socket.write(textFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { query: "tm.event='NewBlockEvents'" } })))
  await accepted
  return { blocks, committed: () => committed, close: socket.close }
}
