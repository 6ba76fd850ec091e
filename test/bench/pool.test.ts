import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { openDriver } from '../../bench/driver.ts'
import { mixGenesis } from '../../bench/genesis.ts'
import { LANES, makePool, openProposals, PEER_SENDERS, recipientOf } from '../../bench/load/pool.ts'
import { toBase64, utf8 } from '../../src/base/bytes.ts'
import { sha256 } from '../../src/base/sha256.ts'
import { decodeTx, type Tx } from '../../src/tx/envelope.ts'
import { isSignedBySender } from '../../src/modules/isSignedBySender.ts'
import { signerAt } from '../../bench/accounts.ts'
import { tempFolder } from '../support/tempFolder.ts'

const { path: folder, remove } = tempFolder('mix')
afterAll(remove)

const ADDRESSES = new Map(
  Array.from({ length: PEER_SENDERS }, (_, at) => [signerAt('sender', at).address.toLowerCase(), at]),
)
const senderOf = (bytes: Uint8Array): number => ADDRESSES.get(`0x${Buffer.from(bytes).toString('hex')}`) ?? Number.NaN
const decoded = (tx: string): Tx => decodeTx(Buffer.from(tx, 'base64')) as Tx

test('transfers among 1,024 accounts: each sender belongs to one lane, and its nonces have no gap, however unequal the lanes are', () => {
  const pool = makePool('send')
  const nonces = new Uint32Array(PEER_SENDERS)
  for (const lanes of [4, 64, 4]) {
    const lanesOf = new Map<number, number>()
    for (let turn = 0; turn < 300; turn++) {
      // The first lane is asked as often as all others together.
      const lane = turn % 2 === 0 ? 0 : turn % lanes
      const tx = decoded(pool.take(lane, lanes))
      const sender = senderOf(tx.body.from)
      expect(tx.body.nonce).toBe(nonces[sender])
      nonces[sender] = tx.body.nonce + 1
      expect(lanesOf.get(sender) ?? lane).toBe(lane)
      lanesOf.set(sender, lane)
    }
  }
  const last = decoded(pool.take(0, 4))
  expect(isSignedBySender(last)).toBe(true)
  const { to } = last.body.message as { readonly to: Uint8Array }
  expect(senderOf(to)).toBe(recipientOf(senderOf(last.body.from), PEER_SENDERS))
  pool.reset()
  expect(decoded(pool.take(0, 4)).body.nonce).toBe(0)
})

test('nobody among 1,024 sends to themselves, and everybody is sent to by one', () => {
  const recipients = Array.from({ length: PEER_SENDERS }, (_, at) => recipientOf(at, PEER_SENDERS))
  expect(recipients.filter((to, at) => to === at)).toEqual([])
  expect(new Set(recipients).size).toBe(PEER_SENDERS)
})

test('the mix: a quarter each transfers, delegates, withdraws and votes, and all of it succeeds, however unequal the lanes are', () => {
  const [pool, key] = [makePool('mix'), sha256(utf8('key of the node'))]
  const driver = openDriver(join(folder, 'state.db'), [{ key, power: 10_000_000 }], () => mixGenesis(toBase64(key)))
  driver.block([])
  driver.block(openProposals())
  const counts: Record<string, number> = {}
  for (let block = 0; block < 2; block++) {
    // The first lane is asked as often as all others together.
    const taken = Array.from({ length: 1024 }, (_, turn) =>
      pool.take(turn % 2 === 0 ? 0 : 1 + (((turn - 1) / 2) % (LANES - 1)), LANES),
    )
    driver.block(taken.map((tx) => Buffer.from(tx, 'base64')))
    for (const { body } of taken.map(decoded)) counts[body.operation] = (counts[body.operation] ?? 0) + 1
  }
  driver.close()
  expect(Object.keys(counts)).toEqual(['transfer', 'delegate', 'withdraw', 'vote'])
  for (const count of Object.values(counts)) expect(Math.abs(count - 512)).toBeLessThan(LANES)
})
