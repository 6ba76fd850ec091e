import { openWebSocket, textFrame } from './websocket.ts'

/** Tells of transactions that are in a block, by events that carry whole blocks: for loads that wait for them. */
export interface LandedWatch {
  /** Resolves when this transaction, in base64, is in a block. To be asked for before it is sent. */
  landed(tx: string): Promise<void>
  close(): void
}

interface BlockEvent {
  readonly result?: { readonly data?: { readonly value?: { readonly block?: { readonly data: { readonly txs: readonly string[] } } } } }
}

/** Begins to watch; resolves when the node has accepted the subscription. */
export async function watchLanded(host: string, port: number): Promise<LandedWatch> {
  const waiting = new Map<string, () => void>()
  const { promise: accepted, resolve: accept } = Promise.withResolvers<void>()
  const socket = await openWebSocket(host, port, {
    onMessage: (text) => {
      const { result } = JSON.parse(text.toString()) as BlockEvent
      const block = result?.data?.value?.block
      if (block === undefined) return accept()
      for (const tx of block.data.txs) {
        waiting.get(tx)?.()
        waiting.delete(tx)
      }
    },
    onDrain: () => undefined,
    onClose: () => undefined,
  })
  socket.write(textFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params: { query: "tm.event='NewBlock'" } })))
  await accepted
  return { landed: (tx) => new Promise((done) => { waiting.set(tx, done) }), close: socket.close }
}
