import type { Proposal, ProposalType } from '../data/proposals.ts'
import { kindPages } from './gen/pages.ts'
import type { KindPage } from './kind.tsx'

export { kindPages as kinds }

export const kindOf = (type: ProposalType): KindPage => kindPages[type]

/** What a proposal would do, in a sentence. */
export const whatOf = ({ Type, Detail }: Pick<Proposal, 'Type' | 'Detail'>): string => kindOf(Type).sentence(Detail)

/** Characters of a title that are shown. */
const TITLE_MAX = 120

/** The first line of the reason: a proposal's title, which the proposer chose. Without a reason it is what it would do. */
export function titleOf(proposal: Pick<Proposal, 'Type' | 'Detail'>): string {
  const [first = ''] = proposal.Detail.reason.trim().split('\n', 1)
  if (first === '') return whatOf(proposal)
  return first.length <= TITLE_MAX ? first : `${first.slice(0, TITLE_MAX)}…`
}

/** What this node says of a proposal, and what a page shows apart: neither is compared with a row. */
const NOT_IN_ROW: ReadonlySet<string> = new Set(['reason', 'status'])

/** What a kind of proposal has of its own, by the columns of its row. */
export function rowOf({ Type, Detail }: Pick<Proposal, 'Type' | 'Detail'>): Readonly<Record<string, string>> {
  const { columns = {} } = kindOf(Type)
  const own = Object.entries(Detail).filter(([name]) => !NOT_IN_ROW.has(name))
  return Object.fromEntries(own.map(([name, value]) => [columns[name] ?? name, value]))
}
