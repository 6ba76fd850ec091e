import { defineEvent } from '../event.ts'
import { AWARD_EVENT_BLOCKS } from '../shownRules.ts'

/** What names a candidacy. */
export const CANDIDACY = ['owner', 'pub_key'] as const

/** What blocks do to candidacies and to the validator set; the events of operations stand with them. Source: protocol.md §9. */
export const stakeEvents = {
  validatorSet: defineEvent({
    type: 'svc.stake.validator_set',
    attributes: ['changed'],
    doc: 'The powers of so many keys changed.',
  }),
  joined: defineEvent({
    type: 'svc.stake.joined',
    attributes: CANDIDACY,
    doc: 'A key joined the validator set.',
  }),
  left: defineEvent({
    type: 'svc.stake.left',
    attributes: CANDIDACY,
    doc: 'A key left the validator set.',
  }),
  removed: defineEvent({
    type: 'svc.stake.removed',
    attributes: ['owner', 'reason'],
    doc: 'A candidacy became inactive; the reason is absence or misbehaviour.',
  }),
  absent: defineEvent({
    type: 'svc.stake.absent',
    attributes: ['owner'],
    doc: 'A candidacy missed a commit, the first that is counted in a row.',
  }),
  present: defineEvent({
    type: 'svc.stake.present',
    attributes: ['owner', 'missed'],
    doc: 'A candidacy signed again, after so many counted misses.',
  }),
  unbonded: defineEvent({
    type: 'svc.stake.unbonded',
    attributes: ['owner', 'amount'],
    doc: 'Shares were paid out to their owner, or a delegation to the delegator, after unbonding, in base units.',
  }),
  award: defineEvent({
    type: 'svc.stake.award',
    attributes: ['owner', 'amount'],
    optional: ['delegated'],
    doc:
      `What a block whose height is a multiple of ${AWARD_EVENT_BLOCKS} paid to an owner, ` +
      'and to those who delegate to it, in base units.',
  }),
} as const
