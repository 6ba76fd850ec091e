import { ONE, TOKEN } from '../../src/base/amount.ts'
import { paramsInForce } from '../../src/modules/params/keeper.ts'
import {
  candidacies,
  type Candidacy,
  isEligible,
  type SetMember,
  setMembers,
  validatorKeys,
} from '../../src/modules/stake/tables.ts'
import type { Store } from '../../src/store/store.ts'
import { pubKeyBytes } from '../../src/values/pubKey.ts'

/** Key → power and whether it is proven. */
export type ExpectedSet = ReadonlyMap<
  string,
  { readonly candidacyId: number; readonly power: number; readonly proven: boolean }
>

const biggerFirst = (a: Candidacy, b: Candidacy): number =>
  a.shares !== b.shares
    ? a.shares > b.shares
      ? -1
      : 1
    : a.blockHeight !== b.blockHeight
      ? a.blockHeight - b.blockHeight
      : Buffer.compare(pubKeyBytes(a.pubKey), pubKeyBytes(b.pubKey))

/**
 * The validator set after the head block, by the words of protocol.md §4 and by walking everything: a second opinion on
 * what the chain keeps. `before` is the set of the block before; `signers` are the keys that signed the commit that the
 * head block carries.
 */
export function expectedSet(store: Store, before: readonly SetMember[], signers: ReadonlySet<string>): ExpectedSet {
  const { maxVals, stakeLimit } = paramsInForce(store, store.height())
  const ranked = [...store.scan(candidacies)].filter(isEligible).sort(biggerFirst)
  const commitHeight = store.height() - 1
  // The rows that this block wrote begin two heights later.
  const periods = [...store.scan(validatorKeys)].filter(({ firstHeight }) => firstHeight < store.height() + 2)
  const firstHeightOf = (key: string): number =>
    Math.max(...periods.filter(({ pubKey }) => pubKey === key).map(({ firstHeight }) => firstHeight))
  const proven = before.filter(
    ({ pubKey, proven: was }) => was || (signers.has(pubKey) && firstHeightOf(pubKey) <= commitHeight),
  )
  const isProven = ({ pubKey }: Candidacy): boolean => proven.some((member) => member.pubKey === pubKey)
  const voting = ranked.filter(isProven).slice(0, maxVals)
  const counted = voting.length > 0 ? voting : ranked.slice(0, maxVals)
  const total = counted.reduce((sum, { shares }) => sum + shares, 0n)
  const limits = [(stakeLimit * total) / ONE, counted.length === 0 ? 0n : total / BigInt(counted.length)]
  const cap = limits.reduce((a, b) => (a > b ? a : b))
  const expected = new Map<string, { candidacyId: number; power: number; proven: boolean }>()
  for (const { pubKey, id, shares } of voting) {
    expected.set(pubKey, { candidacyId: id, power: Number((shares < cap ? shares : cap) / TOKEN), proven: true })
  }
  const sum = [...expected.values()].reduce((all, one) => all + one.power, 0)
  if (sum < 3) for (const [key, one] of expected) expected.set(key, { ...one, power: 3 * one.power })
  if (voting.length === 0)
    for (const { pubKey, candidacyId, power } of proven) expected.set(pubKey, { candidacyId, power, proven: true })
  const power = [...expected.values()].reduce((sum, one) => sum + one.power, 0)
  const joining = ranked.slice(0, maxVals).filter((candidacy) => !isProven(candidacy))
  for (const { pubKey, id } of joining.slice(0, Math.floor((power - 1) / 2))) {
    expected.set(pubKey, { candidacyId: id, power: 1, proven: false })
  }
  return expected
}

/** Throws when the chain keeps another set than `expectedSet`. */
export function checkSet(store: Store, before: readonly SetMember[], signers: ReadonlySet<string>): void {
  const print = (
    entries: Iterable<readonly [string, { candidacyId: number; power: number; proven: boolean }]>,
  ): string =>
    [...entries]
      .map(([key, one]) => `${key} ${one.candidacyId} ${one.power} ${one.proven}`)
      .sort()
      .join('\n')
  const expected = print(expectedSet(store, before, signers))
  const kept = print([...store.scan(setMembers)].map((member) => [member.pubKey, member]))
  if (kept !== expected) throw new Error(`the validator set is\n${kept}\nand not\n${expected}`)
}
