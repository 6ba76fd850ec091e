import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CHAIN_ID } from '../../bench/accounts.ts'
import { silent, units } from '../../bench/genesis.ts'
import type { Target } from '../../bench/load/job.ts'
import { startNode } from '../../bench/node.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { Svc } from '../../src/client/index.ts'
import { findCometBft } from '../../src/comet/find.ts'
import { gatewayClient } from '../e2e/support/client.ts'
import { freePorts } from '../e2e/support/processes.ts'
import { ACCOUNTS, OWNER, VALIDATOR } from './accounts.ts'
import { FUNDED, replayedTxs } from './attacks.ts'

export type PartName = 'application' | 'CometBFT' | 'gateway'

/** A running chain of one validator: every part a process of its own, as an operator runs them. */
export type StressChain = Awaited<ReturnType<typeof startChain>>

export interface ChainOptions {
  readonly home: string
  readonly candidacies: number
  readonly proposals: number
  readonly blockTimeMs: number
}

const OPEN_PROPOSALS_MAX = 20
// On a busy machine a few blocks pass before the last of a round has reached the mempool.
const EXPIRES_IN_BLOCKS = 40
const REASON = 'Why this is proposed. '.repeat(90).trim()
const PROFILE = 'A candidacy with as much to say of itself as people write. '.repeat(8).trim()
const READY_MS_MAX = 300_000
const SVCD = fileURLToPath(new URL('../../src/cli/svcd.js', import.meta.url))

/** One validator, whose key the node has; the others are outside the set. */
const genesisOf =
  ({ candidacies }: ChainOptions) =>
  (pubKey: string): object => ({
    params: { stake_limit: '1', max_vals: 1 },
    stake: { max_absent_blocks: 1_000_000 },
    accounts: [
      ...ACCOUNTS.map((address) => ({ address, balance: units(1_000_000) })),
      ...FUNDED.map((address) => ({ address, balance: units(1000) })),
    ],
    candidacies: [
      { owner: VALIDATOR, pub_key: pubKey, shares: units(10_000_000), max_shares: units(100_000_000) },
      ...silent('candidate', candidacies - 1).map((one, at) => ({
        ...one,
        description: {
          name: `candidate ${at}`,
          website: `https://example.com/${at}`,
          location: 'Earth',
          profile: PROFILE,
        },
      })),
    ],
  })

// What the benchmark's nodes change, as `svcd devnet` has it.
const settingsOf = (blockTimeMs: number): Readonly<Record<string, string | number | boolean>> => ({
  'consensus.timeout_commit': `${blockTimeMs}ms`,
  'mempool.recheck': true,
  'mempool.size': 10_000,
  'mempool.cache_size': 20_000,
})

async function startGateway(home: string, node: Target, port: number, metrics: number) {
  const addresses =
    `--node http://${node.host}:${node.port} --listen 127.0.0.1:${port} --metrics 127.0.0.1:${metrics}`.split(' ')
  const args = ['gateway', '--devnet', ...addresses, '--keystore', home]
  const child = spawn(process.execPath, [SVCD, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  process.once('exit', () => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2000)
  })
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  }
  for (const endMs = performance.now() + READY_MS_MAX; ; await sleep(50)) {
    if ((await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true)
      return { pid: child.pid as number, stop }
    if (child.exitCode === null && performance.now() < endMs) continue
    await stop()
    throw new Error(`the gateway is not ready: ${said}`)
  }
}

/**
 * Makes proposals with long reasons, by real transactions, that expire after a few blocks: a candidacy may have 20 open
 * at a time.
 */
async function propose(url: string, count: number): Promise<void> {
  const svc = new Svc(url)
  const from = svc.accounts.add(OWNER)
  for (let made = 0; made < count; ) {
    const expireBlockHeight = (await svc.async.blockNumber()) + EXPIRES_IN_BLOCKS
    const round = Math.min(OPEN_PROPOSALS_MAX, count - made)
    await Promise.all(
      Array.from({ length: round }, (_, at) =>
        svc.async.governance.proposeChangeParam({
          from,
          name: 'gas_price',
          value: String(2_000_000_001 + made + at),
          reason: REASON,
          expireBlockHeight,
        }),
      ),
    )
    made += round
    if (made < count) await gatewayClient(url).waitForHeight(expireBlockHeight)
  }
}

const BATCH_CALLS = 50
/** A gateway takes no more than that of one sender at a time. */
const WAITING_CALLS = 500

/** Sends what strangers will send again, and waits for its blocks. */
async function sendOnce(url: string, txs: readonly Uint8Array[]): Promise<void> {
  for (let from = 0; from < txs.length; from += BATCH_CALLS) {
    const calls = txs.slice(from, from + BATCH_CALLS).map((tx, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'svc_sendRawTransaction',
      params: { transaction: toBase64(tx), wait: (from + BATCH_CALLS) % WAITING_CALLS === 0 },
    }))
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls),
    })
    for (const { error, result } of (await answer.json()) as {
      error?: object
      result?: { check_tx: { code?: number } }
    }[])
      if (result?.check_tx.code !== undefined || error !== undefined)
        throw new Error(`a transaction was refused: ${JSON.stringify(error ?? result)}`)
  }
}

/** Starts a chain with all its candidacies and proposals. */
export async function startChain(options: ChainOptions) {
  const { home, proposals, blockTimeMs } = options
  const { path, version } = await findCometBft()
  const [rpcPort = 0, p2pPort = 0, gatewayPort = 0, metricsPort = 0] = await freePorts(4)
  const node = await startNode({
    programs: { cometbft: path, version, abciCli: '', sdk: undefined },
    app: 'svcd',
    home,
    ports: [rpcPort, p2pPort],
    appState: genesisOf(options),
    settings: settingsOf(blockTimeMs),
  })
  const rpc: Target = { host: node.host, port: node.port }
  let gateway: Awaited<ReturnType<typeof startGateway>> | undefined
  const stop = async (): Promise<void> => {
    await gateway?.stop()
    await node.stop()
  }
  try {
    gateway = await startGateway(join(home, 'keystore'), rpc, gatewayPort, metricsPort)
    await sendOnce(`http://127.0.0.1:${gatewayPort}`, replayedTxs(CHAIN_ID))
    await propose(`http://127.0.0.1:${gatewayPort}`, proposals)
    const pids = { application: node.pids.app as number, CometBFT: node.pids.comet, gateway: gateway.pid }
    return {
      rpc,
      node: node.rpc,
      gateway: { host: '127.0.0.1', port: gatewayPort },
      /** Where the gateway serves its metrics. */
      metrics: { host: '127.0.0.1', port: metricsPort },
      pids,
      /** The log that SQLite writes ahead of the state. */
      walPath: join(home, 'data', 'state.db-wal'),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
