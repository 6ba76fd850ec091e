/**
 * Golden vectors of what must never change by accident: bytes of messages, transactions and rows, and app hashes. `npm
 * run vectors` (node test/vectors/make.ts) writes chain.json anew: its diff is reviewed, and one that changes an old
 * line is another chain. test/vectors/go-chain reads the file with encoders of its own.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { address, addressBytes } from '../../src/values/address.ts'
import { toHex } from '../../src/base/bytes.ts'
import { OPERATION_MESSAGES, svcCodec } from '../../src/codec/svc.ts'
import { tables } from '../../src/modules/registry.ts'
import { proposalId, pubKey } from '../../src/values/pubKey.ts'
import { uint } from '../../src/values/number.ts'
import type { Table } from '../../src/store/table.ts'
import { decodeTx, encodeBody, signBytes, txHash } from '../../src/tx/envelope.ts'
import { account, CHAIN_ID, type TestChain } from '../support/testChain.ts'
import { MESSAGES, ROWS } from './cases.ts'
import { runScript } from './script.ts'

const SENDER = 1

/** A value as JSON: bytes as hex. */
const plain = (value: unknown): unknown =>
  value instanceof Uint8Array
    ? toHex(value)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
      : value

function messageVector([operation, message]: (typeof MESSAGES)[number], at: number): object {
  const nonce = at * 100
  const name = OPERATION_MESSAGES.get(operation) ?? ''
  const tx = account(SENDER).signTx({ chainId: CHAIN_ID, nonce, operation, message })
  const body = encodeBody({ chainId: CHAIN_ID, from: addressBytes(account(SENDER).address), nonce, operation, message })
  const decoded = decodeTx(tx)
  if ('why' in decoded) throw new Error(`${operation}: ${decoded.why}`)
  return {
    operation,
    message: plain(message),
    nonce,
    messageName: name,
    messageBytes: toHex(svcCodec(name).encode(message)),
    signBytes: toHex(signBytes(body)),
    tx: toHex(tx),
    hash: txHash(tx),
  }
}

// What stands in a key, by the column's kind: 8 bytes, bytes, or text and a zero byte.
function keyPart(column: unknown, value: unknown): readonly [kind: string, value: unknown] {
  if (column === uint) return ['u64', value]
  if (column === address || column === pubKey || column === proposalId)
    return ['bytes', toHex((column as typeof pubKey).toKey(value as never))]
  return ['text', value]
}

function rowVector([table, row]: (typeof ROWS)[number]): object {
  const values = row as Readonly<Record<string, unknown>>
  return {
    table: table.name,
    tag: table.tag,
    keyParts: Object.entries(table.key).map(([name, column]) => keyPart(column, values[name])),
    message: table.messageName.slice('svc.state.'.length),
    wire: Object.fromEntries(
      Object.entries(table.row).map(([name, column]) => [name, plain(column.toWire(values[name]))]),
    ),
    key: toHex(table.keyOf(row)),
    value: toHex(table.encode(row)),
  }
}

function stateOf({ store }: TestChain): readonly (readonly [key: string, value: string])[] {
  const hashed = (tables as readonly unknown[] as readonly Table[]).filter((table) => table.hashed)
  return hashed.flatMap((table) =>
    [...store.scan(table)].map((row): [string, string] => [toHex(table.keyOf(row)), toHex(table.encode(row))]),
  )
}

/** Everything that chain.json holds. */
export function makeVectors(): object {
  let state: ReturnType<typeof stateOf> = []
  const { genesisHash, hashes, outcomes } = runScript((chain) => {
    state = stateOf(chain)
  })
  return {
    chainId: CHAIN_ID,
    seed: toHex(new Uint8Array(32).fill(SENDER).fill(0, 30)),
    address: account(SENDER).address,
    messages: MESSAGES.map(messageVector),
    rows: ROWS.map(rowVector),
    script: {
      genesisHash: toHex(genesisHash),
      blocks: hashes.map((hash, at) => ({ height: at + 1, appHash: toHex(hash), outcomes: outcomes[at] })),
    },
    state,
  }
}

export const VECTORS_PATH = join(import.meta.dirname, 'chain.json')

/** The vectors as the file holds them: one entry a line. */
export function printVectors(vectors: object): string {
  const lines = (list: readonly unknown[]): string =>
    `[\n${list.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]`
  const members = Object.entries(vectors).map(
    ([name, value]) =>
      `  ${JSON.stringify(name)}: ${
        Array.isArray(value)
          ? lines(value)
          : typeof value === 'object'
            ? `{ "genesisHash": ${JSON.stringify(value.genesisHash)}, "blocks": ${lines(value.blocks)} }`
            : JSON.stringify(value)
      }`,
  )
  return `{\n${members.join(',\n')}\n}\n`
}

if (import.meta.main) writeFileSync(VECTORS_PATH, printVectors(makeVectors()))
