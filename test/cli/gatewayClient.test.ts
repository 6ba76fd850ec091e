import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { createGatewayClient } from '../../src/cli/gatewayClient.ts'
import { serveCalls } from '../support/serveCalls.ts'

test('an answer without an end is cut off and named', async () => {
  const endless = createServer((_, answer) => {
    const part = Buffer.alloc(1024 * 1024, ' ')
    const more = (): void => {
      if (!answer.destroyed && answer.write(part)) setImmediate(more)
    }
    answer.on('drain', more)
    more()
  })
  await new Promise<void>((done) => void endless.listen(0, '127.0.0.1', done))
  const gateway = createGatewayClient(`http://127.0.0.1:${(endless.address() as AddressInfo).port}`)
  await expect(gateway.call('svc_status')).rejects.toMatchObject({
    name: 'Failed',
    message: expect.stringContaining('its answer is over 67108864 bytes'),
  })
  expect(await gateway.readiness()).toEqual({})
  endless.closeAllConnections()
  endless.close()
})

test.each(['null', '[]', '{}', '7', '{"error":null}', 'page not found'])(
  'what is no answer of JSON-RPC is named: %s',
  async (text) => {
    const served = await serveCalls(() => text)
    await expect(createGatewayClient(served.url).call('svc_status')).rejects.toMatchObject({
      name: 'Failed',
      message: `the gateway at ${served.url} did not answer with JSON-RPC, but with ${JSON.stringify(text)}`,
    })
    await served.close()
  },
)
