import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { getPublicKey } from '@noble/ed25519'
import { createTestChain } from '@svcd/abci/testing'
import { openApplication } from './app.ts'
import { type Action, signTx, toHex } from './tx.ts'

const [alice, bob] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const keyOf = (secretKey: Uint8Array) => toHex(getPublicKey(secretKey))
const sign = (secretKey: Uint8Array, nonce: number, action: Action, to = '', name = 'home') =>
  signTx({ chainId: 'test-chain', nonce, action, name, to }, secretKey)

test('names are registered, transferred and released, and the application meets the requirements of CometBFT', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'names-'))
  const closing = new Map<number, () => void>()
  const open = (node: number) => {
    const { application, close } = openApplication(join(folder, String(node)), 5)
    closing.set(node, close)
    return application
  }
  const close = (_: object, node: number) => closing.get(node)?.()
  const chain = await createTestChain(open, { seed: 7, close, queries: [{ path: '/names/home', prove: true }] })
  const codeOf = async (tx: Uint8Array) => (await chain.send(tx)).code

  assert.equal(await codeOf(sign(alice, 0, 'register', keyOf(alice))), 0)
  assert.equal(await codeOf(sign(alice, 1, 'transfer', keyOf(bob))), 0)
  assert.equal(await codeOf(sign(alice, 2, 'release')), 5)
  assert.equal(await codeOf(sign(bob, 1, 'release')), 3)
  const { results } = await chain.block()
  assert.deepEqual([results[0]?.code, results[1]?.code], [0, 0])

  let nonce = 0
  await chain.run(12, (next) => [sign(bob, nonce++, 'register', keyOf(bob), `name-${next(5)}`)])
  await chain.stateSync()
  await chain.block()
  await chain.restart()
  await chain.close()
  rmSync(folder, { recursive: true })
})
