import { createServer, connect, type Socket } from 'node:net'
import { findCometBft } from '../../src/comet/find.ts'
import { writeNodeHome } from '../../src/comet/home.ts'
import { startCometBft, type CometProcess } from '../../src/comet/process.ts'
import { openNodeRpc, waitForNode } from '../../src/comet/rpc.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { tempFolder } from '../support/tempFolder.ts'

/** How long a node is waited for that never comes. */
export const NODE_MS_MAX = 300_000

/** A home with the built-in kvstore application and fast blocks, on free ports. */
export const kvstoreHome = async (blockTimeMs = 50, initialHeight = 1, chainId = 'feed-test') => {
  const { path: home, remove } = tempFolder('comet')
  const [rpcPort = 0, p2pPort = 0] = await freePorts(2)
  const addresses = { rpc: `tcp://127.0.0.1:${rpcPort}`, p2p: `tcp://127.0.0.1:${p2pPort}`, abci: 'kvstore' }
  const genesis = { appState: {}, genesisTime: '2026-11-20T10:00:00Z', initialHeight }
  const identity = writeNodeHome({ home, chainId, genesis, addresses, blockTimeMs })
  return { home, remove, identity, rpcPort, url: `http://127.0.0.1:${rpcPort}` }
}

/** A running kvstore node. `restart` starts it again on the same home, after `kill` or `stop`. */
export const kvstoreNode = async (...chain: Parameters<typeof kvstoreHome>) => {
  const made = await kvstoreHome(...chain)
  const { path: program } = await findCometBft()
  const rpc = openNodeRpc(made.url, { timeoutMs: NODE_MS_MAX })
  let running: CometProcess
  const start = async () => {
    running = await startCometBft({ program, home: made.home })
    await waitForNode(rpc, NODE_MS_MAX)
  }
  await start()
  const kill = async () => {
    process.kill(running.pid, 'SIGKILL')
    await running.exited
  }
  const remove = async () => {
    await running.stop()
    rpc.close()
    made.remove()
  }
  return { ...made, rpc, start, kill, remove }
}

/**
 * A TCP relay before the node. `drop` cuts all connections; `stall` leaves the websocket open and silent, its bytes
 * thrown away, while plain calls go on. `to` names another node, for the connections that come.
 */
export const relayTo = async (first: number) => {
  let port = first
  const sockets = new Set<Socket>()
  const subscribed = new Set<Socket>()
  let websockets = 0
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (from === client && /^upgrade: websocket/im.test(chunk.toString('latin1'))) {
          websockets += 1
          subscribed.add(upstream)
        }
        if (!stalled.has(from)) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const stalled = new Set<Socket>()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  const close = () => {
    drop()
    server.close()
  }
  const stall = () => {
    for (const socket of subscribed) stalled.add(socket)
  }
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    to: (next: number) => {
      port = next
    },
    drop,
    stall,
    close,
    websockets: () => websockets,
  }
}
