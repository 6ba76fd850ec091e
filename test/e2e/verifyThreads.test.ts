import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { addressBytes } from '../../src/values/address.ts'
import { PUBLIC_MNEMONIC, seedsOfMnemonic } from '../../src/keys/mnemonic.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { type Devnet, makePlace, type Place, startDevnet } from './support/devnet.ts'
import { freePorts } from './support/processes.ts'
import { testFolder } from './support/testFolder.ts'

const SENDERS = 60
const ROUNDS = 3
/** Threads that begin late help in no round: then there are more of them. */
const ROUNDS_MAX = 50
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

// That a replay comes to the same app hashes is shown by test/chain/signaturesAhead.test.ts.
test('a node whose threads verify ahead commits what is signed and refuses what is forged', async () => {
  const place = await makePlace(join(folder, 'home'))
  const { running, used } = await start(place)
  for (let nonce = 0; nonce < ROUNDS || (nonce < ROUNDS_MAX && (await used()) === 0); nonce++) {
    const txs = transfersOf(nonce)
    const answers = await Promise.all(
      [...txs.map(forged), ...txs].map((tx) => running.node.broadcastTxSync(tx).then(({ code }) => code)),
    )
    expect(answers).toEqual([...txs.map(() => 3), ...txs.map(() => 0)])
    const height = await running.node.committedHeight()
    await running.waitForHeight(height + 2)
  }
  expect(await used()).toBeGreaterThan(0)
  await running.stop()
})
