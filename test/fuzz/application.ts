import type { QueryResponse } from '../../src/abci/types.ts'
import { toHex } from '../../src/base/bytes.ts'
import { queryEntries, tables } from '../../src/modules/registry.ts'
import { random } from '../chain/support.ts'
import { checkInvariants } from '../sim/invariants.ts'
import { randomGenesis, randomTx } from '../sim/traffic.ts'
import { type CampaignOptions, type CampaignReport, need } from '../support/campaign.ts'
import { account, TestChain } from '../support/testChain.ts'
import { mutated, type Next, randomBytes } from './bytes.ts'
import { runCases } from './campaign.ts'

const nothing = new Uint8Array(0)
const BLOCKS = 60
const TXS = 40

const PARTS = [
  ...queryEntries.flatMap(({ path }) => path.split('/')),
  ...tables.map(({ name }) => name),
  'store',
  account(1).address,
  '0',
  '1',
  '9007199254740992',
  Buffer.alloc(32, 3).toString('base64url'),
  '..',
  '%2e',
  '?limit=1',
  '?offset=x&limit=',
  '__proto__',
  'constructor',
  '\0',
  'ü',
]

/** A path of a query: of the grammar of those that are served, with wrong parts, or any text. */
export function randomPath(next: Next): string {
  if (next(20) === 0) return new TextDecoder().decode(randomBytes(next, next(300)))
  const whole =
    next(2) === 0
      ? (queryEntries[next(queryEntries.length)]?.path ?? '')
      : `/store/${tables[next(tables.length)]?.name ?? ''}/<key>`
  return (
    whole
      .split('/')
      .map((part) => (part.startsWith('<') || next(12) === 0 ? PARTS[next(PARTS.length)] : part))
      .join('/') + (next(6) === 0 ? '?limit=2&offset=1' : '')
  )
}

/** What an application answers, which a faulty one may change. */
export type Answer = <T extends { readonly code?: number }>(answered: T) => T

function judge(answered: { readonly code?: number }, input: () => string): void {
  const { code = 0 } = answered
  need(Number.isSafeInteger(code) && code !== 1000, () => `${input()} is answered with ${JSON.stringify(answered)}`)
}

/** The transactions of one block: as accounts send them, mutated, and random bytes. */
function blockOf(next: Next, chain: TestChain): readonly Uint8Array[] {
  const nonces = new Map<string, number>(
    Array.from({ length: 12 }, (_, at) => [account(at + 1).address, chain.nonceOf(account(at + 1))]),
  )
  return Array.from({ length: TXS }, () => {
    const { bytes } = randomTx(next, chain, nonces)
    return next(4) === 0 ? randomBytes(next, next(400)) : next(2) === 0 ? mutated(next, bytes) : bytes
  })
}

/** One block: each of its transactions into CheckTx, as many queries, a proposal, and the block itself. */
function runBlock(next: Next, chain: TestChain, answered: Answer): number {
  const txs = blockOf(next, chain)
  for (const tx of txs) {
    judge(answered(chain.check(tx, next(2))), () => `CheckTx ${toHex(tx)}`)
    const path = randomPath(next)
    const query = {
      path,
      data: randomBytes(next, next(20)),
      height: next(3) === 0 ? next(100) - 20 : 0,
      prove: next(2) === 0,
    }
    judge(answered(chain.app.query(query) as QueryResponse), () => `Query ${JSON.stringify(path)}`)
  }
  chain.app.processProposal({
    ...chain.next({ txs }),
    time: { seconds: 0, nanos: 0 },
    proposedLastCommit: { round: 0, votes: [] },
  })
  const { results, response } = chain.block({ txs })
  for (const [at, result] of results.entries())
    judge(answered(result), () => `FinalizeBlock ${toHex(txs[at] ?? nothing)}`)
  checkInvariants(chain, response)
  return 3 * txs.length
}

/**
 * Random bytes and mutated transactions into CheckTx, FinalizeBlock and Query of random chains: every input is answered
 * with a code that is not that of a defect, and no invariant breaks.
 */
export function application(
  { count, seed }: CampaignOptions,
  answered: Answer = (answer) => answer,
): Promise<CampaignReport> {
  const next = random(seed)
  let chain: TestChain | undefined
  return runCases(
    { name: 'application', target: 'every CheckTx, FinalizeBlock and Query is answered with a code', seed },
    count,
    () => {
      if (chain === undefined || chain.height >= BLOCKS) {
        chain = new TestChain()
        chain.init(randomGenesis(next))
      }
      return runBlock(next, chain, answered)
    },
  )
}
