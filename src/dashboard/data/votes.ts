/**
 * Whose votes are whose. A vote belongs to a candidacy and stays with it, and the chain says which account sent it: behind
 * a hand-over that is an earlier owner. Source: protocol.md §6.
 */
import { events } from '../../client/gen/events.ts'
import type { GetValidatorHistoryResult } from '../../client/index.ts'
import { svc } from './gateway.ts'
import type { WholeProposal } from './proposals.ts'
import { useAnswer } from './useAnswer.ts'
import { useCandidates } from './validators.ts'

type Vote = WholeProposal['Votes'][number]
type Event = GetValidatorHistoryResult['data'][number]

/** Votes whose owners are looked for, at most: each is a question or more. */
const ASKED_MAX = 30

/** Pages of a history, and hand-overs, that are followed for one vote. */
const PAGES_MAX = 5
const HANDOVERS_MAX = 10

const { acceptAccountUpdate, declare } = events.stake

/** What an owner did since `isStart`, the oldest first. Empty where that is too long ago. */
async function askSince(owner: string, isStart: (event: Event) => boolean): Promise<readonly Event[]> {
  const all: Event[] = []
  let before: string | undefined
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = { validatorAddress: owner, limit: 50, ...(before === undefined ? {} : { before }) }
    const { data, next } = await svc.async.getValidatorHistory(page)
    const at = data.findIndex(isStart)
    all.push(...(at === -1 ? data : data.slice(0, at)))
    if (at !== -1) return all.reverse()
    if (next === null) break
    before = next
  }
  return []
}

/** Who owns now what `voter` owned when it voted. */
async function askOwner(proposalId: string, { Voter: voter, BlockHeight: height }: Vote): Promise<string> {
  let owner = voter
  let isStart = (event: Event): boolean =>
    event.type === events.governance.vote && event.height === height && event.attributes['proposal_id'] === proposalId
  for (let handOvers = 0; handOvers < HANDOVERS_MAX; handOvers++) {
    const since = await askSince(owner, isStart)
    // Who declares or takes over another candidacy has lost the one before.
    const first = since.find(({ type }) => type === acceptAccountUpdate || type === declare)
    const taker = first?.type === acceptAccountUpdate ? String(first.attributes['sender']) : owner
    if (first === undefined || taker === owner) break
    owner = taker
    isStart = (event) => event.type === first.type && event.hash === first.hash
  }
  return owner
}

/**
 * The votes on a proposal with who owns each now. Until that is known, and of more than ASKED_MAX that may have another
 * owner, it is the account that sent it.
 */
export function useOwnedVotes(
  { Id: id, CreatedAt: since }: Pick<WholeProposal, 'Id' | 'CreatedAt'>,
  votes: readonly Vote[],
): readonly (Vote & { readonly owner: string })[] {
  const candidates = useCandidates().data
  const updated = new Map(candidates?.map(({ owner_address: owner, updated_at: time }) => [owner, time]))
  // A hand-over is an update. Who has no candidacy any more comes first.
  const open = votes
    .filter(({ Voter: voter }) => candidates !== undefined && (updated.get(voter) ?? since) >= since)
    .sort((a, b) => Number(updated.has(a.Voter)) - Number(updated.has(b.Voter)))
    .slice(0, ASKED_MAX)
  const owners = useAnswer(
    open.length === 0 ? undefined : `voteOwners/${id}/${open.map((one) => `${one.Voter}@${one.BlockHeight}`).join()}`,
    async () => new Map(await Promise.all(open.map(async (vote) => [keyOf(vote), await askOwner(id, vote)] as const))),
    'onReturn',
  ).data
  return votes.map((vote) => ({ ...vote, owner: owners?.get(keyOf(vote)) ?? vote.Voter }))
}

const keyOf = ({ Voter: voter, BlockHeight: height }: Vote): string => `${voter}@${height}`
