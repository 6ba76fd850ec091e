/** A node that cannot pass on what it took forgets it, so that it can be sent again. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { BLOCKS_WAITED_MAX } from '../../src/app/mempool.ts'
import { openNodeRpc } from '../../src/comet/rpc.ts'
import { PUBLIC_MNEMONIC, seedOfMnemonic } from '../../src/keys/mnemonic.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { signTransfer } from '../support/signTransfer.ts'
import { heightOf, waitingAt } from './support/gateways.ts'
import { endNetwork, makeNetwork, setCometConfig, startNode, watchHeads } from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder(endNetwork)

test('a transaction that reaches no proposer leaves the mempool after twenty blocks, with those behind it', async () => {
  const [validator, full] = await makeNetwork(join(folder, 'net'), 1, '200ms', 1)
  if (validator === undefined || full === undefined) throw new Error('the network has no two nodes')
  setCometConfig(full, { 'mempool.broadcast': false })
  await startNode(validator)
  await startNode(full)
  await watchHeads([full], 1, 1)
  const node = openNodeRpc(full.rpc)
  const { chainId } = await node.status()
  // CometBFT 0.40 takes no transaction before.
  while ((await node.status()).catchingUp) await sleep(50)
  const signer = signerOfSeed(seedOfMnemonic(PUBLIC_MNEMONIC, 1))
  const sentAt = await heightOf(full)
  const txs = [0, 1].map((nonce) => signTransfer(signer, nonce, { chainId }))
  for (const tx of txs) expect(await node.broadcastTxSync(tx)).toMatchObject({ code: 0 })

  while ((await waitingAt(full)) > 0) await sleep(20)
  expect(await heightOf(full)).toBeGreaterThanOrEqual(sentAt + BLOCKS_WAITED_MAX)
  // It is no transaction that the node knows already.
  for (const tx of txs) expect(await node.broadcastTxSync(tx)).toMatchObject({ code: 0 })
  await watchHeads([validator, full], 1, 2)
})
