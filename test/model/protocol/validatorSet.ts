import {
  type Block,
  type Candidacy,
  type Event,
  latestRowOf,
  numberParam,
  paramOf,
  type SetMember,
  type State,
} from './state.ts'
import { base64, larger, parseRatio, portion, smaller, sum, TOKEN } from './values.ts'

export const isEligible = ({ active, shares }: Candidacy): boolean => active && shares >= TOKEN

/** The order of §4.1. */
function compare(a: Candidacy, b: Candidacy, { altered }: Block): number {
  if (a.shares !== b.shares) return a.shares > b.shares ? -1 : 1
  const isEarlier = altered === 'a tie in the order of candidacies goes to the later one' ? 1 : -1
  if (a.blockHeight !== b.blockHeight) return a.blockHeight < b.blockHeight ? isEarlier : -isEarlier
  return a.pubKey < b.pubKey ? -1 : 1
}

/** The eligible candidacies in the order of §4.1. */
export const listEligible = (state: State, block: Block): Candidacy[] =>
  state.candidacies.filter(isEligible).sort((a, b) => compare(a, b, block))

/** The live candidacies that are not eligible, in the order of §4.3. */
export const listIneligible = (state: State, block: Block): Candidacy[] =>
  state.candidacies.filter((one) => !one.withdrawn && !isEligible(one)).sort((a, b) => compare(a, b, block))

/** The powers of rule 4.2 for these members. */
function withPowers(state: State, members: readonly Candidacy[], height: number): SetMember[] {
  if (members.length === 0) return []
  const total = sum(members.map(({ shares }) => shares))
  const limit = parseRatio(paramOf(state, 'stake_limit', height)) as bigint
  const cap = larger(portion(total, limit), total / BigInt(members.length))
  return members.map(({ id, pubKey, shares }) => ({
    pubKey,
    candidacyId: id,
    power: Number(smaller(shares, cap) / TOKEN),
    proven: true,
  }))
}

/** Powers that are below 3 together count three times. */
function withRoom(members: SetMember[], { altered, met }: Block): SetMember[] {
  const power = members.reduce((total, member) => total + member.power, 0)
  if (power === 0 || power >= 3 || altered === 'a set of little power stays closed') return members
  met.push('powers count three times')
  return members.map((member) => ({ ...member, power: 3 * member.power }))
}

const byKey = (a: { readonly pubKey: string }, b: { readonly pubKey: string }): number => (a.pubKey < b.pubKey ? -1 : 1)

/** The set of InitChain's answer, whose keys are proven from the start. */
export const genesisMembers = (state: State, first: Block): SetMember[] =>
  withPowers(state, listEligible(state, first).slice(0, numberParam(state, 'max_vals', 0)), 0).sort(byKey)

/** The set that EndBlock (e) makes. Source: protocol.md §4.4. */
function nextMembers(state: State, block: Block): SetMember[] {
  const max = numberParam(state, 'max_vals', block.height)
  const eligible = listEligible(state, block)
  const proven = state.validatorSet.filter((member) => member.proven)
  const isProven = ({ pubKey }: Candidacy): boolean =>
    block.altered === 'a key that joins counts at once' || proven.some((member) => member.pubKey === pubKey)
  const counting = withRoom(withPowers(state, eligible.filter(isProven).slice(0, max), block.height), block)
  const first = counting.length > 0 ? counting : proven
  const power = first.reduce((total, member) => total + member.power, 0)
  const joining = eligible
    .slice(0, max)
    .filter((one) => !isProven(one))
    .slice(0, Math.max(0, Math.floor((power - 1) / 2)))
    .map(({ id, pubKey }) => ({ pubKey, candidacyId: id, power: 1, proven: false }))
  return [...first, ...joining].sort(byKey)
}

const isIn = (set: readonly SetMember[], { pubKey, candidacyId }: { pubKey: string; candidacyId: number }): boolean =>
  set.some((member) => member.pubKey === pubKey && member.candidacyId === candidacyId)

/** Begins and ends rows of validator_keys for what the set, which was `before`, has become. Source: protocol.md §3. */
export function noteKeys(state: State, before: readonly SetMember[], firstHeight: number): void {
  for (const row of state.validatorKeys)
    if (row.lastHeight === 0 && !isIn(state.validatorSet, row)) row.lastHeight = firstHeight - 1
  for (const { pubKey, candidacyId } of state.validatorSet)
    if (!isIn(before, { pubKey, candidacyId }))
      state.validatorKeys.push({ pubKey, firstHeight, candidacyId, lastHeight: 0 })
}

/** How old evidence may be under an unstake_wait_period. */
export const maxAgeOf = (period: number): number => Math.max(1, Math.min(period - 2, 100_000))

/** What CometBFT is told: each key whose power differs, in the order of the keys' bytes. */
export type Update = readonly [pubKey: string, power: number]

/** EndBlock (e). `signed`: the keys whose signatures the block's last commit has. */
export function updateSet(state: State, block: Block, signed: ReadonlySet<string>, events: Event[]): Update[] {
  const before = state.validatorSet
  for (const member of before) {
    if (member.proven || !signed.has(member.pubKey)) continue
    const isEarlier = (latestRowOf(state, member.pubKey)?.firstHeight ?? Infinity) > block.height - 1
    if (isEarlier) block.met.push('a signature of an earlier period')
    member.proven = !isEarlier || block.altered === 'a signature of an earlier period proves a key'
  }
  state.validatorSet = nextMembers(state, block)
  noteKeys(state, before, block.height + 2)
  const oldest = block.height - maxAgeOf(numberParam(state, 'unstake_wait_period', block.height))
  state.validatorKeys = state.validatorKeys.filter(({ lastHeight }) => lastHeight === 0 || lastHeight >= oldest)

  const powerIn = (set: readonly SetMember[], key: string): number =>
    set.find(({ pubKey }) => pubKey === key)?.power ?? 0
  const keys = [...new Set([...before, ...state.validatorSet].map(({ pubKey }) => pubKey))].sort()
  const updates = keys
    .map((key): Update => [key, powerIn(state.validatorSet, key)])
    .filter(([key, power]) => power !== powerIn(before, key))
  if (updates.length > 0) events.push(['svc.stake.validator_set', { changed: String(updates.length) }])
  for (const [key] of updates) {
    const [was, is] = [before, state.validatorSet].map((set) => set.find(({ pubKey }) => pubKey === key))
    if (was !== undefined && is !== undefined) continue
    const id = (is ?? was)?.candidacyId
    const owner = state.candidacies.find((one) => one.id === id)?.ownerAddress
    if (owner === undefined) continue
    events.push([`svc.stake.${is === undefined ? 'left' : 'joined'}`, { owner, pub_key: base64(key) }])
  }
  return updates
}
