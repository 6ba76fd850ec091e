import { useEffect, useRef } from 'preact/hooks'
import { toHex } from '../../base/bytes.ts'
import { proposalId, proposalIdBytes } from '../../values/pubKey.ts'
import type { Connection, QueryProposalResult, QueryProposalsResult } from '../../client/index.ts'
import { linkTo, urlSafe } from '../route.ts'
import { head } from './chain.ts'
import { subscribe, svc } from './gateway.ts'
import { createStore, useStore } from './store.ts'
import type { Answer } from './useAnswer.ts'

/** A proposal as a list has it. */
export type Proposal = QueryProposalsResult['data'][number]

export type ProposalOf<T extends Proposal['Type']> = Extract<Proposal, { readonly Type: T }>

/** A proposal with its votes and its tally. */
export type WholeProposal = NonNullable<QueryProposalResult['data']>

/** A tally: voting power for, against, and of the whole set. */
export type Tally = WholeProposal['Tally']

export type ProposalType = Proposal['Type']

export const proposalLink = (id: string): string => linkTo(['proposals', urlSafe(id)])

/** The id that an address names, and the hash of the transaction that proposed it; undefined when it names none. */
export function parseId(text: string): { readonly id: string; readonly hash: string } | undefined {
  const id = proposalId.parse(text)
  return id === undefined ? undefined : { id: proposalId.print(id), hash: toHex(proposalIdBytes(id)).toUpperCase() }
}

/** Proposals that one question asks for. */
const PAGE_ROWS = 500

/** All proposals that a question chooses, the newest first, asked for page by page. */
export async function askProposals(
  chosen: Parameters<typeof svc.async.governance.listProposals>[0],
): Promise<readonly Proposal[]> {
  const all: Proposal[] = []
  for (;;) {
    const page = { newest: true, limit: PAGE_ROWS, offset: all.length }
    const { data } = await svc.async.governance.listProposals({ ...chosen, ...page })
    all.push(...data)
    if (data.length < PAGE_ROWS) return all
  }
}

/**
 * The height of the last event of each proposal that the page heard of. Under an empty id: the height up to which others may
 * have changed that it did not hear of.
 */
const news = createStore<ReadonlyMap<string, number>>(new Map())

/** With more than these the page begins anew: each is asked for once more. */
const NEWS_MAX = 1_000

function hear(id: string, height: number): void {
  const heard = news.get()
  // Views ask by the highest height. A lower one would lead back to an older answer.
  const highest = Math.max(height, heard.get(id) ?? 0)
  news.set(new Map([...(heard.size < NEWS_MAX ? heard : []), [id, highest]]))
}

/** Hears of proposals, votes and results until what it returns is called. */
function followProposals(): () => void {
  // What is asked at the same time has seen the newest block that the page knows of. Without one it is asked once more.
  const from = head.get()?.height
  const onState = (told: Connection): void => {
    // What happened in a gap is not told.
    if (told.state === 'gap') hear('', told.to)
    else if (from === undefined) hear('', 1)
  }
  const options = from === undefined ? { onState } : { from, onState }
  return subscribe('proposal', options, ({ height, attributes: { proposal_id: id } }) => {
    if (id !== undefined) hear(id, height)
  })
}

/** Who shows proposals at the moment; they share one subscription. */
let [followers, unfollow] = [0, (): void => undefined]

/** The height of the last event of each proposal since the page shows proposals, as `news` has it. */
export function useProposalNews(): ReadonlyMap<string, number> {
  useEffect(() => {
    if (followers++ === 0) unfollow = followProposals()
    return () => {
      if (--followers === 0) unfollow()
    }
  }, [])
  return useStore(news)
}

/** An answer that shows what it showed last while another question is on its way. */
export function useLatest<T>(answer: Answer<T>): Answer<T> & { readonly isOld: boolean } {
  const last = useRef<T | undefined>(undefined)
  if (answer.data !== undefined) last.current = answer.data
  return { data: last.current, error: answer.error, isOld: answer.data === undefined }
}
