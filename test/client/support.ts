import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { decodeTx, txHash, type Tx } from '../../src/tx/envelope.ts'
import { fromBase64 } from '../../src/base/bytes.ts'
import { type AccountSender, createAccountSender } from '../../src/client/accountSender.ts'
import { SvcRpcError } from '../../src/client/errors.ts'
import { ed25519Signer, type KeySigner } from '../../src/client/index.ts'
import type { TransactionResult } from '../../src/tx/result.ts'
import type { Call, Reply, Transport } from '../../src/client/transport.ts'

/** What a gateway of one account says to a transaction of a nonce that fits; undefined commits it. */
export type Verdict = (tx: Tx, nonce: number) => { readonly code: number; readonly log: string } | Error | undefined

/** A gateway of one account behind the socket, with the nonce rule of the chain: what signing is tested against. */
export interface FakeGateway extends Transport {
  /** What was committed, in order. */
  readonly committed: Tx[]
  /** The methods that were called, in order. */
  readonly asked: readonly string[]
  /** How many transactions came, refused ones too; waiting for one does not count. */
  readonly seen: () => number
  /** Another program with the same key commits a transaction. */
  readonly overtake: () => void
}

const CHAIN_ID = 'test-chain'

export const key = ed25519Signer(new Uint8Array(32).fill(7))

export const senderOf = (transport: Transport, signer: KeySigner = key): AccountSender =>
  createAccountSender(signer, { transport, chainId: async () => CHAIN_ID, chainIdBlocking: () => CHAIN_ID })

/** A transfer of so much, whose nonce the sender finds. */
export const order = (value: number) => ({
  operation: 'transfer',
  message: { to: new Uint8Array(20), value: String(value) },
  nonce: undefined,
})

/** Runs a program in a new process and returns what it prints. */
export async function printed(program: string): Promise<string> {
  const args = ['--input-type=module', '-e', program]
  return (await promisify(execFile)(process.execPath, args, { timeout: 60_000 })).stdout.trim()
}

const failed = (hash: string, code: number, log: string): TransactionResult => ({
  height: 0,
  hash,
  check_tx: { code, log, fee: {} },
  deliver_tx: { fee: {} },
})

export function fakeGateway(verdict: Verdict = () => undefined): FakeGateway {
  const committed: Tx[] = []
  const byHash = new Map<string, TransactionResult>()
  const asked: string[] = []
  let [nonce, seen] = [0, 0]
  const send = (bytes: Uint8Array): TransactionResult => {
    const tx = decodeTx(bytes)
    if ('why' in tx) throw new Error(tx.why)
    const hash = txHash(bytes)
    // The node knows these bytes: they are answered with their block, as the real gateway does.
    const before = byHash.get(hash)
    if (before !== undefined) return { ...before, known: true }
    if (tx.body.nonce !== nonce)
      return { ...failed(hash, 6, `bad nonce: expected ${nonce}, got ${tx.body.nonce}`), expected_nonce: nonce }
    const said = verdict(tx, nonce)
    if (said instanceof Error) throw said
    if (said !== undefined) return failed(hash, said.code, said.log)
    nonce += 1
    committed.push(tx)
    const result: TransactionResult = { height: nonce, hash, check_tx: { fee: {} }, deliver_tx: { fee: {} } }
    byHash.set(hash, result)
    return result
  }
  const sendRaw = (params: readonly [string] | { readonly transaction: string; readonly wait: boolean }): unknown => {
    const isWaiting = Array.isArray(params)
    if (!isWaiting) seen += 1
    const text = isWaiting ? (params as readonly [string])[0] : (params as { readonly transaction: string }).transaction
    const { known, expected_nonce, ...result } = send(fromBase64(text) as Uint8Array)
    if (isWaiting) return result
    const more = {
      ...(known === undefined ? {} : { known }),
      ...(expected_nonce === undefined ? {} : { expected_nonce }),
    }
    return { ...result, height: 0, ...more }
  }
  const answer = ({ method, params }: Call): unknown => {
    asked.push(method)
    if (method === 'svc_status') return { chain_id: CHAIN_ID }
    if (method === 'svc_getTransactionCount') return nonce
    if (method === 'svc_sendRawTransaction') return sendRaw(params as never)
    if (method === 'svc_getTransaction') return byHash.get((params as readonly [string])[0]) ?? null
    throw new SvcRpcError(method, -32601, 'Method not found')
  }
  const turn = (): Promise<void> =>
    new Promise((done) => {
      setImmediate(done)
    })
  return {
    committed,
    asked,
    seen: () => seen,
    overtake: () => {
      nonce += 1
    },
    ask: async (call) => {
      await turn()
      return answer(call)
    },
    askAll: async (calls) => {
      await turn()
      const replies = calls.map((call): Reply => {
        try {
          return { result: answer(call) }
        } catch (error) {
          return { error: error as SvcRpcError }
        }
      })
      await turn()
      return replies
    },
    askBlocking: answer,
  }
}
