import { expect, test } from '@jest/globals'
import { txEntries } from '../../src/modules/registry.ts'
import { decodeTx, type Tx } from '../../src/tx/envelope.ts'
import { type Address, addressBytes, addressOf } from '../../src/values/address.ts'
import { prepare, random } from '../chain/support.ts'
import { account, CHAIN_ID, type TestChain, tokens } from '../support/testChain.ts'
import { startRecordedChain } from './recordedChain.ts'
import { OTHER_SIGNERS } from './signers.ts'
import { ACCOUNTS, type Random, randomAbsent, randomMessage, randomTxs } from './traffic.ts'

const BLOCKS = 60
const OPERATIONS = txEntries.map(({ operation }) => operation)

/** A transaction that CheckTx accepted, and the gas that it told. */
interface Waiting {
  readonly bytes: Uint8Array
  readonly gas: number
}

const senderOf = (bytes: Uint8Array): Address => addressOf((decodeTx(bytes) as Tx).body.from)

/** The next nonce of each sender behind what waits. */
function noncesBehind(chain: TestChain, waiting: readonly Waiting[]): Map<string, number> {
  const senders = [...Array.from({ length: ACCOUNTS }, (_, at) => account(at + 1)), ...OTHER_SIGNERS]
  const count = (address: Address): number => waiting.filter(({ bytes }) => senderOf(bytes) === address).length
  return new Map(
    senders.map(({ address }) => {
      const { nonce } = chain.query(`/accounts/${address}`) as { nonce: number }
      return [address, nonce + count(address)]
    }),
  )
}

/** Those of the transactions that CheckTx accepts; `type` 1 is a recheck. */
const accepted = (chain: TestChain, txs: readonly Uint8Array[], type: number): readonly Waiting[] =>
  txs.flatMap((bytes) => {
    const { code, gasWanted = 0 } = chain.check(bytes, type)
    return code === 0 ? [{ bytes, gas: gasWanted }] : []
  })

/** A transaction of each account that is no ed25519 key. */
const ofOtherSigners = (next: Random, chain: TestChain, nonces: ReadonlyMap<string, number>): readonly Uint8Array[] =>
  OTHER_SIGNERS.map((signer) => {
    const operation = OPERATIONS[next(OPERATIONS.length)] as string
    // Its message is that of somebody who has the same to offer: what is of the sender alone is refused.
    const message = randomMessage(next, operation, chain, account(1 + next(ACCOUNTS)))
    return signer.signTx({ chainId: CHAIN_ID, nonce: nonces.get(signer.address) ?? 0, operation, message })
  })

/** What a chain did not pay as it was admitted, and the kinds of signers whose transactions were in its blocks. */
function runChain(seed: number): { readonly unpaid: readonly string[]; readonly kinds: ReadonlySet<string> } {
  const next = random(seed)
  const { chain } = startRecordedChain(next)
  chain.block({
    txs: OTHER_SIGNERS.map(({ address }, at) =>
      chain.tx(account(1), 'transfer', { to: addressBytes(address), value: tokens(3000).toString() }, at),
    ),
  })
  const unpaid: string[] = []
  const kinds = new Set<string>()
  let waiting: readonly Waiting[] = []
  for (let block = 0; block < BLOCKS; block++) {
    const bytesOf = (all: readonly Waiting[]): readonly Uint8Array[] => all.map(({ bytes }) => bytes)
    waiting = accepted(chain, bytesOf(waiting), 1)
    const nonces = noncesBehind(chain, waiting)
    const others = ofOtherSigners(next, chain, nonces)
    const made = randomTxs(next, chain, nonces, 1 + next(16)).map(({ bytes }) => bytes)
    waiting = [...waiting, ...accepted(chain, [...others, ...made], 0)]
    const count = next(3) === 0 ? next(waiting.length + 1) : waiting.length
    const [taken, left] = [waiting.slice(0, count), waiting.slice(count)]
    const txs = bytesOf(taken)
    if (prepare(chain.app, txs).length !== txs.length)
      unpaid.push(`block ${chain.height + 1}: the proposer leaves some out`)
    const absent = randomAbsent(next, chain.sets.get(chain.height) ?? new Map())
    const { height, results } = chain.block({ txs, absent })
    for (const [at, { code, log, gasUsed = 0 }] of results.entries()) {
      const { kind, body } = decodeTx(txs[at] as Uint8Array) as Tx
      kinds.add(kind)
      // CheckTx goes by the time of the head, which is before that of the block.
      if (log === 'Invalid expire timestamp' || (code === 0 && gasUsed === taken[at]?.gas)) continue
      unpaid.push(`block ${height}: ${body.operation} of ${kind}: ${code} ${log}, gas ${gasUsed}`)
    }
    waiting = left
  }
  return { unpaid, kinds }
}

test.each([1, 2, 18])('a block pays for what CheckTx admitted, in its order (seed %i)', (seed) => {
  const { unpaid, kinds } = runChain(seed)
  expect(unpaid).toEqual([])
  expect([...kinds].sort()).toEqual(['ed25519', 'multisig', 'secp256k1'])
})
