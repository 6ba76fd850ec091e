import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { WebSocket } from 'ws'
import { LIMITS, startPair, until } from './support.ts'

test('a caller behind a proxy has as many websockets as the limit of one address; one that ends makes room', async () => {
  const limits = { ...LIMITS, connectionsOfAddress: 2, trustProxies: ['127.0.0.1'] }
  const { gateway, close } = await startPair({}, { limits })
  const opened = async (caller: string): Promise<WebSocket | string> => {
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), { headers: { 'X-Forwarded-For': caller } })
    const refused = once(socket, 'error').then(([{ message }]) => message as string)
    return Promise.race([once(socket, 'open').then(() => socket), refused])
  }
  try {
    const first = await opened('10.0.0.1')
    expect(await opened('10.0.0.1')).toBeInstanceOf(WebSocket)
    expect(await opened('10.0.0.1')).toBe('Unexpected server response: 429')
    expect(await opened('10.0.0.2')).toBeInstanceOf(WebSocket)
    ;(first as WebSocket).close()
    await until(async () => (await opened('10.0.0.1')) instanceof WebSocket)
  } finally {
    await close()
  }
})
