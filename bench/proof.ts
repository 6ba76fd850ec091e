import { execFileSync } from 'node:child_process'
import protobuf from 'protobufjs/minimal.js'
import { TOKEN } from '../src/base/amount.ts'
import { TRANSFER_GAS } from '../src/modules/accounts/tx/transfer.ts'
import { PARAMETERS } from '../src/modules/params/definitions.ts'
import { countOk } from './codes.ts'
import type { Context } from './context.ts'
import { signersOf } from './accounts.ts'
import { PEER_SENDERS, recipientOf, sendOf } from './load/pool.ts'
import type { BenchNode } from './node.ts'
import { sdkPath } from './peers.ts'
import { PEER_POOLS, type PeerApp, SUBJECTS, withPeer } from './transactions.ts'

/** What a chain says of an account. `sent`: how many of its transactions are in blocks. */
interface Account {
  readonly balance: bigint
  readonly sent: number
}

/** A chain of PEER_SENDERS accounts: what it began with, how it is asked, and what its senders sign. */
interface Subject {
  /** What each sender has at genesis, what a transfer moves, and what its sender pays beside it. */
  readonly balance: bigint
  readonly value: bigint
  readonly fee: bigint
  readonly addresses: () => readonly string[]
  readonly account: (node: BenchNode, address: string) => Promise<Account>
  /** The transaction of a sender that has sent `sequence` before. Its last bytes are the signature. */
  readonly signed: (sender: number, sequence: number) => Uint8Array
}

/** The last value of each field of a protobuf message that has only texts, messages and numbers. */
function fieldsOf(bytes: Uint8Array): ReadonlyMap<number, Uint8Array | number> {
  const reader = protobuf.Reader.create(bytes)
  const fields = new Map<number, Uint8Array | number>()
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    fields.set(tag >>> 3, (tag & 7) === 2 ? reader.bytes() : Number(reader.uint64()))
  }
  return fields
}

const inner = (bytes: Uint8Array, field: number): ReadonlyMap<number, Uint8Array | number> =>
  fieldsOf(fieldsOf(bytes).get(field) as Uint8Array)

/** A message whose fields 1, 2, … are texts. */
const requestOf = (...texts: readonly string[]): Uint8Array =>
  texts.reduce((writer, text, at) => writer.uint32(((at + 1) << 3) | 2).string(text), protobuf.Writer.create()).finish()

async function query({ rpc }: BenchNode, path: string, data: Uint8Array = new Uint8Array()): Promise<Uint8Array> {
  const { code, log, value } = await rpc.abciQuery({ path, data })
  if (code !== 0) throw new Error(`${path}: ${log}`)
  return value
}

const runSdk = (...args: readonly string[]): string => execFileSync(sdkPath(), args, { encoding: 'latin1' }).trimEnd()

const CHAINS: Readonly<Record<PeerApp, Subject>> = {
  sdk: {
    balance: 1_000_000_000_000n,
    value: 1n,
    fee: 0n,
    addresses: () => runSdk('addresses').split('\n'),
    account: async (node, address) => {
      const info = await query(node, '/cosmos.auth.v1beta1.Query/AccountInfo', requestOf(address))
      const coin = await query(node, '/cosmos.bank.v1beta1.Query/Balance', requestOf(address, 'stake'))
      const amount = inner(coin, 1).get(2) as Uint8Array
      return { balance: BigInt(Buffer.from(amount).toString()), sent: Number(inner(info, 1).get(4) ?? 0) }
    },
    signed: (sender, sequence) =>
      Buffer.from(runSdk('sign', 'send', String(sequence * PEER_SENDERS + sender), '1'), 'base64'),
  },
  svcd: {
    balance: 1000n * TOKEN,
    value: TOKEN,
    fee: BigInt(TRANSFER_GAS) * BigInt(PARAMETERS.get('gas_price')?.fallback ?? 0),
    addresses: () => signersOf('sender', PEER_SENDERS).map(({ address }) => address),
    account: async (node, address) => {
      const found = await query(node, `/accounts/${address}`)
      const { balance, nonce } = JSON.parse(Buffer.from(found).toString()) as { balance: string; nonce: number }
      return { balance: BigInt(balance), sent: nonce }
    },
    signed: sendOf,
  },
}

/** Throws unless the node refuses a transaction whose signature has one other bit, and takes it as it was signed. */
async function proveSignature({ rpc }: BenchNode, tx: Uint8Array): Promise<void> {
  const forged = Uint8Array.from(tx)
  forged[forged.length - 1] = (forged.at(-1) as number) ^ 1
  const { code, log } = await rpc.broadcastTxSync(forged)
  if (code === 0 || !/signature/i.test(log)) throw new Error(`a badly signed transaction: code ${code}, ${log}`)
  const good = await rpc.broadcastTxSync(tx)
  if (good.code !== 0) throw new Error(`a well signed transaction: code ${good.code}, ${good.log}`)
}

async function prove(context: Context, app: PeerApp, node: BenchNode): Promise<number> {
  const { balance, value, fee, addresses, account, signed } = CHAINS[app]
  const target = { host: node.host, port: node.port }
  const job = { pool: PEER_POOLS.send[app], fresh: true, size: PEER_SENDERS } as const
  await context.generator.prepare(job)
  const from = (await node.rpc.committedHeight()) + 1
  const span = { warmUpMs: 0, measuredMs: 1000 }
  const { sent } = await context.generator.run({ ...job, load: 'saturate', target, ...span })
  const ok = await countOk(target, from, await node.rpc.committedHeight())
  const accounts: Account[] = []
  for (const address of addresses()) accounts.push(await account(node, address))
  const counted = accounts.reduce((sum, one) => sum + one.sent, 0)
  if (sent === 0 || ok !== sent || counted !== sent)
    throw new Error(`${SUBJECTS[app]}: sent ${sent}, in blocks with code 0 ${ok}, of all accounts ${counted}`)
  // Sender 0 of ours owns the validator, which earns.
  for (let sender = 1; sender < PEER_SENDERS; sender++) {
    const received = accounts.findIndex((_, at) => recipientOf(at, PEER_SENDERS) === sender)
    const { balance: now, sent: own } = accounts[sender] as Account
    const expected = balance + value * BigInt((accounts[received] as Account).sent) - (value + fee) * BigInt(own)
    if (now !== expected) throw new Error(`${SUBJECTS[app]}: sender ${sender} has ${now}, expected ${expected}`)
  }
  await proveSignature(node, signed(1, (accounts[1] as Account).sent))
  return sent
}

/**
 * Shows that both chains do the work that is compared: as many transactions have code 0 as were sent, each balance and
 * sequence is what the transfers make it, and a transaction with one wrong bit in its signature is refused. Throws what
 * is otherwise.
 */
export async function provePeers(context: Context): Promise<void> {
  for (const app of ['sdk', 'svcd'] as const) {
    await withPeer(context, app, {}, async (node) => {
      const sent = await prove(context, app, node)
      context.say(
        `${SUBJECTS[app]}: ${sent} transfers moved the balances of ${PEER_SENDERS} accounts; a badly signed one is refused`,
      )
    })
  }
}
