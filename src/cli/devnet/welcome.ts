import BigNumber from 'bignumber.js'
import { PUBLIC_MNEMONIC } from '../../keys/mnemonic.ts'
import type { Signer } from '../../tx/sign.ts'
import { printEndpoint } from '../settings.ts'
import { UserError } from '../userError.ts'
import type { DevnetNode } from './nodes.ts'

const Tokens = BigNumber.clone({ EXPONENTIAL_AT: 1e9 })

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error !== undefined) throw new UserError(`${method}: ${error.message}`)
  return result
}

const roleOf = (account: number, validators: number): string =>
  account === 0 ? '  validator and foundation' : account < validators ? '  validator' : ''

const READY_MS_MAX = 60_000

/** Waits until the gateway takes transactions: there is a block, and the node has caught up with its peers. */
async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX
  for (;;) {
    const answer = await fetch(`${url}/readyz`)
    if (answer.ok) return
    const { reason } = (await answer.json()) as { reason: string }
    if (Date.now() > deadline) throw new UserError(`the chain is not ready within ${READY_MS_MAX / 1000} s: ${reason}`)
    await new Promise((done) => setTimeout(done, 100))
  }
}

/** Waits until the gateway takes transactions, then tells people what there is. */
export async function printReady(
  url: string,
  nodes: readonly DevnetNode[],
  signers: readonly Signer[],
  say: (line: string) => void,
): Promise<void> {
  await untilReady(url)
  say('')
  say('accounts (tokens)')
  for (const [index, { address }] of signers.entries()) {
    const units = (await call(url, 'svc_getBalance', [address])) as string
    say(`  (${index}) ${address}  ${new Tokens(units).shiftedBy(-18).toFixed()}${roleOf(index, nodes.length)}`)
  }
  say(`  mnemonic: ${PUBLIC_MNEMONIC}  (m/44'/1'/i'/0'/0')`)
  say('  WARNING: these keys are public. Whatever they hold on any chain belongs to everybody.')
  say('')
  for (const { home, rpc } of nodes) {
    say(`home          ${home}`)
    say(`CometBFT RPC  http://${printEndpoint(rpc)}`)
  }
  say(`gateway       ${url}`)
  say('')
  say(`devnet ready: gateway ${url}`)
}
