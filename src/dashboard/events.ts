import { type EventAttributes, events, type EventType } from '../client/gen/events.ts'
import { operationEvents, type OperationEvents, type OperationName } from '../client/gen/forms.ts'
import { happened } from './operations/index.ts'
import { type Message, proposalOf, resultOf, textOf } from './operations/operation.ts'
import { piece, type Words } from './pieces.ts'

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const REASONS: Readonly<Record<string, string>> = {
  absence: 'because it missed too many blocks in a row',
  misbehaviour: 'because it signed what it must not; a part of its shares was burned',
}

/** Why a candidacy was removed from the active ones, in words: `because …`. */
export const whyRemoved = (reason: string): string => own(REASONS, reason) ?? reason

const missedWords = (missed: string): string =>
  missed === '1' ? 'signed again after one missed block' : `signed again after ${missed} missed blocks`

/** A block learns of the missed one from the commit that it carries: that of the block before. */
const missedOne = (height: number | undefined): Words =>
  height === undefined ? ['missed a block'] : ['missed block ', piece('height', String(height - 1))]

const { stake, governance } = events

/** The events that blocks emit: those of operations have their words in the files of the operations. */
type OfBlocks = Exclude<EventType, OperationEvents[OperationName]>

/** An event is about the owner of a candidacy or a sender, except those that name their subject themselves. */
const telling: { readonly [T in OfBlocks]: (of: EventAttributes[T], height: number | undefined) => Words } = {
  [stake.joined]: (of) => ['joined the validator set with the key ', piece('key', of.pub_key)],
  [stake.left]: (of) => ['left the validator set with the key ', piece('key', of.pub_key)],
  [stake.absent]: (_, height) => missedOne(height),
  [stake.present]: ({ missed }) => [missedWords(missed)],
  [stake.removed]: ({ reason }) => [`was removed from the active ones ${whyRemoved(reason)}`],
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

function wordsOf({ type, attributes, height }: ChainEvent): Words | undefined {
  const operation = own<OperationName>(operationEvents, type)
  if (operation !== undefined) return happened(operation, attributes)
  return own<(of: never, height: number | undefined) => Words>(telling, type)?.(attributes as never, height)
}

/**
 * What an event says: `0x… joined the validator set`. About `self` it says `joined the validator set`: a view of one
 * validator need not name it in every row.
 */
export function eventWords(event: ChainEvent, self?: string): Words {
  const { type, attributes } = event
  const words = wordsOf(event)
  if (words === undefined) return [type]
  if (WHOLE.has(type)) return words
  const owner = BY_SENDER.has(type) ? '' : textOf(attributes, 'owner')
  const subject = owner === '' ? textOf(attributes, 'sender') : owner
  const said = words.filter((one) => one !== '')
  return subject === '' || subject === self
    ? said
    : [piece(owner === '' ? 'account' : 'validator', subject), ' ', ...said]
}
