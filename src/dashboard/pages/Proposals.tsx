import type { ViewProps } from '../app.tsx'
import { parseId } from '../data/proposals.ts'
import { NotFound } from './NotFound.tsx'
import { ProposalDetail } from './proposals/Detail.tsx'
import { NewProposal } from './proposals/New.tsx'
import { ProposalList } from './proposals/List.tsx'

/** The list of proposals, the one that the address names, or a new one. */
export function Proposals({ path }: ViewProps) {
  const [name] = path
  if (name === undefined) return <ProposalList />
  if (name === 'new') return path.length > 2 ? <NotFound /> : <NewProposal kind={path[1]} />
  const named = parseId(name)
  return named === undefined || path.length > 1 ? <NotFound /> : <ProposalDetail {...named} />
}
