/** A gateway before a stub of a node, for campaigns that call it. */
import { addressBytes } from '../../src/values/address.ts'
import type { Reply } from '../e2e/support/client.ts'
import { alice, bob, startPair } from '../gateway/support.ts'
import type { Script } from '../gateway/stubNode.ts'
import { nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { Broken, need } from '../support/campaign.ts'
import type { Next } from './bytes.ts'
import { methods } from './methods.ts'
import { differs, type Expected, type ExpectedReply } from './rpcModel.ts'
import { createTexts } from './rpcTexts.ts'

/**
 * A chain with a candidacy, a proposal, and a request to hand the candidacy over. The stub answers queries as the
 * application does on it, so that their data are as the document describes them.
 */
const chain = new TestChain()
chain.init({
  accounts: [alice, bob].map(({ address }) => ({ address, balance: tokens(1_000_000) })),
  candidacies: [{ owner: alice, key: nodeKey(1), shares: tokens(1000) }],
})
chain.deliver(alice, 'updateCandidacyAccount', { newCandidateAccount: addressBytes(bob.address) })
chain.deliver(alice, 'proposeChangeParam', { name: 'gas_price', value: '7' })
const [proposal] = chain.query('/governance/proposals') as readonly { readonly Id: string }[]

/** What the stub knows by itself: its own transactions and their nonces, and the form of proofs. */
const OF_STUB = /^\/(?:accounts|store|history)\//

const query: Script['query'] = (path) => {
  if (OF_STUB.test(path)) return {}
  const { code = 0, log = '', value } = chain.abciQuery(path)
  return code === 0 ? { data: JSON.parse(new TextDecoder().decode(value)) } : { code, log }
}

/** Accounts whose keys the gateway has. */
export const signers: readonly string[] = [alice.address]

/** Makes texts whose addresses and proposals are those that there are. */
export const textsOfAccounts = (): ((next: Next) => string) =>
  createTexts(methods, {
    from: alice.address,
    to: bob.address,
    address: alice.address,
    transferFrom: alice.address,
    transferTo: bob.address,
    newCandidateAccount: bob.address,
    validatorAddress: alice.address,
    proposalId: proposal?.Id,
    wait: false,
  })

/** Throws Broken unless a reply is what is expected of a text. */
export function judge(text: string, expected: ExpectedReply, { status, text: body }: Reply): void {
  const told = (): string => `${JSON.stringify(text.slice(0, 2000))} is answered ${status} ${body.slice(0, 1000)}`
  // An empty body is refused before it is JSON.
  if (text === '') return need([200, 400].includes(status), told)
  if (expected === undefined) return need(status === 204 && body === '', told)
  let answers: unknown
  try {
    answers = JSON.parse(body)
  } catch {
    throw new Broken(told())
  }
  need([200, 429].includes(status), told)
  const wanted = (Array.isArray(expected) ? expected : [expected]) as readonly Expected[]
  const given = Array.isArray(expected) ? answers : [answers]
  need(Array.isArray(given) && given.length === wanted.length, told)
  for (const [at, one] of wanted.entries()) {
    const why = differs(given[at], one)
    need(why === undefined, () => `answer ${at}, ${JSON.stringify(given[at]).slice(0, 500)}: ${why}: ${told()}`)
  }
}

/** The gateway that is called. */
export interface Target {
  readonly url: string
  /** Throws Broken when the gateway's log has told of a defect. */
  readonly needNoDefect: () => void
  readonly close: () => Promise<void>
}

/** Starts it. Blocks come only where somebody waits for one, or the stub would remember millions. */
export async function startTarget(): Promise<Target> {
  const defects: string[] = []
  const logger = {
    info: () => {},
    warn: () => {},
    error: (about: object, message: string) => {
      const { err } = about as { readonly err?: unknown }
      defects.push(`${message}: ${err instanceof Error ? err.stack : JSON.stringify(about)}`)
    },
  }
  const pair = await startPair({ blocks: false, query }, { logger })
  const blocks = setInterval(() => {
    if (pair.node.ledger.waiting() > 0) pair.node.step()
  }, 5)
  return {
    url: pair.gateway.url,
    needNoDefect: () => need(defects.length === 0, () => `a defect: ${defects[0]}`),
    close: async () => {
      clearInterval(blocks)
      await pair.close()
    },
  }
}
