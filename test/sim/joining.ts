import { pubKeyBytes, pubKeyOf } from '../../src/values/pubKey.ts'
import { listSet } from '../../src/modules/stake/keeper.ts'
import { candidacies, type Candidacy } from '../../src/modules/stake/tables.ts'
import type { Signer } from '../../src/tx/sign.ts'
import { random } from '../chain/support.ts'
import { account, nodeKey, TestChain, tokens } from '../support/testChain.ts'
import { checkSet } from './expectedSet.ts'
import { type Random, randomAbsent } from './traffic.ts'

/** Sizes of the sets that chains begin with. */
export const SIZES = [1, 2, 4, 7] as const

const ACCOUNTS = 16
/** Keys 1 to LIVE_KEYS are held by nodes; those up to ALL_KEYS by nobody. */
const LIVE_KEYS = 14
const ALL_KEYS = 32
const DEAD = new Set(Array.from({ length: ALL_KEYS - LIVE_KEYS }, (_, at) => pubKeyOf(nodeKey(LIVE_KEYS + 1 + at))))

interface Move {
  readonly sender: Signer
  readonly operation: string
  readonly message: Readonly<Record<string, unknown>>
}

const liveKey = (next: Random): Uint8Array => nodeKey(1 + next(LIVE_KEYS))
const deadKey = (next: Random): Uint8Array => nodeKey(LIVE_KEYS + 1 + next(ALL_KEYS - LIVE_KEYS))
const anyKey = (next: Random): Uint8Array => (next(2) === 0 ? liveKey(next) : deadKey(next))

/** What stakes so much that it outranks everybody, or so little that it hardly counts. */
const maxAmount = (next: Random): string => tokens(next(2) === 0 ? 100_000 + next(100_000) : 10 + next(5000)).toString()

/**
 * The moves of one block: key changes to dead keys, take-overs by silent candidacies, withdraw and declare again,
 * comings and goings.
 */
function movesOf(next: Random, live: readonly Candidacy[]): readonly Move[] {
  const someone = account(1 + next(ACCOUNTS))
  const owner = live[next(Math.max(1, live.length))]
  const accounts = Array.from({ length: ACCOUNTS }, (_, at) => account(at + 1))
  const sender = accounts.find(({ address }) => address === owner?.ownerAddress) ?? someone
  const declare = (by: Signer, pubKey: Uint8Array): Move => ({
    sender: by,
    operation: 'declareCandidacy',
    message: { pubKey, maxAmount: maxAmount(next) },
  })
  const own = (operation: string, message: Move['message'] = {}): Move => ({ sender, operation, message })
  switch (next(9)) {
    case 0:
      return [own('updateCandidacy', { pubKey: deadKey(next) })]
    case 1:
      return [own('updateCandidacy', { pubKey: liveKey(next) })]
    case 2:
      return [declare(someone, deadKey(next))]
    case 3:
      return [declare(someone, liveKey(next))]
    case 4:
      return owner === undefined ? [] : [own('withdrawCandidacy'), declare(sender, pubKeyBytes(owner.pubKey))]
    case 5:
      return Array.from({ length: 1 + next(ACCOUNTS) }, (_, at) => declare(account(at + 1), anyKey(next)))
    case 6:
      return [own('withdrawCandidacy')]
    case 7:
      return [own('deactivateCandidacy')]
    default:
      return [{ sender: someone, operation: 'activateCandidacy', message: {} }]
  }
}

function startChain(next: Random, validators: number): TestChain {
  const chain = new TestChain()
  chain.init({
    accounts: Array.from({ length: ACCOUNTS }, (_, at) => ({
      address: account(at + 1).address,
      balance: tokens(1_000_000),
    })),
    candidacies: Array.from({ length: validators }, (_, at) => ({
      owner: account(at + 1),
      key: nodeKey(at + 1),
      shares: tokens(3 + next(500)),
      maxShares: tokens(10_000),
    })),
    params: {
      inflation_rate: 0,
      gas_price: 0,
      max_vals: Math.max(1, validators - 1 + next(3)),
      unstake_wait_period: 1 + next(30),
      stake_limit: next(2) === 0 ? '1' : '0.12',
    },
    stake: { max_absent_blocks: 2 + next(20) },
  })
  return chain
}

/** What a run met. */
export interface Joined {
  readonly proven: number
  readonly silent: number
  readonly keptAlone: number
}

/**
 * A random chain whose validators change all the time, with the part of CometBFT that decides blocks: a block needs
 * more than two thirds of its set, and keys that no node holds never sign. Throws when the chain halts, when more than
 * a third of the power sent is held by keys that have not signed since they came in, or when the set is not that of
 * protocol.md §4.
 */
export function simulateJoining(seed: number, validators: number, blocks: number): Joined {
  const next = random(seed)
  const chain = startChain(next, validators)
  const nonces = new Map<string, number>()
  const signed = new Set(listSet(chain.store).map(({ pubKey }) => pubKey as string))
  for (const key of (chain.sets.get(1) ?? new Map()).keys()) signed.add(key)
  let [proven, silent, keptAlone] = [0, 0, 0]
  try {
    while (chain.height < blocks) {
      const lastSet = chain.sets.get(chain.height) ?? new Map()
      const absent = randomAbsent(next, lastSet, (key) => DEAD.has(key))
      const before = listSet(chain.store)
      const live = [...chain.store.scan(candidacies)].filter(({ withdrawn }) => !withdrawn)
      const txs = Array.from({ length: next(3) }, () => movesOf(next, live))
        .flat()
        .map(({ sender, operation, message }) => {
          const nonce = nonces.get(sender.address) ?? 0
          nonces.set(sender.address, nonce + 1)
          return chain.tx(sender, operation, message, nonce)
        })
      chain.block({ txs, absent })
      const signers = new Set([...lastSet.keys()].filter((key) => !absent.includes(key)))
      if (before.length > 0) checkSet(chain.store, before, signers)
      for (const { pubKey } of before) if (signers.has(pubKey)) signed.add(pubKey)
      const sent = listSet(chain.store)
      for (const key of [...signed]) if (!sent.some(({ pubKey }) => pubKey === key)) signed.delete(key)
      const unsigned = sent.filter(({ pubKey }) => !signed.has(pubKey))
      const total = sent.reduce((sum, { power }) => sum + power, 0)
      if (unsigned.reduce((sum, { power }) => sum + power, 0) * 3 > total)
        throw new Error(`${unsigned.length} keys never signed`)
      proven += sent.filter(
        ({ pubKey, proven: is }) => is && !before.some((one) => one.pubKey === pubKey && one.proven),
      ).length
      silent += unsigned.length
      if (
        !sent.some(
          ({ candidacyId, proven: is }) => is && chain.store.get(candidacies, { id: candidacyId })?.active === true,
        )
      )
        keptAlone++
    }
  } catch (thrown) {
    throw new Error(`SEED=${seed} validators ${validators} height ${chain.height}: ${String(thrown)}`, {
      cause: thrown,
    })
  }
  return { proven, silent, keptAlone }
}
