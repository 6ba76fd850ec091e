/** What blocks do to candidacies and to the validator set; the events of operations stand with them. Source: protocol.md §9. */
import { defineEvent, type EventEntry } from '../event.ts'
import { AWARD_EVENT_BLOCKS } from '../shownRules.ts'

/** What names a candidacy. */
export const CANDIDACY = ['owner', 'pub_key'] as const

/** The powers of so many keys changed. */
export const validatorSetEvent = defineEvent({
  type: 'svc.stake.validator_set',
  attributes: ['changed'],
  doc: 'The powers of so many keys changed.',
})

/** A key joined the validator set. */
export const joinedEvent = defineEvent({
  type: 'svc.stake.joined',
  attributes: CANDIDACY,
  doc: 'A key joined the validator set.',
})

/** A key left the validator set. */
export const leftEvent = defineEvent({
  type: 'svc.stake.left',
  attributes: CANDIDACY,
  doc: 'A key left the validator set.',
})

/** A candidacy became inactive; the reason is absence or misbehaviour. */
export const removedEvent = defineEvent({
  type: 'svc.stake.removed',
  attributes: ['owner', 'reason'],
  doc: 'A candidacy became inactive; the reason is absence or misbehaviour.',
})

/** A candidacy missed a commit, after one that it signed. */
export const absentEvent = defineEvent({
  type: 'svc.stake.absent',
  attributes: ['owner'],
  doc: 'A candidacy missed a commit, after one that it signed.',
})

/** A candidacy signed again, after so many commits that it missed. */
export const presentEvent = defineEvent({
  type: 'svc.stake.present',
  attributes: ['owner', 'missed'],
  doc: 'A candidacy signed again, after so many commits that it missed.',
})

/** Shares or a delegation were paid out after unbonding, in base units. */
export const unbondedEvent = defineEvent({
  type: 'svc.stake.unbonded',
  attributes: ['owner', 'amount'],
  doc: 'Shares were paid out to their owner, or a delegation to the delegator, after unbonding, in base units.',
})

/** What a block whose height is a multiple of AWARD_EVENT_BLOCKS paid to an owner, and to those who delegate to it, in base units. */
export const awardEvent = defineEvent({
  type: 'svc.stake.award',
  attributes: ['owner', 'amount'],
  optional: ['delegated'],
  doc: `What a block whose height is a multiple of ${AWARD_EVENT_BLOCKS} paid to an owner, and to those who delegate to it, in base units.`,
})

/** All of them. */
export const stakeEvents: readonly EventEntry[] = [
  validatorSetEvent,
  joinedEvent,
  leftEvent,
  removedEvent,
  absentEvent,
  presentEvent,
  unbondedEvent,
  awardEvent,
]
