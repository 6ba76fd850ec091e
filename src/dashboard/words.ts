/**
 * What happens on the chain, in words: operations as what they ask for (`send 5 token to …`), events as what became of
 * it (`joined the validator set`). Both begin in lower case and leave out who did it, so that a view can put a name
 * before them or begin a sentence with them.
 */

import { type EventAttributes, events, type EventType } from '../client/gen/events.ts'

/** A piece of such words: plain text, or a thing that a view shows in its own way. */
export type Piece =
  | string
  | {
      readonly kind:
        | 'account'
        | 'validator'
        | 'key'
        | 'tokens'
        | 'proposal'
        | 'request'
        | 'parameter'
        | 'height'
        | 'stranger'
      readonly value: string
    }

/** What happened or is asked for, piece by piece. */
export type Words = readonly Piece[]

type Fields = Readonly<Record<string, unknown>>

const textOf = (fields: Fields, name: string): string => {
  const value = fields[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

const piece = (kind: Exclude<Piece, string>['kind'], value: string): Piece => ({ kind, value })

/** The parts of a candidacy that an update changes. */
const UPDATED: Readonly<Record<string, string>> = {
  pubKey: 'its key',
  description: 'its description',
  maxAmount: 'the most shares it may hold',
  compRate: 'its compensation rate',
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

function updateWords(message: Fields): Words {
  const changed = Object.keys(UPDATED).filter((name) => message[name] !== undefined && message[name] !== null)
  return changed.length === 0
    ? ['update the candidacy without a change']
    : [`update the candidacy: ${listed(changed.map((name) => UPDATED[name] as string))}`]
}

function declareWords({ description }: Fields): Words {
  const name = textOf((description ?? {}) as Fields, 'name')
  return name === '' ? ['declare a candidacy'] : ['declare the candidacy ', piece('stranger', name)]
}

function keepWords(message: Fields): Words {
  const count = textOf(message, 'preservedValidators').split(',').length
  return [`propose to retire the program and to keep ${count === 1 ? 'one validator' : `${count} validators`}`]
}

const library = (message: Fields): Piece =>
  piece('stranger', `${textOf(message, 'name')} ${textOf(message, 'version')}`.trim())

const answers: Readonly<Record<string, string>> = { Y: 'yes', N: 'no' }

interface Operation {
  /** Its name in a title: `Transfer`. */
  readonly title: string
  readonly words: (message: Fields) => Words
}

const operations: Readonly<Record<string, Operation>> = {
  transfer: {
    title: 'Transfer',
    words: (message) => [
      'send ',
      piece('tokens', textOf(message, 'value')),
      ' to ',
      piece('account', textOf(message, 'to')),
    ],
  },
  declareCandidacy: { title: 'Declare', words: declareWords },
  updateCandidacy: { title: 'Update', words: updateWords },
  withdrawCandidacy: { title: 'Withdraw', words: () => ['withdraw the candidacy'] },
  activateCandidacy: { title: 'Activate', words: () => ['activate the candidacy'] },
  deactivateCandidacy: { title: 'Deactivate', words: () => ['deactivate the candidacy'] },
  updateCandidacyAccount: {
    title: 'Hand over',
    words: (message) => ['offer the candidacy to ', piece('account', textOf(message, 'newCandidateAccount'))],
  },
  acceptCandidacyAccountUpdate: {
    title: 'Accept',
    words: (message) => [
      'take over the candidacy of request ',
      piece('request', textOf(message, 'accountUpdateRequestId')),
    ],
  },
  verifyCandidacy: {
    title: 'Verify',
    words: (message) => [
      'mark ',
      piece('validator', textOf(message, 'candidateAddress')),
      textOf(message, 'verified') === 'Y' ? ' as verified' : ' as not verified',
    ],
  },
  proposeChangeParam: {
    title: 'Propose a parameter',
    words: (message) => [
      'propose to set ',
      piece('parameter', textOf(message, 'name')),
      ' to ',
      piece('stranger', textOf(message, 'value')),
    ],
  },
  proposeDeployLibEni: {
    title: 'Propose a library',
    words: (message) => ['propose to deploy the library ', library(message)],
  },
  proposeRetireProgram: { title: 'Propose to retire', words: keepWords },
  proposeUpgradeProgram: {
    title: 'Propose an upgrade',
    words: (message) => ['propose to upgrade the program to ', library(message)],
  },
  proposeTransferFund: {
    title: 'Propose a payment',
    words: (message) => [
      'propose to pay ',
      piece('tokens', textOf(message, 'amount')),
      ' from ',
      piece('account', textOf(message, 'transferFrom')),
      ' to ',
      piece('account', textOf(message, 'transferTo')),
    ],
  },
  vote: {
    title: 'Vote',
    words: (message) => {
      const answer = textOf(message, 'answer')
      return [
        'vote ',
        answers[answer] ?? piece('stranger', answer),
        ' on ',
        piece('proposal', textOf(message, 'proposalId')),
      ]
    },
  },
}

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** The name of an operation as titles and columns have it. `operation`: null for bytes that are no transaction. */
export const operationTitle = (operation: string | null): string =>
  operation === null ? 'No transaction' : (own(operations, operation)?.title ?? operation)

/** What an operation asks the chain to do: `send 5 token to 0x…`. */
export function operationWords(operation: string | null, message: Fields | null): Words {
  if (operation === null) return ['bytes that are no transaction']
  return own(operations, operation)?.words(message ?? {}) ?? [operation]
}

/** The fields of operations as a view names them. */
const FIELDS: Readonly<Record<string, string>> = {
  to: 'To',
  value: 'Value',
  pubKey: 'Public key',
  description: 'Description',
  maxAmount: 'Max shares',
  compRate: 'Compensation rate',
  newCandidateAccount: 'New owner',
  accountUpdateRequestId: 'Request',
  candidateAddress: 'Candidate',
  verified: 'Verified',
  name: 'Name',
  version: 'Version',
  fileUrl: 'Files',
  md5: 'MD5',
  reason: 'Reason',
  preservedValidators: 'Validators kept',
  transferFrom: 'From',
  transferTo: 'To',
  amount: 'Amount',
  proposalId: 'Proposal',
  answer: 'Answer',
  expireBlockHeight: 'Expires at block',
  expireTimestamp: 'Expires at',
  deployBlockHeight: 'Deployed at block',
  deployTimestamp: 'Deployed at',
  retiredBlockHeight: 'Retires at block',
  upgradeBlockHeight: 'Upgrades at block',
}

/** The name of a field of an operation. */
export const fieldTitle = (name: string): string => own(FIELDS, name) ?? name

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
  [stake.joined]: (of) => ['joined the validator set with the key ', piece('key', of.pub_key)],
  [stake.left]: (of) => ['left the validator set with the key ', piece('key', of.pub_key)],
  [stake.absent]: (_, height) => missedOne(height),
  [stake.present]: ({ missed }) => [missedWords(missed)],
  [stake.removed]: ({ reason }) => [`was removed from the active ones ${own(REASONS, reason) ?? reason}`],
  [stake.unbonded]: ({ amount }) => ['was paid ', piece('tokens', amount), ' after unbonding'],
  [stake.award]: ({ amount }) => ['was paid ', piece('tokens', amount), ' as the award of this block'],
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

/** An event, and the height of its block where that is known. */
interface ChainEvent {
  readonly type: string
  readonly attributes: Fields
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
  const owner = textOf(attributes, 'owner')
  const subject = owner === '' ? textOf(attributes, 'sender') : owner
  const said = words(attributes as never, height).filter((one) => one !== '')
  return subject === '' || subject === self
    ? said
    : [piece(owner === '' ? 'account' : 'validator', subject), ' ', ...said]
}

/** The words as a text, for CSV and titles; `printTokens` writes an amount in base units. */
export const plainText = (words: Words, printTokens: (units: string) => string): string =>
  words
    .map((one) =>
      typeof one === 'string' ? one : one.kind === 'tokens' ? `${printTokens(one.value)} token` : one.value,
    )
    .join('')

/** The same words with a capital at the beginning, as a sentence begins. */
export function capitalised([first, ...rest]: Words): Words {
  if (first === undefined) return []
  return typeof first === 'string' ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : [first, ...rest]
}
