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
