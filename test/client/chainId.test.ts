import { expect, test } from '@jest/globals'
import { Svc } from '../../src/client/index.ts'
import { PUBLIC_MNEMONIC } from '../../src/keys/mnemonic.ts'
import { bob, startPair } from '../gateway/support.ts'

test('accounts sign for the chain that the program names, not for one that the gateway names', async () => {
  const pair = await startPair()
  const asked: string[] = []
  const spy: typeof fetch = async (url, init) => {
    asked.push(String(init?.body))
    return fetch(url, init)
  }
  const transfer = (chainId: string): Promise<unknown> => {
    const svc = new Svc({ url: pair.gateway.url, chainId, fetch: spy })
    return svc.async.transfer({ from: svc.accounts.add(PUBLIC_MNEMONIC), to: bob.address, value: '1' })
  }
  await expect(transfer('mine')).rejects.toThrow(/gateway-test.*mine/)
  await transfer('gateway-test')
  expect(asked.join()).not.toContain('svc_status')
  await pair.close()
})

test('a gateway that names no chain is told, and nothing is signed or kept for it', async () => {
  const pair = await startPair()
  let isFaulty = true
  const faulty: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init)
    const status = { jsonrpc: '2.0', id: 1, result: { chain_id: 5 } }
    return isFaulty && String(init?.body).includes('svc_status') ? Response.json(status) : answer
  }
  const svc = new Svc({ url: pair.gateway.url, fetch: faulty })
  const from = svc.accounts.add(PUBLIC_MNEMONIC)
  const transfer = () => svc.async.transfer({ from, to: bob.address, value: '1' })
  await expect(transfer()).rejects.toMatchObject({
    name: 'SvcRpcError',
    message: 'svc_status: the gateway does not say which chain it serves',
  })
  isFaulty = false
  expect((await transfer()).deliver_tx.code).toBeUndefined()
  await pair.close()
})
