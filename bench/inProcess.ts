/**
 * Measures the application without a node, in a separate process: `node bench/inProcess.ts make|run <kind> <size>
 * <folder>`. `make` writes a state of the given kind and size. `run` opens a copy of that state and prints its
 * measurements as JSON: the CPU time of a transaction and of a block, the time to start, and the memory in use.
 */
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { PASSES_MAX } from '../src/app/mempool.ts'
import { toBase64, toHex, utf8 } from '../src/base/bytes.ts'
import { sha256 } from '../src/base/sha256.ts'
import { addressBytes, type Address } from '../src/values/address.ts'
import { boundHeap } from '../src/node/runtime.ts'
import { accounts } from '../src/modules/accounts/keeper.ts'
import { putLastBlock } from '../src/modules/chain/keeper.ts'
import { listProposals } from '../src/modules/governance/keeper.ts'
import { tables, views } from '../src/modules/registry.ts'
import { createOverlay } from '../src/store/overlay.ts'
import { openSqliteStore } from '../src/store/sqlite/sqliteStore.ts'
import type { Store } from '../src/store/store.ts'
import { proposalIdBytes } from '../src/values/pubKey.ts'
import { TOKEN } from '../src/base/amount.ts'
import { BLOCKS_WAITING_MAX } from '../src/store/sqlite/sqlTree.ts'
import { CHAIN_ID, signerAt, signersOf } from './accounts.ts'
import { openDriver } from './driver.ts'
import { delegationsWith, silent, units } from './genesis.ts'
import { memoryOf, peakMbOf } from './proc.ts'
import { SENDERS_OF, type Sender, type SenderKind } from './signers.ts'
import type { InProcess, StateKind } from './states.ts'
import { meanOf, medianOf } from './stats.ts'

const SENDERS = 1000
const OWNERS = 100
/** Candidacies in the set beside the node's. */
const PROPOSERS = 50
/** The whole set of a state of proposals, the node's candidacy too: with equal powers they may have 1,000 open together. */
const EQUAL_PROPOSERS = 200
const WARM_UP_BLOCKS = 4
// The store saves some work for this many blocks and then does all of it, so the mean covers one whole round.
const MEASURED_BLOCKS = BLOCKS_WAITING_MAX
const BLOCKS = WARM_UP_BLOCKS + MEASURED_BLOCKS
// After one more, the application forgets what has waited.
const RECHECKS = PASSES_MAX - 1
// At 92 bytes each, V8 holds no text of a genesis of more than 5,800,000.
const GENESIS_ACCOUNTS_MAX = 1_000_000
const ROWS_A_BLOCK = 50_000
const NUMBERS_MAX = 2 ** 28

const nodeKey = sha256(utf8('bench node key'))
const node = { key: nodeKey, power: 10_000_000 }
/** The validators of the states of delegations and votes, all of which sign. The first alone decides a proposal. */
const validators = Array.from({ length: 200 }, (_, at) => ({
  owner: signerAt('validator', at).address,
  key: at === 0 ? nodeKey : sha256(utf8(`validator key ${at}`)),
  power: at === 0 ? node.power : 10_000,
}))

const hasValidators = (kind: StateKind): boolean => kind === 'delegations' || kind === 'votes'

const signersOfState = (kind: StateKind): Parameters<typeof openDriver>[1] =>
  hasValidators(kind) ? validators : [node]

/** Account number `at` of a state. The keys of the first SENDERS accounts are known, so these can sign. */
const accountAt = (at: number): Address =>
  at < SENDERS ? signerAt('sender', at).address : (`0x${toHex(sha256(utf8(`account ${at}`))).slice(0, 40)}` as Address)

const accountsOf = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, at) => ({ address: accountAt(at), balance: units(1000) }))

const isOfSenders = (kind: StateKind): kind is SenderKind => kind in SENDERS_OF
const sendersOf = (kind: StateKind, count: number): readonly Sender[] =>
  Array.from({ length: count }, (_, at) => SENDERS_OF[isOfSenders(kind) ? kind : 'ed25519'](at))

function genesisOf(kind: StateKind, size: number): object {
  if (hasValidators(kind)) return validatorsGenesis(kind === 'delegations' ? size : 0)
  const isEqual = kind === 'proposals'
  const proposers = isEqual ? EQUAL_PROPOSERS : PROPOSERS
  const owners = [...signersOf('owner', OWNERS), ...signersOf('proposer', proposers)]
  const others = Math.max(0, (kind === 'candidacies' ? size : OWNERS) - OWNERS)
  return {
    params: { stake_limit: '1', max_vals: isEqual ? proposers : proposers + 1 },
    stake: { max_absent_blocks: 1_000_000 },
    accounts: [
      ...(isOfSenders(kind)
        ? sendersOf(kind, size).map(({ address }) => ({ address, balance: units(1000) }))
        : accountsOf(kind === 'accounts' ? size : SENDERS)),
      ...owners.map(({ address }) => ({ address, balance: units(1000) })),
    ],
    candidacies: [
      {
        owner: signerAt(isEqual ? 'proposer' : 'node', 0).address,
        pub_key: toBase64(nodeKey),
        shares: units(isEqual ? 2 : node.power),
        max_shares: units(10 * node.power),
      },
      ...silent('proposer', proposers, 2).slice(isEqual ? 1 : 0),
      ...silent('owner', OWNERS),
      ...silent('other', others),
    ],
  }
}

/** The validators share `size` delegations of 1 token in turn; the senders have the first ones. */
const validatorsGenesis = (size: number): object => ({
  params: { stake_limit: '1', max_vals: validators.length },
  stake: { max_absent_blocks: 1_000_000 },
  accounts: [...accountsOf(SENDERS), ...validators.map(({ owner }) => ({ address: owner, balance: units(1_000_000) }))],
  candidacies: validators.map(({ owner, key, power }, at) => ({
    owner,
    pub_key: toBase64(key),
    shares: units(power),
    max_shares: units(10 * node.power),
    delegations: delegationsWith(at, { count: size, validators: validators.length, delegatorAt: accountAt }),
  })),
})

const sign = (
  name: string,
  at: number,
  nonce: number,
  operation: string,
  message: Readonly<Record<string, unknown>>,
): Uint8Array => signerAt(name, at).signTx({ chainId: CHAIN_ID, nonce, operation, message })

/** Proposals that stay open, shared out among `of` signers, because the chain limits how many one may have open. */
const proposals = (count: number, name: string, of: number): Uint8Array[] =>
  Array.from({ length: count }, (_, at) =>
    sign(name, at % of, Math.floor(at / of), 'proposeChangeParam', {
      name: 'gas_price',
      value: String(1_000_000 + at),
      expireBlockHeight: 500_000,
    }),
  )

/** A block of 1,000 votes of all validators but the first, on each of the open proposals in turn. */
function votesOn(store: Store, at: number): Uint8Array[] {
  const open = [...listProposals(store)].map(({ id }) => proposalIdBytes(id))
  const voters = validators.length - 1
  return Array.from({ length: 1000 }, (_, place) => {
    const number = at * 1000 + place
    const voter = 1 + (number % voters)
    const nonce = Math.floor(number / voters) + (voter < open.length ? 1 : 0)
    const proposalId = open[(number + Math.floor(number / voters)) % open.length]
    return sign('validator', voter, nonce, 'vote', { proposalId, answer: number % 3 === 0 ? 'N' : 'Y' })
  })
}

/** A block of 1,000 transactions: 900 transfers to accounts all over the state, and 100 updates of candidacies. */
function blockOf(at: number, accountCount: number): Uint8Array[] {
  return Array.from({ length: 1000 }, (_, place) =>
    place < SENDERS - OWNERS
      ? sign('sender', place, at, 'transfer', {
          to: addressBytes(accountAt((place * 7919 + at * 104_729 + 13) % accountCount)),
          value: '1',
        })
      : sign('owner', place - SENDERS + OWNERS, at, 'updateCandidacy', {
          description: { website: `https://example.com/${at}` },
        }),
  )
}

/** A block of 1,000 delegations of 1 token, each to the validator of which the sender has one. */
const delegationsOf = (nonce: number): Uint8Array[] =>
  Array.from({ length: SENDERS }, (_, at) => {
    const { owner } = validators[at % validators.length] as (typeof validators)[number]
    return sign('sender', at, nonce, 'delegate', { validatorAddress: addressBytes(owner), amount: units(1) })
  })

/** A block of a transfer of each sender to another one. */
const transfersOf = (senders: readonly Sender[], nonce: number): Uint8Array[] =>
  senders.map((from, at) => {
    const to = senders[(at * 7919 + nonce) % senders.length] as Sender
    const message = { to: addressBytes(to.address), value: '1' }
    return from.signTx({ chainId: CHAIN_ID, nonce, operation: 'transfer', message })
  })

/** The numbers from `first` to below `count` in the order in which the tree has the accounts of these numbers. */
function inTreeOrder(first: number, count: number): Float64Array {
  // The first bytes of a leaf's path, then its number.
  const placed = Float64Array.from({ length: count - first }, (_, at) => {
    const [a = 0, b = 0, c = 0] = sha256(accounts.keyOf({ address: accountAt(first + at) }))
    return ((a << 16) | (b << 8) | c) * NUMBERS_MAX + first + at
  })
  return placed.sort().map((one) => one % NUMBERS_MAX)
}

/**
 * Adds accounts up to `count` to a state that has some: as rows of blocks without transactions, because no genesis holds
 * so many, and in an order in which each page of the tree is written about once.
 */
function grow(path: string, first: number, count: number): void {
  const store = openSqliteStore({ path, tables, views })
  const order = inTreeOrder(first, count)
  for (let done = 0; done < order.length; done += ROWS_A_BLOCK) {
    const overlay = createOverlay(store)
    for (const at of order.subarray(done, done + ROWS_A_BLOCK))
      overlay.put(accounts, { address: accountAt(at), balance: 1000n * TOKEN, nonce: 0 })
    const [height, timeMs] = [store.height() + 1, store.timeMs() + 1000]
    putLastBlock(overlay, height, timeMs)
    store.commit(store.prepare(overlay), { height, timeMs, chainId: CHAIN_ID, transactions: 0 })
  }
  store.close()
}

function make(kind: StateKind, size: number, folder: string): void {
  const path = join(folder, 'state.db')
  const ofGenesis = kind === 'accounts' && size > GENESIS_ACCOUNTS_MAX ? SENDERS : size
  const driver = openDriver(path, signersOfState(kind), () => genesisOf(kind, ofGenesis))
  driver.block([])
  if (kind === 'proposals') driver.block(proposals(size, 'proposer', EQUAL_PROPOSERS))
  if (kind === 'votes') driver.block(proposals(size, 'validator', validators.length))
  driver.close()
  if (kind === 'accounts' && size > ofGenesis) grow(path, ofGenesis, size)
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function run(kind: StateKind, size: number, folder: string): InProcess {
  // A copy: every run begins from the same state.
  const path = join(folder, `run-${process.pid}.db`)
  for (const end of ['', '-wal']) {
    const made = join(folder, `state.db${end}`)
    if (existsSync(made)) copyFileSync(made, `${path}${end}`)
  }
  const startMs = performance.now()
  const driver = openDriver(path, signersOfState(kind))
  const openMs = performance.now() - startMs
  // What CheckTx and the block of each of these cost.
  const costsOf = (blocks: (at: number) => Uint8Array[]) =>
    Array.from({ length: BLOCKS }, (_, at) => {
      const txs = blocks(at)
      return { checkMs: cpuMs(() => driver.check(txs, 0)), blockMs: cpuMs(() => driver.block(txs)) }
    }).slice(WARM_UP_BLOCKS)
  const txUsOf = (costs: ReturnType<typeof costsOf>): number =>
    meanOf(costs.map(({ checkMs, blockMs }) => checkMs + blockMs))
  const emptyMsOf = (): number =>
    meanOf(Array.from({ length: BLOCKS }, () => cpuMs(() => driver.block([]))).slice(WARM_UP_BLOCKS))
  const isCompared = hasValidators(kind)
  // Delegations and transfers are of the same senders.
  const sentBefore = kind === 'delegations' ? BLOCKS : 0
  const senders = sendersOf(kind, SENDERS)
  const blocks = (at: number): Uint8Array[] => {
    if (kind === 'delegations') return delegationsOf(at)
    if (kind === 'votes') return votesOn(driver.store, at)
    return isOfSenders(kind) ? transfersOf(senders, at) : blockOf(at, kind === 'accounts' ? size : SENDERS)
  }
  // Before the first of them: a state without delegations has none yet. Nothing has run so far, and the first ones show
  // what compiling the code costs.
  if (isCompared) emptyMsOf()
  const emptyBefore = isCompared ? emptyMsOf() : undefined
  const costs = costsOf(blocks)
  const transfers = isCompared ? costsOf((at) => transfersOf(senders, sentBefore + at)) : undefined
  const emptyBlockMs = emptyBefore ?? emptyMsOf()
  const waiting = Array.from({ length: 5 }, (_, at) => blocks(sentBefore + BLOCKS + at)).flat()
  const firstCheckMs = cpuMs(() => driver.check(waiting, 0))
  // Transactions that wait in the mempool are checked again after each block.
  const recheckMs = medianOf(
    Array.from({ length: RECHECKS }, () => {
      driver.block([])
      return cpuMs(() => driver.check(waiting, 1))
    }),
  )
  driver.close()
  return {
    openMs,
    firstCheckMs,
    recheckMs,
    ...memoryOf(process.pid),
    txUs: txUsOf(costs),
    ...(transfers && { transferUs: txUsOf(transfers) }),
    blockMs: meanOf(costs.map((one) => one.blockMs)),
    emptyBlockMs,
  }
}

boundHeap()
const [what, kind, size, folder = ''] = process.argv.slice(2)
if (what === 'make') {
  const beganMs = performance.now()
  make(kind as StateKind, Number(size), folder)
  process.stdout.write(JSON.stringify({ makeMs: performance.now() - beganMs, makePeakMb: peakMbOf(process.pid) }))
} else process.stdout.write(JSON.stringify(run(kind as StateKind, Number(size), folder)))
