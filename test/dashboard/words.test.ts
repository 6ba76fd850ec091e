import './browser.ts'
import { describe, expect, test } from '@jest/globals'
import { eventWords } from '../../src/dashboard/events.ts'
import { labelOf, operationTitle, operationWords } from '../../src/dashboard/operations/index.ts'
import { capitalised, plainText, type Words } from '../../src/dashboard/pieces.ts'
import { eventEntries, isIndexEvent, txEntries } from '../../src/modules/registry.ts'

const text = (words: Words): string => plainText(capitalised(words), (units) => units)

const ALICE = `0x${'a'.repeat(40)}`
const BOB = `0x${'b'.repeat(40)}`
const ID = `${'A'.repeat(43)}=`

describe('words', () => {
  test('every operation of the chain has a title, words and titles of its fields', () => {
    for (const { operation, input } of txEntries) {
      expect(operationTitle(operation)).not.toBe(operation)
      expect(operationWords(operation, {})).not.toEqual([operation])
      for (const name of Object.keys(input)) expect([name, labelOf(operation, name)]).not.toEqual([name, name])
    }
  })

  test('every event of the chain that says what happened has words', () => {
    const types = eventEntries.filter((event) => !isIndexEvent(event)).map(({ type }) => type)
    expect(types.filter((type) => eventWords({ type, attributes: { owner: ALICE } })[0] === type)).toEqual([])
  })

  test.each([
    ['transfer', { to: BOB, value: '5' }, `Send 5 token to ${BOB}`],
    ['vote', { proposalId: ID, answer: 'N' }, `Vote no on ${ID}`],
    ['vote', { proposalId: ID, answer: '<b>' }, `Vote <b> on ${ID}`],
    ['proposeChangeParam', { name: 'gas_price', value: '3' }, 'Propose to set gas_price to 3'],
    ['proposeChangeParam', { name: 'gas_price', value: '1500000000' }, 'Propose to set gas_price to 1,500,000,000'],
    ['declareCandidacy', { pubKey: ID, description: { name: 'Alice' } }, 'Declare the candidacy Alice'],
    ['declareCandidacy', { pubKey: ID }, 'Declare a candidacy'],
    [
      'updateCandidacy',
      { maxAmount: '5', compRate: '0.1' },
      'Update the candidacy: the most shares it may hold and its commission',
    ],
    ['updateCandidacy', {}, 'Update the candidacy without a change'],
    ['verifyCandidacy', { candidateAddress: BOB, verified: 'N' }, `Mark ${BOB} as not verified`],
    [
      'proposeRetireProgram',
      { preservedValidators: `${ID},${ID}` },
      'Propose to retire the program and to keep 2 validators',
    ],
    ['somethingNewer', { to: BOB }, 'SomethingNewer'],
    ['constructor', {}, 'Constructor'],
    [null, null, 'Bytes that are no transaction'],
  ])('%s %j', (operation, message, expected) => {
    expect(text(operationWords(operation, message))).toBe(expected)
  })

  test.each([
    ['svc.stake.joined', { owner: ALICE, pub_key: ID }, `${ALICE} joined the validator set with the key ${ID}`],
    ['svc.stake.absent', { owner: ALICE }, `${ALICE} missed block 4`],
    ['svc.stake.present', { owner: ALICE, missed: '3' }, `${ALICE} signed again after 3 missed blocks`],
    [
      'svc.stake.removed',
      { owner: ALICE, reason: 'absence' },
      `${ALICE} was removed from the active ones because it missed too many blocks in a row`,
    ],
    ['svc.stake.unbonded', { owner: ALICE, amount: '7' }, `${ALICE} was paid 7 token after unbonding`],
    ['svc.stake.validator_set', { changed: '1' }, 'One power of the validator set changed'],
    ['svc.governance.resolved', { proposal_id: ID, result: 'Expired' }, `Proposal ${ID} expired`],
    ['svc.governance.vote', { sender: ALICE, proposal_id: ID }, `${ALICE} voted on ${ID}`],
    [
      'svc.governance.vote',
      { sender: ALICE, proposal_id: ID, result: 'Approved' },
      `${ALICE} voted on ${ID}, which was approved with this vote`,
    ],
    ['svc.stake.somethingNewer', { owner: ALICE }, 'Svc.stake.somethingNewer'],
  ])('%s %j', (type, attributes, expected) => {
    expect(text(eventWords({ type, attributes, height: 5 }))).toBe(expected)
  })

  test('an event does not name the validator whose view it stands in, but any other one', () => {
    expect(text(eventWords({ type: 'svc.stake.withdraw', attributes: { owner: ALICE } }, ALICE))).toBe(
      'Withdrew the candidacy',
    )
    expect(text(eventWords({ type: 'svc.stake.withdraw', attributes: { owner: BOB } }, ALICE))).toBe(
      `${BOB} withdrew the candidacy`,
    )
  })

  test('what strangers wrote stays a piece of its own', () => {
    expect(operationWords('proposeChangeParam', { name: 'x', value: '<script>' })).toContainEqual({
      kind: 'stranger',
      value: '<script>',
    })
  })
})
