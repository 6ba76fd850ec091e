import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { addressBytes } from '../../src/values/address.ts'
import { PUBLIC_MNEMONIC, seedsOfMnemonic } from '../../src/keys/mnemonic.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { type Devnet, makePlace, type Place, startDevnet } from './support/devnet.ts'
import { freePorts } from './support/processes.ts'
import { committedBlocks, moveStateAway } from './support/replay.ts'
import { testFolder } from './support/testFolder.ts'

const SENDERS = 60
const ROUNDS = 3
const CHAIN_ID = 'verify-threads'

let net: Devnet | undefined
const folder = testFolder(() => net?.stop())

/** Starts the devnet with two threads that verify ahead, on whatever number of cores. `used`: the verdicts used so far. */
async function start(place: Place) {
  const [port] = await freePorts(1)
  const metrics = `127.0.0.1:${port}`
  const env = { ...process.env, SVCD_VERIFY_THREADS: '2', SVCD_APP_METRICS: metrics }
  const running = await startDevnet(place, ['--accounts', String(SENDERS), '--chain-id', CHAIN_ID], env)
  net = running
  const used = async (): Promise<number> =>
    Number(/^svc_app_signatures_ahead_total (\d+)$/m.exec(await (await fetch(`http://${metrics}/metrics`)).text())?.[1])
  return { running, used }
}

const signers = seedsOfMnemonic(PUBLIC_MNEMONIC, SENDERS).map(signerOfSeed)
const transfersOf = (nonce: number): Uint8Array[] =>
  signers.map((signer, at) =>
    signer.signTx({
      chainId: CHAIN_ID,
      nonce,
      operation: 'transfer',
      message: { to: addressBytes(signers[(at + 1) % SENDERS]?.address ?? signer.address), value: '7' },
    }),
  )
const forged = (tx: Uint8Array): Uint8Array =>
  Uint8Array.from(tx, (byte, at) => (at === tx.length - 1 ? byte ^ 1 : byte))

test('a node whose threads verify ahead commits what is signed, refuses what is forged, and replays to the same app hashes', async () => {
  const place = await makePlace(join(folder, 'home'))
  const { running, used } = await start(place)
  for (let nonce = 0; nonce < ROUNDS || (await used()) === 0; nonce++) {
    const txs = transfersOf(nonce)
    const answers = await Promise.all(
      [...txs.map(forged), ...txs].map((tx) => running.node.broadcastTxSync(tx).then(({ code }) => code)),
    )
    expect(answers).toEqual([...txs.map(() => 3), ...txs.map(() => 0)])
    const height = await running.node.committedHeight()
    await running.waitForHeight(height + 2)
  }
  await running.stop()

  const before = committedBlocks(place.home)
  let usedAgain = 0
  // The application does not wait for threads that begin late: then it is replayed once more.
  for (let tries = 0; tries < 50 && usedAgain === 0; tries++) {
    moveStateAway(place.home)
    const again = await start(place)
    while (committedBlocks(place.home).length < before.length) await sleep(100)
    usedAgain = await again.used()
    await again.running.stop()
    expect(committedBlocks(place.home).slice(0, before.length)).toEqual(before)
  }
  expect(usedAgain).toBeGreaterThan(0)
})
