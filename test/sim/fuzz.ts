/**
 * Random bytes and mutated transactions into CheckTx, FinalizeBlock and Query: `make fuzz`. Runs for FUZZ_SECONDS (600
 * by default) from SEED, and ends with status 1 at the first throw or answer without a code, telling the input. Every
 * reply must be coded.
 */
import type { ExecTxResult, QueryResponse } from '../../src/abci/types.ts'
import { toHex } from '../../src/base/bytes.ts'
import { queryEntries, tables } from '../../src/modules/registry.ts'
import { random } from '../chain/support.ts'
import { account, TestChain } from '../support/testChain.ts'
import { checkInvariants } from './invariants.ts'
import { type Random, randomGenesis, randomTx } from './traffic.ts'

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 600)
const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000_000)
const nothing = new Uint8Array(0)

function randomBytes(next: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => next(256))
}

/** The bytes with some flipped, cut, doubled or put in. */
function mutated(next: Random, bytes: Uint8Array): Uint8Array {
  let out = Uint8Array.from(bytes)
  for (let changes = 1 + next(4); changes > 0; changes--) {
    const at = next(out.length + 1)
    switch (next(5)) {
      case 0:
        out = out.slice(0, at)
        break
      case 1:
        out = Uint8Array.of(...out.slice(0, at), ...randomBytes(next, 1 + next(8)), ...out.slice(at))
        break
      case 2:
        out = Uint8Array.of(...out, ...out.slice(at))
        break
      default:
        if (at < out.length) out[at] = next(2) === 0 ? next(256) : (out[at] as number) ^ (1 << next(8))
    }
  }
  return out
}

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

function randomPath(next: Random): string {
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

function coded(answer: { code?: number }, input: string): void {
  const { code } = answer
  if (!Number.isSafeInteger(code ?? 0) || code === 1000) throw new Error(`${input}: answered ${JSON.stringify(answer)}`)
}

/** One random chain of 60 blocks; returns how many inputs it took. */
function round(next: Random, isOver: () => boolean): number {
  const chain = new TestChain()
  chain.init(randomGenesis(next))
  let inputs = 0
  const executed = new Map<string, number>()
  while (chain.height < 60 && !isOver()) {
    const nonces = new Map<string, number>(
      Array.from({ length: 12 }, (_, at) => [account(at + 1).address, chain.nonceOf(account(at + 1))]),
    )
    const txs = Array.from({ length: 40 }, () => {
      const { bytes } = randomTx(next, chain, nonces)
      return next(4) === 0 ? randomBytes(next, next(400)) : next(2) === 0 ? mutated(next, bytes) : bytes
    })
    for (const tx of txs) {
      const type = next(2)
      coded(chain.check(tx, type), `CheckTx ${toHex(tx)}`)
      const path = randomPath(next)
      coded(
        chain.app.query({
          path,
          data: randomBytes(next, next(20)),
          height: next(3) === 0 ? next(100) - 20 : 0,
          prove: next(2) === 0,
        }) as QueryResponse,
        `Query ${JSON.stringify(path)}`,
      )
    }
    chain.app.processProposal({
      txs,
      proposedLastCommit: { round: 0, votes: [] },
      misbehavior: [],
      hash: nothing,
      height: chain.height + 1,
      time: { seconds: 0, nanos: 0 },
      nextValidatorsHash: nothing,
      proposerAddress: nothing,
    })
    const { results, response } = chain.block({ txs })
    for (const [at, result] of results.entries())
      coded(result as ExecTxResult, `FinalizeBlock ${toHex(txs[at] ?? nothing)}`)
    checkInvariants(
      chain.store,
      chain.sets.get(chain.height + 2) ?? new Map(),
      (response.validatorUpdates ?? []).length > 0,
      executed,
    )
    inputs += 3 * txs.length
  }
  return inputs
}

/**
 * Runs rounds until the time is over; returns how many inputs there were. Throws at the first that was not answered
 * with a code.
 */
export function fuzz(firstSeed: number, forSeconds: number): number {
  const end = Date.now() + forSeconds * 1000
  let inputs = 0
  for (let at = firstSeed; Date.now() < end; at++) {
    try {
      inputs += round(random(at), () => Date.now() >= end)
    } catch (thrown) {
      throw new Error(`SEED=${at}: ${String(thrown)}`, { cause: thrown })
    }
  }
  return inputs
}

if (import.meta.main) {
  process.stdout.write(`SEED=${seed} FUZZ_SECONDS=${seconds}\n`)
  try {
    process.stdout.write(`${fuzz(seed, seconds)} inputs, each answered with a code\n`)
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`)
    process.exitCode = 1
  }
}
