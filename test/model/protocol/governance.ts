import { checkLibrary, checkLibraryLengths } from './libraries.ts'
import {
  type Call,
  charge,
  checkBytes,
  checkReason,
  type Concerned,
  type Done,
  INVALID,
  need,
  needBalance,
  type Operation,
  Refused,
} from './operation.ts'
import { canonicalParam } from './params.ts'
import {
  balanceOf,
  type Block,
  type Candidacy,
  liveOf,
  numberParam,
  pay,
  type Proposal,
  type State,
  type Tally,
} from './state.ts'
import { base64, parseAmount } from './values.ts'
import { isEligible } from './validatorSet.ts'
import type { Message } from './wire.ts'

/** Proposals and votes. Source: protocol.md §6. */

/** The node's operating system, which only CheckTx looks at. */
const OS = 'ubuntu'

/** The live candidacy of the validator set that the sender owns. */
function memberOf({ state, sender }: Call): Candidacy {
  const candidacy = liveOf(state, sender)
  const isMember = state.validatorSet.some(({ candidacyId }) => candidacyId === candidacy?.id)
  need(candidacy !== undefined && isMember, 20, 'Invalid validator')
  return candidacy
}

/** The same, with a key in the set that is proven. */
function proposerOf(call: Call): Candidacy {
  const { state, block } = call
  const candidacy = memberOf(call)
  const isProven = state.validatorSet.some(({ candidacyId, proven }) => candidacyId === candidacy.id && proven)
  if (!isProven) block.met.push('who is not proven proposes')
  need(isProven || block.altered === 'who is not proven may propose', 20, 'Invalid validator')
  return candidacy
}

/** How many open proposals a candidacy of the set may have. */
function placesOf({ state, block }: Call, id: number): number {
  const powerOf = (set: readonly { readonly power: number }[]): number => set.reduce((all, one) => all + one.power, 0)
  const power = powerOf(state.validatorSet.filter(({ candidacyId }) => candidacyId === id))
  if (block.altered === 'a candidacy of little power has as many places as others') return 20
  return Math.max(1, Math.min(20, Number((1000n * BigInt(power)) / BigInt(powerOf(state.validatorSet)))))
}

/** Where a proposal ends: as a height, or as a time with height 0. */
type Point = Pick<Proposal, 'expireBlockHeight' | 'expireTimestamp'>

function pointOf({ state, block, message }: Call, heightField: string, timeField: string): Point {
  const [height, time] = [message[heightField], message[timeField]] as [number | undefined, number | undefined]
  need(height === undefined || time === undefined, 20, 'Provide one expiration at most')
  if (height !== undefined) {
    const isRight = height > block.height && height <= block.height + 1_000_000
    need(isRight, 20, 'Invalid expire block height')
    return { expireBlockHeight: height, expireTimestamp: 0 }
  }
  if (time !== undefined) {
    const isRight = time > block.time && time <= block.time + 10_000_000
    need(isRight, 20, 'Invalid expire timestamp')
    return { expireBlockHeight: 0, expireTimestamp: time }
  }
  const period = numberParam(state, 'proposal_expire_period', block.height)
  return { expireBlockHeight: block.height + period, expireTimestamp: 0 }
}

interface Proposed {
  readonly type: Proposal['type']
  readonly detail: Message
  readonly transfer?: Proposal['transfer']
  readonly escrow?: bigint
  readonly status?: string
  readonly name?: string
  readonly concerned?: readonly Concerned[]
}

/** Open limits, check 7, fee and escrow, then the proposal. */
function propose(call: Call, { id: candidacyId }: Candidacy, proposed: Proposed, point: Point): Done {
  const { state, block, sender, hash, place, message } = call
  const { escrow = 0n, name, concerned = [] } = proposed
  const open = state.proposals.filter(({ result }) => result === '')
  const own = open.filter((one) => one.candidacyId === candidacyId).length
  const places = placesOf(call, candidacyId)
  if (own >= places) block.met.push(`all of ${places < 20 ? 'fewer than 20' : '20'} places are taken`)
  need(open.length < 2000 && own < places, 20, 'Too many open proposals')
  charge(call, escrow)

  pay(state, sender, -escrow)
  state.proposals.push({
    id: hash,
    type: proposed.type,
    proposer: sender,
    candidacyId,
    blockHeight: block.height,
    place,
    ...point,
    createdAt: block.time,
    result: '',
    resultMsg: '',
    resultBlockHeight: 0,
    resultAt: 0,
    pending: true,
    tally: { yes: 0, no: 0, total: 0 },
    detail: { ...proposed.detail, reason: (message['reason'] as string | undefined) ?? '' },
    ...(proposed.transfer === undefined ? {} : { transfer: proposed.transfer }),
    escrow,
    status: proposed.status ?? '',
  })
  return {
    data: hash,
    ids: { proposal_id: base64(hash), ...(name === undefined ? {} : { name }) },
    concerned: [{ account: sender, validator: true }, ...concerned],
  }
}

function proposeChangeParam(call: Call): Done {
  const { name, value } = call.message as { name: string; value: string }
  const member = proposerOf(call)
  need(canonicalParam(name, value) !== undefined, 20, INVALID)
  const point = pointOf(call, 'expireBlockHeight', 'expireTimestamp')
  return propose(call, member, { type: 'change_param', detail: { name, value }, name }, point)
}

function proposeDeployLibEni(call: Call): Done {
  const { name, version, fileUrl, md5 } = call.message as Record<string, string>
  const member = proposerOf(call)
  checkLibrary(call.message, call.state, call.isCheck ? OS : undefined)
  const point = pointOf(call, 'deployBlockHeight', 'deployTimestamp')
  const detail = { name, version, fileUrl, md5 } as Message
  return propose(call, member, { type: 'deploy_libeni', detail, name: name as string }, point)
}

function proposeUpgradeProgram(call: Call): Done {
  proposerOf(call)
  checkLibrary(call.message)
  throw new Refused(4, 'proposeUpgradeProgram is not implemented')
}

const hasEligible = (state: State, key: string): boolean =>
  state.candidacies.some((one) => one.pubKey === key && isEligible(one))

/** The keys of preservedValidators in hex; undefined when one is not base64 of 32 bytes. */
function preservedKeys(text: string): string[] | undefined {
  const keys = text.split(',').map((key) => {
    const bytes = Buffer.from(key, 'base64')
    return bytes.length === 32 && bytes.toString('base64') === key ? bytes.toString('hex') : undefined
  })
  return keys.every((key) => key !== undefined) ? keys : undefined
}

function proposeRetireProgram(call: Call): Done {
  const { state, message } = call
  const member = proposerOf(call)
  const retiredVersion = String(state.counters.programVersion)
  const isStanding = state.proposals.some(
    ({ type, result, detail }) =>
      type === 'retire_program' &&
      detail['retiredVersion'] === retiredVersion &&
      (result === '' || result === 'Approved'),
  )
  need(!isStanding, 20, 'Found unresolved or approved retiring proposal')
  const preservedValidators = message['preservedValidators'] as string
  const keys = preservedKeys(preservedValidators) ?? []
  const isRight = keys.length > 0 && new Set(keys).size === keys.length && keys.every((key) => hasEligible(state, key))
  need(isRight, 20, INVALID)
  const point = pointOf(call, 'retiredBlockHeight', '')
  const detail = { retiredVersion, preservedValidators }
  return propose(call, member, { type: 'retire_program', detail, status: 'init' }, point)
}

function proposeTransferFund(call: Call): Done {
  const { state, block, sender, message } = call
  const [from, to] = [`0x${message['transferFrom']}`, `0x${message['transferTo']}`]
  const amount = BigInt(message['amount'] as string)
  const member = proposerOf(call)
  const isHold = state.params.some(
    ({ name, height, value }) => name === 'hold_account' && height <= block.height && value === from,
  )
  need(from === sender || isHold, 20, INVALID)
  need(amount > 0n, 20, INVALID)
  needBalance(state, from, amount)
  const point = pointOf(call, 'expireBlockHeight', 'expireTimestamp')
  const transfer = { from, to, amount }
  const escrow = from === sender ? amount : 0n
  const concerned = [{ account: from }, { account: to }]
  return propose(call, member, { type: 'transfer_fund', detail: {}, transfer, escrow, concerned }, point)
}

/** The powers of the votes of ids that are in the validator set now. */
function tallyOf(state: State, proposal: Proposal): Tally {
  const powerOf = (answer: string): number =>
    state.validatorSet
      .filter(({ candidacyId }) =>
        state.votes.some(
          (vote) => vote.proposalId === proposal.id && vote.candidacyId === candidacyId && vote.answer === answer,
        ),
      )
      .reduce((total, { power }) => total + power, 0)
  const total = state.validatorSet.reduce((all, { power }) => all + power, 0)
  return { yes: powerOf('Y'), no: powerOf('N'), total }
}

function resolve(proposal: Proposal, result: Proposal['result'], block: Block, message = ''): void {
  const isCarriedOutLater = ['deploy_libeni', 'retire_program'].includes(proposal.type) && result === 'Approved'
  Object.assign(proposal, {
    result,
    resultMsg: message,
    resultBlockHeight: block.height,
    resultAt: block.time,
    pending: proposal.pending && isCarriedOutLater,
  })
  if (proposal.type === 'retire_program' && result !== 'Approved') proposal.status = 'rejected'
}

function giveBack(state: State, proposal: Proposal, to: string | undefined): void {
  if (to !== undefined) pay(state, to, proposal.escrow)
  proposal.escrow = 0n
}

function approve(state: State, proposal: Proposal, block: Block): void {
  resolve(proposal, 'Approved', block)
  const { type, detail, transfer, escrow } = proposal
  if (type === 'change_param') {
    const [name, sent] = [detail['name'], detail['value']] as [string, string]
    const height = block.altered === 'an approved parameter is in force at once' ? block.height : block.height + 1
    state.params = state.params.filter((row) => row.name !== name || row.height !== height)
    state.params.push({ name, height, value: canonicalParam(name, sent) as string })
  }
  if (transfer === undefined) return
  if (escrow > 0n) return giveBack(state, proposal, transfer.to)
  if (balanceOf(state, transfer.from) < transfer.amount)
    return resolve(proposal, 'Rejected', block, 'Insufficient balance')
  pay(state, transfer.from, -transfer.amount)
  pay(state, transfer.to, transfer.amount)
}

/** Tallies an open proposal, and resolves it when the votes decide it. */
function decide(state: State, proposal: Proposal, block: Block): void {
  const tally = tallyOf(state, proposal)
  const isEnough = (power: number): boolean => tally.total > 0 && power * 3 >= 2 * tally.total
  if (!isEnough(tally.yes) && !isEnough(tally.no)) return
  proposal.tally = tally
  if (isEnough(tally.yes)) return approve(state, proposal, block)
  giveBack(state, proposal, proposal.transfer?.from)
  resolve(proposal, 'Rejected', block)
}

function vote(call: Call): Done {
  const { state, block, sender, message } = call
  const { proposalId, answer } = message as { proposalId: string; answer: string }
  const { id: candidacyId } = memberOf(call)
  const proposal = state.proposals.find(({ id }) => id === proposalId)
  need(proposal !== undefined, 20, 'Invalid parameter: unknown proposal')
  need(answer === 'Y' || answer === 'N', 20, 'Invalid parameter: answer must be Y or N')
  need(proposal.result === '', 20, `The proposal has been ${proposal.result.toLowerCase()}`)
  charge(call)

  state.votes = state.votes.filter((one) => one.proposalId !== proposalId || one.candidacyId !== candidacyId)
  state.votes.push({ proposalId, candidacyId, voter: sender, answer, blockHeight: block.height })
  decide(state, proposal, block)
  const { result } = proposal as { result: string }
  return {
    ids: { proposal_id: base64(proposalId), ...(result === '' ? {} : { result }) },
    concerned: [{ account: sender, validator: true }],
  }
}

/** Carries out a retire proposal at its point. Source: protocol.md §7. */
function retire(state: State, proposal: Proposal, block: Block): void {
  const keys = preservedKeys(proposal.detail['preservedValidators'] as string) ?? []
  if (!keys.some((key) => hasEligible(state, key))) {
    proposal.pending = false
    return resolve(proposal, 'Rejected', block, 'No preserved validator is active')
  }
  for (const one of state.candidacies)
    if (one.active && !keys.includes(one.pubKey)) Object.assign(one, { active: false, updatedAt: block.time })
  state.counters.programVersion++
  proposal.status = 'success'
}

/** EndBlock (a). Returns the proposals that got another result in it. */
export function endProposals(state: State, block: Block): Proposal[] {
  const due = state.proposals
    .filter(
      ({ pending, expireBlockHeight, expireTimestamp }) =>
        pending && (expireBlockHeight > 0 ? expireBlockHeight <= block.height : expireTimestamp <= block.time),
    )
    .sort((a, b) => a.blockHeight - b.blockHeight || a.place - b.place)
  return due.filter((proposal) => {
    const before = proposal.result
    if (proposal.result === '') decide(state, proposal, block)
    if (proposal.result === '') {
      proposal.tally = tallyOf(state, proposal)
      giveBack(state, proposal, proposal.transfer?.from)
      resolve(proposal, 'Expired', block)
    }
    if (proposal.type === 'retire_program' && (proposal.result as string) === 'Approved') retire(state, proposal, block)
    proposal.pending = false
    return proposal.result !== before
  })
}

const checkFund = (message: Message): void => {
  checkBytes(message, 'transferFrom', 20)
  checkBytes(message, 'transferTo', 20)
  need(parseAmount(message['amount'] as string) !== undefined, 20, INVALID)
  checkReason(message)
}

const checkLibraryMessage = (message: Message): void => {
  checkLibraryLengths(message)
  checkReason(message)
}

const proposal = (name: string, check: Operation['check'], run: Operation['run']): Operation => ({
  event: `svc.governance.${name}`,
  gas: 'governance_proposal',
  check: check ?? (() => undefined),
  run,
})

export const governanceOperations: Readonly<Record<string, Operation>> = {
  proposeChangeParam: proposal('proposeChangeParam', checkReason, proposeChangeParam),
  proposeDeployLibEni: proposal('proposeDeployLibEni', checkLibraryMessage, proposeDeployLibEni),
  proposeRetireProgram: proposal(
    'proposeRetireProgram',
    (message) => {
      need(Buffer.byteLength(message['preservedValidators'] as string) <= 9216, 20, INVALID)
      checkReason(message)
    },
    proposeRetireProgram,
  ),
  proposeUpgradeProgram: proposal('proposeUpgradeProgram', checkLibraryMessage, proposeUpgradeProgram),
  proposeTransferFund: proposal('proposeTransferFund', checkFund, proposeTransferFund),
  vote: proposal('vote', (message) => checkBytes(message, 'proposalId', 32), vote),
}
