import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locked } from './locked.ts'

/** One published weakness of something that we use, or used. */
export interface Advisory {
  readonly id: string
  readonly ecosystem: Locked['ecosystem']
  readonly package: string
  /** The versions that have it: comparisons with a comma between them, and `||` between alternatives. */
  readonly vulnerable: string
  readonly what: string
  /** Why a version that has it is used all the same. Needed as long as one is, and refused as soon as none is. */
  readonly why?: string
}

const FILE = 'tools/supplyChain/advisories.json'

/** The advisories that were looked at. */
export const readAdvisories = (root: string): readonly Advisory[] =>
  JSON.parse(readFileSync(join(root, FILE), 'utf8')) as readonly Advisory[]

/** The release of a version; a pre-release counts as its release. */
const releaseOf = (version: string): readonly number[] => {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
  if (numbers.length < 3) throw new Error(`no version: ${JSON.stringify(version)}`)
  return numbers.map(Number)
}

/** Below 0 when `a` is the older one, above 0 when `b` is. */
function compare(a: string, b: string): number {
  const [left, right] = [releaseOf(a), releaseOf(b)]
  return left.map((one, at) => one - (right[at] ?? 0)).find((difference) => difference !== 0) ?? 0
}

/** True when a version is in a range such as `>= 5.0.0, < 5.8.3 || < 4.29.1`. Throws for what is no range. */
export function isIn(version: string, range: string): boolean {
  return range.split('||').some((alternative) =>
    alternative.split(',').every((comparison) => {
      const [, sign = '', bound = ''] = /^\s*(<=|<|>=|>|=)\s*(\S+)\s*$/.exec(comparison) ?? []
      if (sign === '') throw new Error(`no range: ${JSON.stringify(range)}`)
      const order = compare(version, bound)
      if (order === 0) return sign.includes('=')
      return order < 0 === sign.startsWith('<') && sign !== '='
    }),
  )
}

/** What is wrong with these advisories and these versions. */
export function unexplained(advisories: readonly Advisory[], locked: readonly Locked[]): readonly string[] {
  return advisories.flatMap(({ id, ecosystem, package: name, vulnerable, what, why }) => {
    const hit = locked.filter(
      (one) => one.ecosystem === ecosystem && one.name === name && isIn(one.version, vulnerable),
    )
    if (why !== undefined) return hit.length > 0 ? [] : [`${id}: no version of ${name} has it, so why is stale`]
    return [...new Set(hit.map(({ version, file }) => `${id}: ${name} ${version} (${file}): ${what}`))]
  })
}
