import type { CompleteApplication, FinalizeBlockRequest, FinalizeBlockResponse } from '../../src/abci/types.ts'
import { toHex } from '../../src/base/bytes.ts'
import { proposals } from '../../src/modules/governance/tables.ts'
import { listSet } from '../../src/modules/stake/keeper.ts'
import { decodeTx } from '../../src/tx/envelope.ts'
import { addressOf } from '../../src/values/address.ts'
import { appOn, consensusPart, heightOf, legacyCalls, onDisk, random } from '../chain/support.ts'
import { TestChain } from '../support/testChain.ts'
import { checkSet } from './expectedSet.ts'
import { checkInvariants } from './invariants.ts'
import { randomOffence } from './delegations.ts'
import { type Random, randomAbsent, randomEvidence, randomGenesis, randomTxs } from './traffic.ts'

/** What a run met: `operation code` and `type result` counts, restarts of the second replica. */
export interface Simulated {
  readonly met: ReadonlyMap<string, number>
  readonly restarts: number
}

/**
 * The second replica: the same requests on SQLite, stopped and opened again between any two of them, in either dialect.
 */
class DiskReplica {
  private store
  private app: CompleteApplication
  private readonly path: string
  private readonly next: Random
  private readonly init: Parameters<CompleteApplication['initChain']>[0]
  restarts = 0

  constructor(path: string, next: Random, init: Parameters<CompleteApplication['initChain']>[0]) {
    this.path = path
    this.next = next
    this.init = init
    this.store = onDisk(path)
    this.app = appOn(this.store)
    this.app.initChain(init)
  }

  private restart(): void {
    this.restarts++
    this.store.close()
    this.store = onDisk(this.path)
    this.app = appOn(this.store)
    if (heightOf(this.app) === 0) this.app.initChain(this.init)
  }

  /** Runs the block; throws unless hash and results are those of the first replica. */
  run(block: FinalizeBlockRequest, expected: FinalizeBlockResponse): void {
    const { next } = this
    for (const tx of block.txs) if (next(3) === 0) this.app.checkTx({ tx, type: 0 })
    while (next(6) === 0) {
      const calls = legacyCalls(this.app, block)
      for (const call of calls.slice(0, next(calls.length + 1))) call()
      if (next(2) === 0) this.app.finalizeBlock(block)
      this.restart()
    }
    if (next(3) === 0) for (const call of legacyCalls(this.app, block)) call()
    else {
      const answer = this.app.finalizeBlock(block) as FinalizeBlockResponse
      const [mine, theirs] = [answer, expected].map((one) => JSON.stringify(consensusPart(one)))
      if (mine !== theirs) throw new Error(`height ${block.height}: the replicas differ: ${mine} and ${theirs}`)
    }
    this.app.commit({})
    if (toHex(this.store.appHash()) !== toHex(expected.appHash as Uint8Array))
      throw new Error(`height ${block.height}: the app hashes differ`)
    if (next(20) === 0 && toHex(this.store.recomputeRoot()) !== toHex(this.store.appHash()))
      throw new Error(`height ${block.height}: the stored rows are not those hashed`)
  }

  close(): void {
    this.store.close()
  }
}

/** Validator updates as CometBFT takes them: by key, each once, no negative power. */
function checkUpdates({ validatorUpdates = [] }: FinalizeBlockResponse): void {
  const keys = validatorUpdates.map(({ pubKey }) => toHex(pubKey.ed25519 as Uint8Array))
  const isRight =
    keys.every((key, at) => at === 0 || (keys[at - 1] as string) < key) &&
    validatorUpdates.every(({ power }) => power >= 0)
  if (!isRight) throw new Error(`validator updates ${keys.join(' ')}`)
}

/**
 * One random chain of `blocks` blocks on two replicas; throws when they differ or an invariant breaks, naming seed and
 * height.
 */
export function simulate(seed: number, blocks: number, path: string): Simulated {
  const next = random(seed)
  const chain = new TestChain()
  const { app } = chain
  let init: Parameters<CompleteApplication['initChain']>[0] | undefined
  let request: FinalizeBlockRequest | undefined
  Object.assign(chain, {
    app: {
      ...app,
      initChain: (asked: Parameters<CompleteApplication['initChain']>[0]) => app.initChain((init = asked)),
      finalizeBlock: (asked: FinalizeBlockRequest) => app.finalizeBlock((request = asked)),
    },
  })
  chain.init(randomGenesis(next))
  const replica = new DiskReplica(path, random(seed + 1), init as Parameters<CompleteApplication['initChain']>[0])
  const met = new Map<string, number>()
  const meet = (what: string): void => {
    met.set(what, (met.get(what) ?? 0) + 1)
  }
  const executed = new Map<string, number>()
  try {
    while (chain.height < blocks) {
      const nonces = new Map(executed)
      const txs = randomTxs(next, chain, nonces, next(9))
      for (const { bytes } of txs) if (next(2) === 0) chain.check(bytes)
      const lastSet = chain.sets.get(chain.height) ?? new Map()
      const absent = randomAbsent(next, lastSet)
      const before = listSet(chain.store)
      const isFirst = chain.height === 0
      const { results, response } = chain.block({
        txs: txs.map(({ bytes }) => bytes),
        absent,
        misbehavior: [...randomEvidence(next, chain.height), ...randomOffence(next, chain)],
        seconds: 1 + next(12),
      })
      for (const [at, { operation, bytes }] of txs.entries()) {
        const { code = 0, log } = results[at] ?? {}
        meet(`${operation} ${code}`)
        if (code === 1000) throw new Error(`${operation} met a defect: ${log}`)
        const tx = decodeTx(bytes)
        if (([2, 3, 6].includes(code) && !/^Verification/.test(log ?? '')) || 'why' in tx) continue
        const from = addressOf(tx.body.from)
        executed.set(from, (executed.get(from) ?? 0) + 1)
      }
      for (const { type, attributes = [] } of response.events ?? []) {
        meet(`${type} ${/resolved|removed/.test(type ?? '') ? attributes.at(-1)?.value : ''}`)
      }
      checkUpdates(response)
      if (!isFirst) checkSet(chain.store, before, new Set([...lastSet.keys()].filter((key) => !absent.includes(key))))
      checkInvariants(
        chain.store,
        chain.sets.get(chain.height + 2) ?? new Map(),
        (response.validatorUpdates ?? []).length > 0,
        executed,
      )
      replica.run(request as FinalizeBlockRequest, response)
    }
    for (const { type, result } of chain.store.scan(proposals)) meet(`${type} ${result}`)
  } catch (thrown) {
    throw new Error(`SEED=${seed} height ${chain.height}: ${String(thrown)}`, { cause: thrown })
  } finally {
    replica.close()
  }
  return { met, restarts: replica.restarts }
}
