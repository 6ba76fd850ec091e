import type { OperationInputs } from '../../client/gen/forms.ts'
import { readFileUrl } from '../../values/library.ts'
import { formatCount, formatTokens, shorten } from '../format.ts'
import { takenBy } from './cost.ts'
import type { Facts, Order } from './facts.ts'

/** The exact amount: what is signed is never rounded. */
const tokens = (units: bigint | string | number): string => `${formatTokens(BigInt(units), 18)} token`

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

const staking = (order: Order, facts: Facts): string => {
  const taken = takenBy(order, facts)
  return taken === undefined ? '' : `, staking ${tokens(taken.units)}`
}

/** What an update of a candidacy changes. */
function changes(input: OperationInputs['updateCandidacy'], order: Order, facts: Facts): string {
  const { pubKey, description, maxAmount, compRate } = input
  const taken = takenBy(order, facts)
  const parts = [
    pubKey === undefined ? '' : `its key becomes ${pubKey}`,
    description === undefined ? '' : `its ${listed(Object.keys(description))} change, so that it is no longer verified`,
    maxAmount === undefined ? '' : `it may hold at most ${tokens(maxAmount)}`,
    taken === undefined ? '' : `you stake ${tokens(taken.units)} more`,
    compRate === undefined ? '' : `its compensation rate becomes ${compRate}`,
  ].filter(Boolean)
  return parts.length === 0 ? 'Update your candidacy without a change' : `Change your candidacy: ${listed(parts)}`
}

/** Where a library or program is to run. */
const systems = (fileUrl: string): string => listed([...(readFileUrl(fileUrl)?.keys() ?? [])])

function candidateOf({ candidacy }: Facts): string {
  return candidacy === undefined ? '' : ` with ${tokens(candidacy.record.shares)} of shares`
}

/** What a proposal would do: `sets max_vals from 4 to 7`. `from`: the value of a parameter today. */
function effectOf({ Type, Detail }: NonNullable<Facts['proposal']>, params: Facts['params']): string {
  const detail = Detail as Readonly<Record<string, string>>
  const { name = '', value = '', amount = '0', from = '', to = '', version = '' } = detail
  switch (Type) {
    case 'change_param':
      return `sets ${name} from ${todayOf(params, name)} to ${value}`
    case 'transfer_fund':
      return `pays ${tokens(amount)} from ${from} to ${to}`
    case 'deploy_libeni':
      return `deploys the library ${name} ${version}`
    case 'retire_program':
      return `retires the program and preserves ${preserved(detail['preserved_validators'] ?? '')}`
  }
}

const todayOf = (params: Facts['params'], name: string): string =>
  String((params as Readonly<Record<string, unknown>>)[name] ?? '?')

function preserved(list: string): string {
  const count = list.split(',').filter(Boolean).length
  return count === 1 ? '1 validator' : `${formatCount(count)} validators`
}

/** What an order does, in a sentence. No word in it is of a stranger's choice but what a form of the chain allows. */
export function wordsOf(order: Order, facts: Facts): string {
  const { params } = facts
  switch (order.operation) {
    case 'declareCandidacy':
      return `Declare a candidacy for the key ${order.input.pubKey}${staking(order, facts)}.`
    case 'updateCandidacy':
      return `${changes(order.input, order, facts)}.`
    case 'withdrawCandidacy':
      return `End your candidacy${candidateOf(facts)}. They are paid out after ${formatCount(params.unstake_wait_period)} blocks.`
    case 'activateCandidacy':
      return `Activate your candidacy again${staking(order, facts)}.`
    case 'deactivateCandidacy':
      return 'Deactivate your candidacy. Its shares stay, and it earns nothing until you activate it again.'
    case 'updateCandidacyAccount':
      return (
        `Offer your candidacy${candidateOf(facts)} to ${order.input.newCandidateAccount}, ` +
        'who has to accept it and pays you for the shares.'
      )
    case 'acceptCandidacyAccountUpdate':
      return facts.handOver === undefined
        ? `Accept the hand-over with the number ${order.input.accountUpdateRequestId}.`
        : `Take over the candidacy of ${facts.handOver.owner} and pay them ${tokens(facts.handOver.shares)} for its shares.`
    case 'verifyCandidacy':
      return `Mark the candidacy of ${order.input.candidateAddress} as ${order.input.verified === 'Y' ? 'verified' : 'not verified'}.`
    case 'transfer':
      return `Send ${tokens(order.input.value)} to ${order.input.to}.`
    case 'vote':
      return voteWords(order.input, facts)
    default:
      return `Propose to ${proposalWords(order, facts)}.`
  }
}

function voteWords({ answer, proposalId }: OperationInputs['vote'], { proposal, params }: Facts): string {
  const what = proposal === undefined ? '' : `, which ${effectOf(proposal, params)}`
  return `Vote ${answer === 'Y' ? 'yes' : 'no'} on the proposal ${shorten(proposalId)}${what}.`
}

type Proposing = Extract<Order, { readonly operation: `propose${string}` }>

function proposalWords(order: Proposing, { params }: Facts): string {
  switch (order.operation) {
    case 'proposeChangeParam':
      return `set ${order.input.name} from ${todayOf(params, order.input.name)} to ${order.input.value}`
    case 'proposeDeployLibEni':
      return `deploy the library ${order.input.name} ${order.input.version} on ${systems(order.input.fileUrl)}`
    case 'proposeRetireProgram':
      return `retire the program, preserve ${preserved(order.input.preservedValidators)} and deactivate all others`
    case 'proposeUpgradeProgram':
      return `upgrade the program to ${order.input.name} ${order.input.version}, which this chain always refuses`
    case 'proposeTransferFund':
      return `pay ${tokens(order.input.amount)} from ${order.input.transferFrom} to ${order.input.transferTo}`
  }
}
