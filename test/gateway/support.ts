import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway, type GatewayOptions } from '../../src/gateway/gateway.ts'
import { signerOfSeed } from '../../src/tx/sign.ts'
import { startStubNode, type Script } from './stubNode.ts'

export const signerOf = (seed: number) => signerOfSeed(new Uint8Array(32).fill(seed))

/** The account that the gateway of `startPair` holds the key of. */
export const alice = signerOf(1)

/** An account whose key only the test holds. */
export const bob = signerOf(2)

export function keptLog() {
  const lines: { about: Readonly<Record<string, unknown>>; message: string }[] = []
  const keep = (about: object, message: string) => {
    lines.push({ about: about as Readonly<Record<string, unknown>>, message })
  }
  return { lines, info: keep, warn: keep, error: keep }
}

/** Asks `probe` until it says true; the test's own time limit is the only one. */
export const until = async (probe: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await probe())) await sleep(5)
}

export const post = (url: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

export interface RpcAnswer {
  id?: unknown
  result?: unknown
  error?: { code: number; message: string; data?: { hash?: string; id?: string } }
}

/** Asks from an address of its own, and seldom, so that it uses up nothing that a test counts. */
async function isReady(url: string): Promise<boolean> {
  await sleep(50)
  return new Promise((done) => {
    const asked = get(`${url}/readyz`, { localAddress: '127.0.0.9', agent: false }, (answer) =>
      done(answer.resume().statusCode === 200),
    )
    asked.on('error', () => done(false))
  })
}

/** Tests call more often, and at once, than a stranger may, and on a busy machine it takes long to send a thousand calls. */
export const LIMITS = { connections: 2_000, connectionsOfAddress: 2_000, callsPerSecond: 0, requestMs: 600_000 }

export const callText = (method: string, params: unknown = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

/** A transfer of alice's that the gateway signs. */
export const transferText = callText('svc_transfer', [{ from: alice.address, to: bob.address, value: '1' }])

/** A stub node and a gateway before it that signs for alice. */
export async function startPair(script: Partial<Script> = {}, options: Partial<GatewayOptions> = {}) {
  const node = await startStubNode(script)
  const log = keptLog()
  const own = {
    node: node.url,
    port: 0,
    signers: [alice],
    publicKeys: true,
    page: false,
    logger: log,
    limits: LIMITS,
    // On a busy machine no call may run out of time, and no chain counts as stalled because a test makes no blocks.
    waitMs: 600_000,
    stalledAfterMs: 0,
  } as const
  const gateway = await startGateway({ ...own, ...options })
  const rpc = async (method: string, params?: unknown): Promise<RpcAnswer> => {
    const answer = await post(
      gateway.url,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) }),
    )
    return (await answer.json()) as RpcAnswer
  }
  /** The answers to a batch of these calls, whose ids are their places. */
  const batch = async (calls: readonly (readonly [method: string, params?: unknown])[], headers = {}) => {
    const text = JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })))
    return (await (await post(gateway.url, text, headers)).json()) as RpcAnswer[]
  }
  await until(async () => (await isReady(gateway.url)) || node.script.catchingUp)
  const close = async () => {
    await gateway.close()
    await node.close()
  }
  return { node, gateway, log, rpc, batch, metrics: () => gateway.metrics.metrics(), close }
}

/** The same, with some limits in place of those of tests. */
export const startWithLimits = (limits: NonNullable<GatewayOptions['limits']>, script: Partial<Script> = {}) =>
  startPair(script, { limits: { ...LIMITS, ...limits } })
