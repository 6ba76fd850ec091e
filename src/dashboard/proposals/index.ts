import type { Proposal, ProposalType } from '../data/proposals.ts'
import { changeParam } from './changeParam.tsx'
import { deployLibEni } from './deployLibEni.tsx'
import type { DetailOf, KindPage } from './kind.tsx'
import { retireProgram } from './retireProgram.tsx'
import { transferFund } from './transferFund.tsx'

/** Every kind of proposal. The compiler demands a file of each. */
export const kinds: { readonly [T in ProposalType]: KindPage<DetailOf<T>> } = {
  change_param: changeParam,
  transfer_fund: transferFund,
  deploy_libeni: deployLibEni,
  retire_program: retireProgram,
}

/** What the page says of a kind of proposal. */
export const kindOf = (type: ProposalType): KindPage => kinds[type]

/** What a proposal would do, in a sentence. */
export const titleOf = ({ Type, Detail }: Pick<Proposal, 'Type' | 'Detail'>): string => kindOf(Type).sentence(Detail)

/** What this node says of a proposal, and what a page shows apart: neither is compared with a row. */
const NOT_IN_ROW: ReadonlySet<string> = new Set(['reason', 'status'])

/** What a kind of proposal has of its own, by the columns of its row. */
export function rowOf({ Type, Detail }: Pick<Proposal, 'Type' | 'Detail'>): Readonly<Record<string, string>> {
  const { columns = {} } = kindOf(Type)
  const own = Object.entries(Detail).filter(([name]) => !NOT_IN_ROW.has(name))
  return Object.fromEntries(own.map(([name, value]) => [columns[name] ?? name, value]))
}
