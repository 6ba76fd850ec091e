import { describe, expect, test } from '@jest/globals'
import { verifiedHeader } from '../../src/client/light/header.ts'

const light = 'http://127.0.0.1:2/light'
const header = { chain_id: 'test', height: '3', time: '2026-01-01T00:00:00Z', app_hash: 'AB'.repeat(32) }
const hash = 'CD'.repeat(32)
const results: Readonly<Record<string, unknown>> = {
  status: { sync_info: { latest_block_height: '3' } },
  commit: { signed_header: { header, commit: { block_id: { hash } } } },
}

/** A light client with block 3 that answers `method` with `answers` first, and the methods that it was asked. */
function lightClient(method: string, answers: readonly unknown[]) {
  const left = [...answers]
  const asked: string[] = []
  const answer: typeof fetch = async (_url, init) => {
    const call = JSON.parse(String(init?.body)) as { readonly method: string }
    asked.push(call.method)
    const isBent = call.method === method && left.length > 0
    return Response.json(isBent ? left.shift() : { jsonrpc: '2.0', id: 1, result: results[call.method] })
  }
  return { asked, read: (timeoutMs = 10_000) => verifiedHeader({ light, fetch: answer }, 3, { timeoutMs }) }
}

describe.each(['status', 'commit'])('a light client that answers %s with an error', (method) => {
  test.each([
    [{ code: -32011, message: 'the light client does not answer' }, 'the light client does not answer'],
    [{ code: -32601, message: 'Method not found', data: { method } }, 'Method not found'],
    [{ code: -32603, message: 'Internal error', data: 'invalid header' }, 'invalid header'],
    [{ code: -32603 }, 'undefined'],
  ])('fails the call at once, with its reason: %j', async (error, reason) => {
    const { asked, read } = lightClient(method, [{ error }])
    await expect(read()).rejects.toMatchObject({
      name: 'SvcProofError',
      message: `not verified: the light client has no verified header of block 3: ${reason}`,
    })
    expect(asked.at(-1)).toBe(method)
  })

  test('that says when to ask again is asked again then, unless that is too late', async () => {
    const tooMany = (retryAfterMs: unknown) => ({
      error: { code: -32015, message: 'Too many requests', data: { retryAfterMs } },
    })
    expect(await lightClient(method, [tooMany(1), tooMany(1)]).read()).toMatchObject({ height: 3, hash })
    await expect(lightClient(method, [tooMany(60_000)]).read(50)).rejects.toThrow(
      /has no header of block 3 after 50 ms/,
    )
    for (const never of ['soon', null, 1e12])
      await expect(lightClient(method, [tooMany(never)]).read()).rejects.toThrow(/block 3: Too many requests$/)
  })
})

test('a light client that answers null is asked again until it is too late', async () => {
  await expect(lightClient('status', [null, null]).read(50)).rejects.toMatchObject({ name: 'SvcProofError' })
})
