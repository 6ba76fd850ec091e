import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Web3 } from 'web3'
import { SvcPlugin } from '../../src/client/web3Plugin.ts'
import { serveCalls } from '../support/serveCalls.ts'
import { printed } from './support.ts'

/** What the gateway answers by method; never for a method that has no answer here. */
const answers: Record<string, unknown> = {
  svc_status: { chain_id: 'test' },
  svc_getTransactionCount: 0,
  svc_sendRawTransaction: null,
  svc_getTransaction: new Promise(() => undefined),
}
let gateway: Awaited<ReturnType<typeof serveCalls>>
beforeAll(async () => {
  gateway = await serveCalls(async ({ method }, { headers }) => ({
    result: method === 'svc_accounts' ? `${headers.authorization} ${headers['content-type']}` : await answers[method],
  }))
})
afterAll(() => gateway.close())

function open(): SvcPlugin {
  const web3 = new Web3(gateway.url)
  web3.registerPlugin(new SvcPlugin())
  return web3.svc
}

test('a call of web3.svc ends with its signal and its time, though the gateway says nothing', async () => {
  const { async: svc } = open()
  await expect(svc.waitForTx('AB', { timeoutMs: 50 })).rejects.toMatchObject({ code: -32012, data: { hash: 'AB' } })
  const signal = AbortSignal.timeout(50)
  await expect(svc.getTransaction('AB', { signal })).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('null for the answer to a transaction that web3.svc signed is an error with the hash', async () => {
  const svc = open()
  const from = svc.accounts.add('01'.repeat(32))
  await expect(svc.async.transfer({ from, to: from, value: 1n })).rejects.toMatchObject({
    name: 'SvcRpcError',
    data: { hash: expect.stringMatching(/^[0-9A-F]{64}$/) },
  })
})

// In a process of its own: this thread cannot wait for a gateway that lives in it.
test('the blocking form of web3.svc sends the headers of its provider, too', async () => {
  const plugin = new URL('../../src/client/web3Plugin.ts', import.meta.url)
  const program = `
    import { HttpProvider, Web3 } from 'web3'
    import { SvcPlugin } from '${plugin}'
    const provider = (Authorization) =>
      new HttpProvider('${gateway.url}', { providerOptions: { headers: { Authorization, 'Content-Type': 'application/json' } } })
    const web3 = new Web3(provider('Bearer one'))
    web3.registerPlugin(new SvcPlugin())
    const heard = [await web3.svc.async.getAccounts(), web3.svc.getAccounts()]
    web3.setProvider(provider('Bearer two'))
    heard.push(web3.svc.getAccounts())
    web3.setProvider('${gateway.url}')
    heard.push(web3.svc.getAccounts())
    console.log(heard.join())`
  const sent = ['Bearer one', 'Bearer one', 'Bearer two', 'undefined'].map((token) => `${token} application/json`)
  expect(await printed(program)).toBe(sent.join())
})
