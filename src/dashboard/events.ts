import { type EventAttributes, events, type EventType } from '../client/gen/events.ts'
import { type Message, textOf } from './operations/operation.ts'
import type { Piece, Words } from './pieces.ts'

const piece = (kind: Exclude<Piece, string>['kind'], value: string): Piece => ({ kind, value })

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const REASONS: Readonly<Record<string, string>> = {
  absence: 'because it missed too many blocks in a row',
  misbehaviour: 'because it signed what it must not; a part of its shares was burned',
}

const RESULTS: Readonly<Record<string, string>> = {
  Approved: 'was approved',
  Rejected: 'was rejected',
  Expired: 'expired',
}

const proposalOf = ({ proposal_id: id }: { readonly proposal_id: string }): Piece => piece('proposal', id)

const resultOf = (result: string): string => own(RESULTS, result) ?? `ended as ${result}`

const missedWords = (missed: string): string =>
  missed === '1' ? 'signed again after one missed block' : `signed again after ${missed} missed blocks`

/** A block learns of the missed one from the commit that it carries: that of the block before. */
const missedOne = (height: number | undefined): Words =>
  height === undefined ? ['missed a block'] : ['missed block ', piece('height', String(height - 1))]

const { accounts, stake, governance } = events

type Telling = { readonly [T in EventType]: (of: EventAttributes[T], height: number | undefined) => Words }

/** An event is about the owner of a candidacy or a sender, except those that name their subject themselves. */
const telling: Telling = {
  [accounts.transfer]: ({ value, to }) => ['sent ', piece('tokens', value), ' to ', piece('account', to)],
  [stake.declare]: (of) => ['declared the candidacy with the key ', piece('key', of.pub_key)],
  [stake.update]: () => ['updated the candidacy'],
  [stake.withdraw]: () => ['withdrew the candidacy'],
  [stake.activate]: () => ['activated the candidacy'],
  [stake.deactivate]: () => ['deactivated the candidacy'],
  [stake.updateAccount]: (of) => [
    'offered the candidacy to another account: request ',
    piece('request', of.request_id),
  ],
  [stake.acceptAccountUpdate]: (of) => ['took over the candidacy of request ', piece('request', of.request_id)],
  [stake.verify]: () => ['had its verification set by the foundation'],
  [stake.delegate]: (of) => ['staked ', piece('tokens', of.amount), ' with ', piece('validator', of.owner)],
  [stake.undelegate]: (of) => ['took ', piece('tokens', of.amount), ' back from ', piece('validator', of.owner)],
  [stake.joined]: (of) => ['joined the validator set with the key ', piece('key', of.pub_key)],
  [stake.left]: (of) => ['left the validator set with the key ', piece('key', of.pub_key)],
  [stake.absent]: (_, height) => missedOne(height),
  [stake.present]: ({ missed }) => [missedWords(missed)],
  [stake.removed]: ({ reason }) => [`was removed from the active ones ${own(REASONS, reason) ?? reason}`],
  [stake.unbonded]: ({ amount }) => ['was paid ', piece('tokens', amount), ' after unbonding'],
  [stake.award]: ({ amount, delegated }) => [
    'was paid ',
    piece('tokens', amount),
    ' as the award of this block',
    ...(delegated === undefined ? [] : [', and those who stake with it ', piece('tokens', delegated)]),
  ],
  [stake.validatorSet]: ({ changed }) => [
    changed === '1' ? 'one power of the validator set changed' : `${changed} powers of the validator set changed`,
  ],
  [governance.proposeChangeParam]: (of) => ['proposed another ', piece('parameter', of.name), ': ', proposalOf(of)],
  [governance.proposeDeployLibEni]: (of) => [
    'proposed to deploy the library ',
    piece('stranger', of.name),
    ': ',
    proposalOf(of),
  ],
  [governance.proposeRetireProgram]: (of) => ['proposed to retire the program: ', proposalOf(of)],
  [governance.proposeTransferFund]: (of) => ['proposed a payment: ', proposalOf(of)],
  [governance.proposeUpgradeProgram]: (of) => ['proposed to upgrade the program: ', proposalOf(of)],
  [governance.vote]: ({ result = '', ...of }) => [
    'voted on ',
    proposalOf(of),
    result === '' ? '' : `, which ${resultOf(result)} by it`,
  ],
  [governance.resolved]: (of) => ['proposal ', proposalOf(of), ` ${resultOf(of.result)}`],
}

/** Events that begin with what they are about. */
const WHOLE: ReadonlySet<string> = new Set([governance.resolved, stake.validatorSet])

/** Events of an operation on another's candidacy. They are about their sender. */
const BY_SENDER: ReadonlySet<string> = new Set([stake.delegate, stake.undelegate])

/** An event, and the height of its block where that is known. */
interface ChainEvent {
  readonly type: string
  readonly attributes: Message
  readonly height?: number
}

/**
 * What an event says: `0x… joined the validator set`. About `self` it says `joined the validator set`: a view of one
 * validator need not name it in every row.
 */
export function eventWords({ type, attributes, height }: ChainEvent, self?: string): Words {
  const words = own<(of: never, height: number | undefined) => Words>(telling, type)
  if (words === undefined) return [type]
  if (WHOLE.has(type)) return words(attributes as never, height)
  const owner = BY_SENDER.has(type) ? '' : textOf(attributes, 'owner')
  const subject = owner === '' ? textOf(attributes, 'sender') : owner
  const said = words(attributes as never, height).filter((one) => one !== '')
  return subject === '' || subject === self
    ? said
    : [piece(owner === '' ? 'account' : 'validator', subject), ' ', ...said]
}
