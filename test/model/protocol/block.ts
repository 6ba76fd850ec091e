import { awardDelegators, ownPart, payBatches, slashDelegations } from './delegation.ts'
import { endProposals } from './governance.ts'
import { type Genesis, createState } from './genesis.ts'
import {
  type Alteration,
  type Block,
  blockAt,
  candidacyById,
  candidacyIdOfKey,
  type Event,
  numberParam,
  pay,
  type State,
  supplyOf,
} from './state.ts'
import { execute, type Result } from './transaction.ts'
import { addressOf, base64, larger, portion, portionUp, smaller, TOKEN } from './values.ts'
import { isEligible, listEligible, listIneligible, maxAgeOf, type Update, updateSet } from './validatorSet.ts'

/** A vote of the last commit. `address` of the key. */
export interface CommitVote {
  readonly address: string
  readonly power: number
  readonly isAbsent: boolean
}

export interface Evidence {
  readonly address: string
  readonly height: number
  readonly type: number
}

/** A block as CometBFT decided it. */
export interface DecidedBlock {
  readonly timeMs: number
  readonly txs: readonly Uint8Array[]
  readonly votes: readonly CommitVote[]
  readonly evidence: readonly Evidence[]
}

/** What the block is answered with. */
export interface BlockResult {
  readonly results: readonly Result[]
  readonly events: readonly Event[]
  readonly updates: readonly Update[]
  /** The max_age_num_blocks that is sent, where the evidence parameters are. */
  readonly maxAge: number | undefined
  /** The rules of `Block.met`. */
  readonly met: readonly string[]
}

const DUPLICATE_VOTE = 1
const LIGHT_CLIENT_ATTACK = 2
const AWARD_EVENT_BLOCKS = 50
const YEAR_MS = 31_536_000_000n
const SUPPLY_MAX = 9n * 10n ** 15n * TOKEN

const ownerOf = (state: State, id: number): string => candidacyById(state, id)?.ownerAddress ?? ''

/** Source: protocol.md §5, Misbehaviour. */
function punish(state: State, block: Block, { address, height, type }: Evidence, events: Event[]): void {
  if (type !== DUPLICATE_VOTE && type !== LIGHT_CLIENT_ATTACK) return
  const id = candidacyIdOfKey(state, address, height)
  if (id === undefined) return
  const last = state.misbehaviours.get(id)
  if (last !== undefined && height <= last + 1) return
  state.misbehaviours.set(id, block.height)

  const cut = (amount: bigint): bigint => {
    const ratio = state.chain.slashRatio
    const burned = block.altered === 'a slash rounds up' ? portionUp(amount, ratio) : portion(amount, ratio)
    state.totals.burned += burned
    return amount - burned
  }
  const candidacy = candidacyById(state, id)
  if (candidacy !== undefined) {
    if (candidacy.active) events.push(['svc.stake.removed', { owner: candidacy.ownerAddress, reason: 'misbehaviour' }])
    const own = ownPart(candidacy)
    Object.assign(candidacy, {
      active: false,
      shares: candidacy.delegated + cut(own),
      updatedAt: block.time,
    })
  }
  slashDelegations(state, block, { id, candidacy, offence: height }, cut)
  for (const entry of state.unbondings)
    if (entry.candidacyId === id && entry.heightMade >= height - 1) entry.amount = cut(entry.amount)
}

/** EndBlock (b). Source: protocol.md §5, Absence. */
function countAbsences(state: State, block: Block, votes: readonly CommitVote[], events: Event[]): void {
  const signedById = new Map<number, boolean>()
  // Whoever signed comes first, with either key.
  for (const { address, isAbsent } of [
    ...votes.filter((one) => !one.isAbsent),
    ...votes.filter((one) => one.isAbsent),
  ]) {
    const id = candidacyIdOfKey(state, address, block.height - 1)
    if (id !== undefined && !signedById.has(id)) signedById.set(id, !isAbsent)
  }
  for (const [id, signed] of signedById) {
    const missed = state.absences.get(id) ?? 0
    if (signed) {
      state.absences.delete(id)
      if (missed > 0) events.push(['svc.stake.present', { owner: ownerOf(state, id), missed: String(missed) }])
    } else if (candidacyById(state, id)?.active === true) {
      state.absences.set(id, missed + 1)
      if (missed === 0) events.push(['svc.stake.absent', { owner: ownerOf(state, id) }])
    }
  }
  for (const candidacy of [...listEligible(state, block).reverse(), ...listIneligible(state, block)]) {
    const isOver = (state.absences.get(candidacy.id) ?? 0) >= state.chain.maxAbsentBlocks
    if (!isOver || !candidacy.active || !signedById.has(candidacy.id)) continue
    if (isEligible(candidacy) && listEligible(state, block).length === 1) continue
    Object.assign(candidacy, { active: false, updatedAt: block.time })
    state.absences.delete(candidacy.id)
    events.push(['svc.stake.removed', { owner: candidacy.ownerAddress, reason: 'absence' }])
  }
}

/** EndBlock (c). Source: protocol.md §5, Award. */
function award(state: State, block: Block, votes: readonly CommitVote[], events: Event[]): void {
  if (block.height === state.chain.initialHeight) return
  const supply = supplyOf(state)
  if (supply >= SUPPLY_MAX) return
  const elapsed = Math.min(10_000, block.timeMs - state.chain.lastTimeMs)
  const rate = BigInt(numberParam(state, 'inflation_rate', block.height))
  const whole = (supply * rate * BigInt(elapsed)) / (100n * YEAR_MS)
  const total = votes.reduce((sum, { power }) => sum + power, 0)
  const paid = new Map<string, { own: bigint; delegated: bigint }>()
  for (const { address, power, isAbsent } of votes) {
    if (isAbsent && block.altered !== 'who was absent is paid too') continue
    const id = candidacyIdOfKey(state, address, block.height - 1)
    const candidacy = id === undefined ? undefined : candidacyById(state, id)
    if (candidacy === undefined || !isEligible(candidacy)) continue
    const part = (whole * BigInt(power)) / BigInt(total)
    const own = awardDelegators(candidacy, block, part)
    const toShares = smaller(own, larger(0n, candidacy.maxShares - candidacy.shares))
    candidacy.shares += toShares
    pay(state, candidacy.ownerAddress, own - toShares)
    state.totals.minted += part
    const before = paid.get(candidacy.ownerAddress) ?? { own: 0n, delegated: 0n }
    paid.set(candidacy.ownerAddress, { own: before.own + own, delegated: before.delegated + part - own })
  }
  if (block.height % AWARD_EVENT_BLOCKS !== 0) return
  for (const [owner, { own, delegated }] of paid)
    if (own + delegated > 0n)
      events.push([
        'svc.stake.award',
        { owner, amount: String(own), ...(delegated === 0n ? {} : { delegated: String(delegated) }) },
      ])
}

/** EndBlock (d). */
function payUnbondings(state: State, { height, altered }: Block, events: Event[]): void {
  const until = altered === 'unbonding is paid a block later' ? height - 1 : height
  for (const { ownerAddress, amount } of state.unbondings.filter(({ heightPaid }) => heightPaid <= until)) {
    pay(state, ownerAddress, amount)
    events.push(['svc.stake.unbonded', { owner: ownerAddress, amount: String(amount) }])
  }
  state.unbondings = state.unbondings.filter(({ heightPaid }) => heightPaid > until)
}

/** Adds one `svc.block` for each owner that the events name first, but for awards. Source: protocol.md §9. */
function addBlockEvents(events: Event[]): void {
  const told = events.flatMap(([type, { validator }]) => (type === 'svc.block' ? [validator] : []))
  const named = events.flatMap(([type, { owner }]) => (type === 'svc.stake.award' ? [] : (owner ?? [])))
  for (const owner of new Set(named)) if (!told.includes(owner)) events.push(['svc.block', { validator: owner }])
}

/** A chain by docs/protocol.md alone. */
export class Model {
  readonly state: State
  private readonly altered: Alteration | undefined

  constructor(genesis: Genesis & { readonly initialHeight: number; readonly timeMs: number }, altered?: Alteration) {
    this.state = createState(genesis, blockAt(genesis.initialHeight, genesis.timeMs, altered))
    this.altered = altered
  }

  /** Source: protocol.md §2, Order inside a block. */
  run({ timeMs, txs, votes, evidence }: DecidedBlock): BlockResult {
    const { state } = this
    const block = blockAt(state.chain.lastHeight + 1, timeMs, this.altered)
    const events: Event[] = []
    for (const one of evidence) punish(state, block, one, events)
    addBlockEvents(events)
    const results = txs.map((tx, place) => execute(state, block, place, tx))
    for (const { id, result } of endProposals(state, block))
      events.push(['svc.governance.resolved', { proposal_id: base64(id), result }])
    countAbsences(state, block, votes, events)
    award(state, block, votes, events)
    payUnbondings(state, block, events)
    payBatches(state, block, events)
    const signers = votes.filter(({ isAbsent }) => !isAbsent).map(({ address }) => address)
    const signed = state.validatorSet.map(({ pubKey }) => pubKey).filter((key) => signers.includes(addressOf(key)))
    const updates = updateSet(state, block, new Set(signed), events)
    addBlockEvents(events)
    const period = state.params.find(
      ({ name, height }) => name === 'unstake_wait_period' && height === block.height + 1,
    )
    Object.assign(state.chain, { lastHeight: block.height, lastTimeMs: timeMs })
    return {
      results,
      events,
      updates,
      maxAge: period === undefined ? undefined : maxAgeOf(Number(period.value)),
      met: block.met,
    }
  }
}
