import { setTimeout as sleep } from 'node:timers/promises'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '../../../src/base/bytes.ts'
import { TOKEN } from '../../../src/base/amount.ts'
import { tables, views } from '../../../src/modules/registry.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqliteStore.ts'
import { txHash } from '../../../src/tx/envelope.ts'
import { need } from '../../support/campaign.ts'
import { supplyGap } from '../../support/conservation.ts'
import { type Devnet, type Place, startDevnet } from './devnet.ts'
import { askNode } from './network.ts'

/** What is killed: one part, the supervisor alone, or all three at once. */
export type Victim = 'app' | 'node' | 'supervisor' | 'all'

/** What gateways acknowledged, over all rounds. */
export interface Book {
  /** Hash → height of every transaction that was answered as committed. */
  readonly acknowledged: Map<string, number>
}

export interface Round {
  readonly victim: Victim
  readonly acknowledged: number
  readonly height: number
  readonly status: number | null
}

const SENDERS = 4
const CALLS_OF_ONE = 4
/** What each account of a devnet starts with, in tokens. */
const TOKENS = 100_000n
const VALUE = 7n
const FEE = 21_000n * 2_000_000_000n
/** An address that no key is known of: all transfers go there. */
const SINK = `0x${'5e'.repeat(20)}`
const TROUBLE = /AppHash does not match|wrong Block\.Header\.(?:AppHash|LastResultsHash)|CONSENSUS FAILURE/
/**
 * How CometBFT words that the socket to the application broke: its consensus fails of that too when the kill comes
 * within a request.
 */
const LOST =
  /err="[^"]*(?:read message|write to buffer|flush buffer): [^"]*(?:EOF|connection reset by peer|broken pipe)/

/** The last block in which something was acknowledged; 0 for none. There may be too many for the arguments of a call. */
const lastHeight = ({ acknowledged }: Book): number =>
  [...acknowledged.values()].reduce((last, height) => Math.max(last, height), 0)

export const makeBook = (): Book => ({ acknowledged: new Map() })

/**
 * Transfers of several accounts, and delegations of another one that takes them back, until `ended` or the gateway is
 * gone. Resolves when no call is under way any more.
 */
export async function sendUntil(net: Devnet, ended: () => boolean, book: Book): Promise<void> {
  const [validatorAddress, ...others] = await net.call<string[]>('svc_accounts')
  const send = async (calls: readonly (readonly [method: string, params: object])[]): Promise<void> => {
    for (let at = 0; !ended(); at++) {
      const [method, params] = calls[at % calls.length] as (typeof calls)[number]
      // Whoever is not answered, or with an error, knows nothing: only an answer is a promise.
      const answer = await net.ask(method, params).catch(() => undefined)
      if (answer === undefined) return
      const { height = 0, hash = '' } = (answer.result ?? {}) as { height?: number; hash?: string }
      if (height > 0) book.acknowledged.set(hash, height)
    }
  }
  const from = others[SENDERS]
  const stakes = send([
    ['svc_delegate', { from, validatorAddress, amount: TOKEN.toString() }],
    ['svc_withdraw', { from, validatorAddress, completelyWithdraw: 'Y' }],
  ])
  const transfers = others.slice(0, SENDERS).flatMap((sender) => {
    const transfer = ['svc_transfer', { from: sender, to: SINK, value: VALUE.toString() }] as const
    return Array.from({ length: CALLS_OF_ONE }, () => send([transfer]))
  })
  await Promise.all([stakes, ...transfers])
}

/** The app hash that the application tells is the one in the header of the next height. */
async function checkAppHash(net: Devnet): Promise<void> {
  const node = { rpc: net.node.url }
  const { response } = await askNode<{ response: { last_block_height: string; last_block_app_hash: string } }>(
    node,
    'abci_info',
  )
  const height = Number(response.last_block_height)
  await net.waitForHeight(height + 1)
  const { block } = await askNode<{ block: { header: { app_hash: string } } }>(node, `block?height=${height + 1}`)
  const own = Buffer.from(response.last_block_app_hash, 'base64').toString('hex').toUpperCase()
  const { app_hash: told } = block.header
  need(told === own, () => `height ${height}: the application tells ${own}, the header of the next block ${told}`)
}

const INDEX_MS_MAX = 300_000

/** A transaction as the gateway finds it. After a start the index of histories may be behind, which the gateway says. */
async function findTx(net: Devnet, hash: string): Promise<{ readonly height: number } | null> {
  for (const deadline = Date.now() + INDEX_MS_MAX; ; ) {
    const { error, result } = await net.ask('svc_getTransaction', [hash])
    if (error === undefined) return result as { readonly height: number } | null
    need(error.code === -32011 && Date.now() < deadline, () => `${hash}: ${error.message}`)
    await sleep(100)
  }
}

/** Every acknowledged transaction is in the block that was told, and the node's index finds it there. `since`: only those that are new. */
async function checkAcknowledged(net: Devnet, book: Book, since: number): Promise<void> {
  const inBlock = new Map<number, Set<string>>()
  for (const [hash, height] of [...book.acknowledged].slice(since)) {
    if (!inBlock.has(height)) {
      const { txs } = await net.node.block(height)
      inBlock.set(height, new Set(txs.map(txHash)))
    }
    need(
      inBlock.get(height)?.has(hash) === true,
      () => `transaction ${hash} was acknowledged in block ${height} and is not there`,
    )
    const found = await findTx(net, hash)
    need(
      found?.height === height,
      () => `transaction ${hash} was acknowledged in block ${height} and is found in ${found?.height}`,
    )
  }
}

/**
 * Balances add up: each sender paid for as many transfers as its nonce says, the sink has all of them, nothing
 * acknowledged is missing.
 */
async function checkBalances(net: Devnet, book: Book): Promise<void> {
  const [, ...others] = await net.call<string[]>('svc_accounts')
  const [senders, staker] = [others.slice(0, SENDERS), others[SENDERS]]
  let transfers = 0n
  for (const sender of senders) {
    // One query, one state: the chain goes on meanwhile.
    const { value } = await net.node.abciQuery({ path: `/accounts/${sender}` })
    const { balance, nonce } = JSON.parse(Buffer.from(value).toString()) as { balance: string; nonce: number }
    const expected = TOKENS * TOKEN - BigInt(nonce) * (VALUE + FEE)
    need(BigInt(balance) === expected, () => `${sender} with nonce ${nonce} has ${balance}, not ${expected}`)
    transfers += BigInt(nonce)
  }
  const sink = BigInt(await net.call<string>('svc_getBalance', [SINK]))
  need(sink === transfers * VALUE, () => `the sink has ${sink} after ${transfers} transfers`)
  const stakes = await net.call<number>('svc_getTransactionCount', [staker])
  need(
    transfers + BigInt(stakes) >= BigInt(book.acknowledged.size),
    () =>
      `${book.acknowledged.size} transactions were acknowledged, ${transfers} transfers and ${stakes} others executed`,
  )
}

/** The first line in the logs of a home that tells of trouble. `expected`: lines that are no trouble. */
export function troubleIn({ home }: { readonly home: string }, expected: RegExp = LOST): string | undefined {
  const logs = join(home, 'logs')
  for (const name of existsSync(logs) ? readdirSync(logs) : []) {
    const lines = readFileSync(join(logs, name), 'utf8').split('\n')
    const line = lines.find((one) => TROUBLE.test(one) && !LOST.test(one) && !expected.test(one))
    if (line !== undefined) return `${name}: ${line}`
  }
  return undefined
}

/**
 * What is on disk while nothing runs: the root is that of the rows, nothing was made or lost, and no log tells of
 * trouble. `expected`: lines that are no trouble.
 */
export function checkDisk({ home }: { readonly home: string }, expected: RegExp = LOST): void {
  const store = openSqliteStore({ path: join(home, 'data', 'state.db'), tables, views })
  try {
    need(
      toHex(store.recomputeRoot()) === toHex(store.appHash()),
      () => `height ${store.height()}: the stored root is not that of the rows`,
    )
    need(supplyGap(store) === 0n, () => `height ${store.height()}: the balances do not add up, by ${supplyGap(store)}`)
  } finally {
    store.close()
  }
  const trouble = troubleIn({ home }, expected)
  need(trouble === undefined, () => trouble ?? '')
}

/** Starts the devnet where it stands, and holds everything that was acknowledged against it. */
async function startAndCheck(place: Place, book: Book, since: number): Promise<Devnet> {
  const net = await startDevnet(place, ['--os', 'ubuntu'])
  try {
    await net.waitForHeight(Math.max(1, lastHeight(book)) + 1)
    await checkAppHash(net)
    await checkAcknowledged(net, book, since)
    await checkBalances(net, book)
    return net
  } catch (error) {
    await net.stop()
    throw error
  }
}

function kill(net: Devnet, victim: Victim): void {
  const { app, node } = net.pids
  const victims = { app: [app], node: [node], supervisor: [net.pid], all: [net.pid, app, node] }[victim]
  for (const pid of victims) process.kill(pid, 'SIGKILL')
}

/**
 * One round: start, check all that earlier rounds acknowledged (`since`: those before it were checked before), let
 * transfers flow, SIGKILL the victim after `pauseMs` from the first that was acknowledged, wait until all of the devnet
 * has ended, check the disk. Throws with what was not as it should be.
 */
export async function crashRound(
  place: Place,
  book: Book,
  victim: Victim,
  { pauseMs, since }: { readonly pauseMs: number; readonly since: number },
): Promise<Round> {
  const net = await startAndCheck(place, book, since)
  const before = book.acknowledged.size
  let isOver = false
  const load = sendUntil(net, () => isOver, book)
  while (book.acknowledged.size === before) await sleep(10)
  await sleep(pauseMs)
  kill(net, victim)
  const { status, stdout } = await net.ended
  isOver = true
  await load
  const says = { app: /^the application stopped/m, node: /^CometBFT stopped/m }[victim as 'app' | 'node'] as
    | RegExp
    | undefined
  const isTold = says === undefined || (status === 1 && says.test(stdout))
  need(isTold, () => `killed ${victim}: the devnet ended with ${status}:\n${stdout.slice(-500)}`)
  checkDisk(place)
  return {
    victim,
    acknowledged: book.acknowledged.size - before,
    height: lastHeight(book),
    status,
  }
}

/**
 * The last start: everything acknowledged in any round is there; then an orderly stop. Returns the head. `expected`:
 * see checkDisk.
 */
export async function lastCheck(place: Place, book: Book, expected?: RegExp): Promise<number> {
  const net = await startAndCheck(place, book, 0)
  const head = await net.height()
  const { status } = await net.stop()
  need(status === 0, () => `the last devnet ended with ${status}`)
  checkDisk(place, expected)
  return head
}
