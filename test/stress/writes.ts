/**
 * What one operation writes on every node for its fee: `node test/stress/writes.ts` prints the table of
 * docs/threat-model.md, and `--write` puts it there. Each operation is as large as its limits allow. A chain in process
 * executes COUNT of them; another one, beside it, as many empty blocks. State and tree are the payloads that SQLite then
 * holds more. History is what CometBFT keeps of the blocks by its own formats: transactions, results and events, in the
 * block store and in its index. Pages, compression and logs that are cut again are left out.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { Event, ExecTxResult } from '../../src/abci/types.ts'
import { addressBytes } from '../../src/values/address.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { proposalIdBytes } from '../../src/values/pubKey.ts'
import { abci } from '../../src/codec/gen/abci.js'
import { listProposals } from '../../src/modules/governance/keeper.ts'
import { PARAMETERS } from '../../src/modules/params/definitions.ts'
import { DESCRIPTION_BYTES_MAX } from '../../src/modules/stake/tx/candidacy.ts'
import { table, thousands } from '../../tools/reference/markdown.ts'
import { writePart } from '../../tools/reference/writtenPart.ts'
import { onDisk } from '../chain/support.ts'
import { programArgs } from '../../tools/testing/programArgs.ts'
import { tempFolder } from '../support/tempFolder.ts'
import { account, nodeKey, type TestBlockResult, TestChain, tokens } from '../support/testChain.ts'

/** Operations of one kind that are executed together. */
const COUNT = 50
/** Blocks after them: the pages of the tree wait for a while until they are written. */
const BLOCKS_AFTER = 80
const CANDIDACIES = 204
const MAX_VALS = 60
/** Accounts that own tokens and no candidacy. */
const OTHERS = { first: 301, count: 2 * COUNT } as const
/** An account with this number and up has nothing. */
const STRANGERS = 1001

const numbers = (first: number, count = COUNT): readonly number[] =>
  Array.from({ length: count }, (_, at) => first + at)
const owners = numbers(1)
const others = numbers(OTHERS.first)
const reason = 'r'.repeat(2048)
const description = Object.fromEntries(
  Object.entries(DESCRIPTION_BYTES_MAX).map(([name, bytes]) => [name, 'd'.repeat(bytes)]),
)
const addressOf = (number: number): Uint8Array => addressBytes(account(number).address)
const padded = (json: string): string => json.padEnd(4096)

type Message = Readonly<Record<string, unknown>>
type Send = readonly [sender: number, operation: string, message: Message]

interface Measured {
  readonly title: string
  /** What keeps it from being repeated for ever. */
  readonly bound: string
  readonly before?: (chain: TestChain) => readonly Send[]
  readonly sends: (chain: TestChain) => readonly Send[]
}

const FEES = 'fees, the mempool, `max_bytes` of a block'
const STAKE = 'fees, and a stake of at least 1 token that unbonds slowly'
const OPEN = 'fees, the places for open proposals'
const CANDIDACY = 'fees; only the owner of a candidacy'
const all = (from: readonly number[], operation: string, message: (at: number) => Message = () => ({})) =>
  from.map((number, at): Send => [number, operation, message(at)])
/** An operation of every account without a candidacy, on its delegation to a candidacy of its own. */
const delegations = (operation: string, message: Message): readonly Send[] =>
  all(others, operation, (at) => ({ validatorAddress: addressOf(owners[at] as number), ...message }))
const changeParam = (at: number): Message => ({ name: 'gas_price', value: String(at + 1), reason })

const MEASURED: readonly Measured[] = [
  {
    title: 'transfer to a new account',
    bound: FEES,
    sends: () => all(others, 'transfer', (at) => ({ to: addressOf(STRANGERS + at), value: '1' })),
  },
  {
    title: 'transfer to an account that exists',
    bound: FEES,
    sends: () => all(others, 'transfer', (at) => ({ to: addressOf(owners[at] as number), value: '1' })),
  },
  {
    title: 'declare',
    bound: STAKE,
    sends: () =>
      all(others, 'declareCandidacy', (at) => ({
        pubKey: nodeKey(500 + at),
        description,
        maxAmount: String(tokens(10)),
      })),
  },
  {
    title: 'update',
    bound: CANDIDACY,
    sends: () => all(owners, 'updateCandidacy', () => ({ description })),
  },
  {
    title: 'update of the key',
    bound: CANDIDACY,
    sends: () => all(owners, 'updateCandidacy', (at) => ({ pubKey: nodeKey(500 + at) })),
  },
  { title: 'deactivate', bound: CANDIDACY, sends: () => all(owners, 'deactivateCandidacy') },
  {
    title: 'activate',
    bound: CANDIDACY,
    before: () => all(owners, 'deactivateCandidacy'),
    sends: () => all(owners, 'activateCandidacy'),
  },
  {
    title: 'withdraw of a candidacy',
    bound: 'a declare or an activate before it; four waiting ones of a sender',
    sends: () => all(owners, 'withdrawCandidacy'),
  },
  {
    title: 'activate after a withdrawal',
    bound: CANDIDACY,
    before: () => all(owners, 'withdrawCandidacy'),
    sends: () => all(owners, 'activateCandidacy'),
  },
  {
    title: 'updateAccount',
    bound: CANDIDACY,
    sends: () =>
      all(owners, 'updateCandidacyAccount', (at) => ({ newCandidateAccount: addressOf(others[at] as number) })),
  },
  {
    title: 'acceptAccountUpdate',
    bound: CANDIDACY,
    before: () =>
      all(owners, 'updateCandidacyAccount', (at) => ({ newCandidateAccount: addressOf(others[at] as number) })),
    sends: () => all(others, 'acceptCandidacyAccountUpdate', (at) => ({ accountUpdateRequestId: at + 1 })),
  },
  {
    title: 'verify',
    bound: 'the foundation alone; four waiting ones',
    sends: () =>
      all(new Array<number>(COUNT).fill(OTHERS.first), 'verifyCandidacy', (at) => ({
        candidateAddress: addressOf(owners[at] as number),
        verified: 'Y',
      })),
  },
  {
    title: 'delegate',
    bound: STAKE,
    sends: () => delegations('delegate', { amount: String(tokens(2)) }),
  },
  {
    title: 'delegate again',
    bound: STAKE,
    before: () => delegations('delegate', { amount: String(tokens(2)) }),
    sends: () => delegations('delegate', { amount: String(tokens(2)) }),
  },
  {
    title: 'withdraw of a part of a delegation',
    bound: 'fees; a claim of an account for each batch, of which about 66 wait',
    before: () => delegations('delegate', { amount: String(tokens(2)) }),
    sends: () => delegations('withdraw', { amount: '1' }),
  },
  {
    title: 'withdraw of a whole delegation',
    bound: STAKE,
    before: () => delegations('delegate', { amount: String(tokens(2)) }),
    sends: () => delegations('withdraw', { completelyWithdraw: 'Y' }),
  },
  { title: 'proposeChangeParam', bound: OPEN, sends: () => all(owners, 'proposeChangeParam', changeParam) },
  {
    title: 'proposeDeployLibEni',
    bound: `${OPEN}; one a library`,
    sends: () =>
      all(owners, 'proposeDeployLibEni', (at) => ({
        name: `${at}`.padStart(64, 'l'),
        version: 'v1.0.0',
        fileUrl: padded('{"ubuntu":["https://a.example/l.so"]}'),
        md5: padded(`{"ubuntu":"${'0f'.repeat(16)}"}`),
        reason,
      })),
  },
  {
    title: 'proposeRetireProgram',
    bound: `${OPEN}; one in all`,
    sends: () => [
      [
        1,
        'proposeRetireProgram',
        {
          preservedValidators: numbers(1, CANDIDACIES)
            .map((at) => toBase64(nodeKey(at)))
            .join(','),
          reason,
        },
      ],
    ],
  },
  {
    title: 'proposeTransferFund',
    bound: OPEN,
    sends: () =>
      all(owners, 'proposeTransferFund', (at) => ({
        transferFrom: addressOf(owners[at] as number),
        transferTo: addressOf(STRANGERS + at),
        amount: '1',
        reason,
      })),
  },
  {
    title: 'vote',
    bound: 'fees; validators and open proposals',
    before: () => all(owners, 'proposeChangeParam', changeParam),
    sends: ({ store }) => {
      const ids = [...listProposals(store)].map(({ id }) => proposalIdBytes(id))
      return all(owners, 'vote', (at) => ({ proposalId: ids[at], answer: 'Y' }))
    },
  },
  {
    title: 'a transaction that fails in a block',
    bound: 'CheckTx refuses it; only a proposer can put it into a block, up to `max_bytes`',
    sends: () => all(numbers(STRANGERS), 'transfer', () => ({ to: addressOf(1), value: '1' })),
  },
]

function genesis() {
  const rich = (number: number) => ({ address: account(number).address, balance: tokens(1_000_000) })
  return {
    accounts: [...numbers(1, CANDIDACIES), ...numbers(OTHERS.first, OTHERS.count)].map(rich),
    candidacies: numbers(1, CANDIDACIES).map((number) => ({
      owner: account(number),
      key: nodeKey(number),
      shares: tokens(number <= MAX_VALS ? 1000 : 100),
    })),
    params: { max_vals: MAX_VALS, inflation_rate: 0 },
    stake: { foundation_address: account(OTHERS.first).address },
  }
}

const lengthOf = (text: string): number => Buffer.byteLength(text)

/** Keys of CometBFT's index for these events, each with the hash or height that it leads to. */
function indexBytes(events: readonly Event[], place: string): number {
  const keys = events.flatMap(({ type, attributes = [] }) =>
    attributes.map(({ key, value }) => `${type}.${key}/${value}/${place}$$es$0`),
  )
  return keys.reduce((sum, key) => sum + lengthOf(key) + 32, 0)
}

// The generated codec has no types of its own.
const resultCodec = abci['ExecTxResult'] as unknown as {
  encode: (result: ExecTxResult) => { finish: () => Uint8Array }
}

/** What CometBFT keeps of a block beyond its header and commit. */
function historyBytes(txs: readonly Uint8Array[], { height, response, results }: TestBlockResult): number {
  const encoded = (result: ExecTxResult): number => resultCodec.encode(result).finish().length
  let bytes = 0
  for (const [at, result] of results.entries()) {
    const tx = (txs[at] as Uint8Array).length
    const place = `${height}/${at}`
    // The block; the results; the indexed transaction under its hash; its height; its events.
    bytes += tx + encoded(result) + (tx + encoded(result) + 32) + (lengthOf(`tx.height/${height}/${place}`) + 32)
    bytes += indexBytes(result.events ?? [], place)
  }
  const own = response.events ?? []
  const block = own.reduce(
    (sum, { type = '', attributes = [] }) =>
      sum + lengthOf(type) + attributes.reduce((length, { key, value }) => length + lengthOf(`${key}${value}`), 0),
    0,
  )
  return bytes + block + indexBytes(own, String(height))
}

interface Written {
  readonly rows: number
  readonly tree: number
  readonly history: number
  readonly fee: bigint
  readonly count: number
}

const TREE = ['tree_pages', 'tree_changes', 'tree_keys']
const NOT_KEPT = ['undo', 'blocks', 'meta', 'sqlite_schema']

/** Payloads of SQLite's b-trees: those of rows and their indexes, and those of the tree. */
function stateBytes(path: string): Pick<Written, 'rows' | 'tree'> {
  const db = new Database(path, { readonly: true })
  const found = db.prepare('SELECT name, SUM(payload) AS bytes FROM dbstat GROUP BY name').all() as {
    name: string
    bytes: number
  }[]
  db.close()
  const sum = (holds: (name: string) => boolean): number =>
    found.filter(({ name }) => holds(name)).reduce((all, { bytes }) => all + bytes, 0)
  return {
    rows: sum((name) => !TREE.includes(name) && !NOT_KEPT.includes(name)),
    tree: sum((name) => TREE.includes(name)),
  }
}

/** Executes an operation, or nothing in its place; what the chain has written in all then. */
function write(path: string, { title, before, sends }: Measured, isEmpty: boolean): Written {
  const store = onDisk(path)
  const chain = new TestChain({ store })
  chain.init(genesis())
  chain.block()
  const nonces = new Map<number, number>()
  const sign = (list: readonly Send[]): readonly Uint8Array[] =>
    list.map(([number, operation, message]) => {
      const nonce = nonces.get(number) ?? 0
      nonces.set(number, nonce + 1)
      return chain.tx(account(number), operation, message, nonce)
    })
  const run = (txs: readonly Uint8Array[], code = 0): TestBlockResult => {
    const block = chain.block({ txs })
    const odd = block.results.find((one) => one.code !== code)
    if (odd !== undefined) throw new Error(`${title}: ${odd.code} ${odd.log}`)
    return block
  }
  run(sign(before?.(chain) ?? []))
  const txs = isEmpty ? [] : sign(sends(chain))
  const block = run(txs, /fails/.test(title) ? 20 : 0)
  let history = historyBytes(txs, block)
  for (let blocks = 0; blocks < BLOCKS_AFTER; blocks++) history += historyBytes([], chain.block())
  store.close()
  const gas = block.results.reduce((sum, { gasUsed = 0 }) => sum + gasUsed, 0)
  const fee = BigInt(gas) * BigInt(PARAMETERS.get('gas_price')?.fallback ?? 0)
  return { ...stateBytes(path), history, fee, count: txs.length }
}

const perToken = (bytes: number, fee: bigint): string =>
  fee === 0n ? 'free' : `${thousands(Math.round((bytes * 1e18) / Number(fee) / 1e5) / 10)} MB`

/** The rows of these operations, by their titles; of all of them unless given. The same each time. */
export function writesTable(titles?: readonly string[]): string {
  const folder = tempFolder('writes')
  try {
    const measured = MEASURED.filter(({ title }) => titles?.includes(title) ?? true)
    const rows = measured.map((one, at) => {
      const [with_, without] = [false, true].map((isEmpty) =>
        write(join(folder.path, `${at}-${isEmpty}.db`), one, isEmpty),
      ) as [Written, Written]
      const { count, fee } = with_
      const [state, tree, history] = (['rows', 'tree', 'history'] as const).map((what) => with_[what] - without[what])
      const bytes = [state, tree, history].map((sum = 0) => thousands(Math.round(sum / count)))
      const total = (state ?? 0) + (tree ?? 0) + (history ?? 0)
      return [one.title, `${Number(fee / BigInt(count)) / 1e18}`, ...bytes, perToken(total, fee), one.bound]
    })
    return table(
      ['Operation', 'Fee, tokens', 'Rows, bytes', 'Tree, bytes', 'History, bytes', 'For a token of fees', 'Bounded by'],
      rows,
    )
  } finally {
    folder.remove()
  }
}

if (import.meta.filename === process.argv[1]) {
  const { write } = programArgs({ options: { write: { type: 'boolean', default: false } } }).values
  const table = writesTable()
  if (write) writePart(fileURLToPath(new URL('../../docs/threat-model.md', import.meta.url)), 'writes', table)
  process.stdout.write(`${table}\n`)
}
