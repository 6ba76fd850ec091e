/** What a peer had no room for is sent to it again, because the node forgets it and its gateway sends it anew. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { PASSES_MAX } from '../../src/app/mempool.ts'
import { toBase64 } from '../../src/base/bytes.ts'
import { openNodeRpc } from '../../src/comet/rpc.ts'
import { PUBLIC_MNEMONIC, seedOfMnemonic } from '../../src/keys/mnemonic.ts'
import { type Signer, signerOfSeed } from '../../src/tx/sign.ts'
import type { TransactionResult } from '../../src/tx/result.ts'
import { signTransfer } from '../support/signTransfer.ts'
import { gatewayClient } from './support/client.ts'
import { heightOf, waitingAt } from './support/gateways.ts'
import { endNetwork, makeNetwork, setCometConfig, startNode, startNodeGateway, watchHeads } from './support/network.ts'
import { testFolder } from './support/testFolder.ts'

const folder = testFolder(endNetwork)

test('transactions that the validator had no room for are in a block before their calls end, at the usual block time', async () => {
  const [validator, full] = await makeNetwork(join(folder, 'net'), 1, '1s', 1)
  if (validator === undefined || full === undefined) throw new Error('the network has no two nodes')
  setCometConfig(validator, { 'mempool.size': 2 })
  await startNode(validator)
  await startNode(full)
  await startNodeGateway(full)
  await watchHeads([validator, full], 1, 1)
  const [node, gateway] = [openNodeRpc(validator.rpc), gatewayClient(full.gateway)]
  const { chainId } = await node.status()
  const [other, sender] = [1, 2].map((at) => signerOfSeed(seedOfMnemonic(PUBLIC_MNEMONIC, at))) as [Signer, Signer]
  const transfers = (from: Signer, turn: number) =>
    [2 * turn, 2 * turn + 1].map((nonce) => signTransfer(from, nonce, { chainId }))
  const send = async (tx: Uint8Array): Promise<TransactionResult> =>
    (await gateway.ask('svc_sendRawTransaction', [toBase64(tx)])).result as TransactionResult

  // On a busy machine the validator may have room again by the time they reach it.
  for (let turn = 0, passed = 0; passed <= PASSES_MAX; turn++) {
    const before = await heightOf(full)
    while ((await heightOf(full)) === before) await sleep(10)
    for (const tx of transfers(other, turn)) expect(await node.broadcastTxSync(tx)).toMatchObject({ code: 0 })
    // A node whose newest transaction comes into a block sends its peers all those that wait.
    while ((await waitingAt(full)) < 2) await sleep(10)
    const sentAt = await heightOf(full)
    const results = await Promise.all(transfers(sender, turn).map(send))
    expect(results).toMatchObject([{ deliver_tx: {} }, { deliver_tx: {} }])
    passed = Math.min(...results.map(({ height }) => height)) - sentAt
  }
})
