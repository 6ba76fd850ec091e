import { pubKeyOf } from '../../src/values/pubKey.ts'
import { describe, expect, test } from '@jest/globals'
import { account, type TestChain, nodeKey } from '../support/testChain.ts'
import { conformanceChain, keyText, NOBODY, perform, proposalOf, succeed, validatorOf } from './support.ts'

const [owner, second, third, newcomer, heir, poor] = [1, 2, 3, 4, 5, 6].map(account) as [
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
]
const refusal = (code: number, log: string): object => ({ code, log, data: '', height: 0 })

describe('candidacy moves', () => {
  test('no candidacy, declare: it exists, its owner is the sender, who paid the self-stake; a declared pubKey is refused', () => {
    const chain = conformanceChain()
    const before = BigInt((chain.query(`/accounts/${newcomer.address}`) as { balance: string }).balance)
    succeed(chain, newcomer, 'svc_declareCandidacy', { pubKey: keyText(4) })
    expect(validatorOf(chain, newcomer)).toMatchObject({
      owner_address: newcomer.address,
      pub_key: { value: keyText(4) },
      active: 'Y',
    })
    const after = BigInt((chain.query(`/accounts/${newcomer.address}`) as { balance: string }).balance)
    expect(before - after).toBe(1000n * 10n ** 18n + 1_000_000n * 2_000_000_000n)
    expect(perform(chain, heir, 'svc_declareCandidacy', { pubKey: keyText(4) })).toEqual(
      refusal(1, 'pubkey has been declared'),
    )
    expect(validatorOf(chain, heir)).toBeNull()
  })

  test('candidacy exists, update: only what is given changes; a description sets verified N; without a candidacy it is refused', () => {
    const chain = conformanceChain()
    succeed(chain, account(9), 'svc_verifyCandidacy', { candidateAddress: owner.address, verified: 'Y' })
    const before = validatorOf(chain, owner) as object
    succeed(chain, owner, 'svc_updateCandidacy', { compRate: '0.25' })
    const moving = { shares: expect.any(String), updated_at: expect.any(String) }
    expect(validatorOf(chain, owner)).toEqual({ ...before, ...moving, comp_rate: '0.25', verified: 'Y' })
    succeed(chain, owner, 'svc_updateCandidacy', { description: { name: 'one' } })
    expect(validatorOf(chain, owner)).toMatchObject({ verified: 'N', description: { name: 'one' } })
    expect(perform(chain, poor, 'svc_updateCandidacy', {})).toEqual(refusal(1, 'cannot edit non-exsits candidacy'))
  })

  test('candidacy exists, withdraw: it is withdrawn and its key free for its owner; a second withdraw is refused', () => {
    const chain = conformanceChain()
    succeed(chain, third, 'svc_withdrawCandidacy')
    expect(validatorOf(chain, third)).toMatchObject({ state: 'Withdrawn', shares: '0', active: 'N', rank: -1 })
    expect(perform(chain, third, 'svc_withdrawCandidacy')).toEqual(refusal(1, 'cannot withdraw non-exsits candidacy'))
    succeed(chain, third, 'svc_declareCandidacy', { pubKey: keyText(3) })
  })

  test('active validator, deactivate: it leaves the set; a second deactivate is refused', () => {
    const chain = conformanceChain()
    succeed(chain, third, 'svc_deactivateCandidacy')
    expect(validatorOf(chain, third)).toMatchObject({ active: 'N', state: 'Candidate', voting_power: 0 })
    expect(perform(chain, third, 'svc_deactivateCandidacy')).toEqual(refusal(1, 'already deactivated'))
  })

  test('removed or deactivated validator, activate: both are active again; a second activate is refused', () => {
    const chain = conformanceChain()
    succeed(chain, second, 'svc_deactivateCandidacy')
    // 120 blocks without a signature remove the third.
    while ((validatorOf(chain, third) as { active: string }).active === 'Y')
      chain.block({ absent: [pubKeyOf(nodeKey(3))] })
    expect(chain.height).toBeGreaterThan(119)
    for (const one of [second, third]) {
      succeed(chain, one, 'svc_activateCandidacy')
      expect(validatorOf(chain, one)).toMatchObject({ active: 'Y', state: 'Validator' })
      expect(perform(chain, one, 'svc_activateCandidacy')).toEqual(refusal(1, 'already activated'))
    }
  })

  test('binding address A, updateAccount: the binding address stays until the new one accepts, and the request id is returned', () => {
    const chain = conformanceChain()
    const { data } = succeed(chain, third, 'svc_updateCandidacyAccount', { newCandidateAccount: heir.address })
    expect(data).toBe(Buffer.from('1').toString('base64'))
    expect(validatorOf(chain, third)).toMatchObject({ owner_address: third.address })
    expect(validatorOf(chain, heir)).toBeNull()
    expect(perform(chain, poor, 'svc_updateCandidacyAccount', { newCandidateAccount: heir.address })).toEqual(
      refusal(21, 'Bad request'),
    )
    const zero = { newCandidateAccount: `0x${'0'.repeat(40)}` }
    expect(perform(chain, third, 'svc_updateCandidacyAccount', zero)).toEqual(refusal(21, 'Bad request'))
  })

  test('update pending, acceptAccountUpdate: the new address is bound; one that cannot pay for the shares is refused', () => {
    const chain = conformanceChain()
    succeed(chain, third, 'svc_updateCandidacyAccount', { newCandidateAccount: poor.address })
    succeed(chain, poor, 'svc_transfer', { to: NOBODY, value: (90_000n * 10n ** 18n).toString() })
    const accept = { accountUpdateRequestId: 1 }
    expect(perform(chain, poor, 'svc_acceptCandidacyAccountUpdate', accept)).toEqual(
      refusal(20, 'Insufficient bond shares'),
    )
    succeed(chain, third, 'svc_updateCandidacyAccount', { newCandidateAccount: heir.address })
    succeed(chain, heir, 'svc_acceptCandidacyAccountUpdate', { accountUpdateRequestId: 2 })
    expect(validatorOf(chain, heir)).toMatchObject({ owner_address: heir.address, pub_key: { value: keyText(3) } })
    expect(validatorOf(chain, third)).toBeNull()
  })
})

describe('proposal moves', () => {
  const propose = (chain: TestChain, more: object = {}): string =>
    succeed(chain, owner, 'svc_proposeChangeParam', { name: 'max_vals', value: '9', ...more }).data

  test('none, any propose operation: unresolved with the ProposalID returned; who is no validator is refused', () => {
    const chain = conformanceChain()
    expect(proposalOf(chain, propose(chain))).toMatchObject({
      Result: '',
      ResultMsg: '',
      ResultBlockHeight: 0,
      ResultAt: '',
    })
    const files = { fileUrl: '{"ubuntu":["https://example.com/a"]}', md5: `{"ubuntu":"${'0'.repeat(32)}"}` }
    const calls: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      ['svc_proposeChangeParam', { name: 'max_vals', value: '9' }],
      ['svc_proposeDeployLibEni', { name: 'a', version: 'v1.0.0', ...files }],
      ['svc_proposeRetireProgram', { preservedValidators: keyText(1) }],
      ['svc_proposeTransferFund', { transferFrom: owner.address, transferTo: heir.address, amount: '1' }],
    ]
    for (const [method, members] of calls) {
      expect(perform(chain, newcomer, method, members)).toEqual(refusal(20, 'Invalid validator'))
      const { data } = succeed(chain, owner, method, members)
      expect(proposalOf(chain, data)).toMatchObject({ Result: '', Proposer: owner.address, BlockHeight: chain.height })
    }
  })

  test('unresolved, vote: it is recorded and decides at two thirds of the power; who is no validator is refused', () => {
    const chain = conformanceChain()
    const [yes, no] = [propose(chain), propose(chain)]
    expect(perform(chain, newcomer, 'svc_vote', { proposalId: yes, answer: 'Y' })).toEqual(
      refusal(20, 'Invalid validator'),
    )
    succeed(chain, owner, 'svc_vote', { proposalId: yes, answer: 'Y' })
    succeed(chain, owner, 'svc_vote', { proposalId: no, answer: 'N' })
    expect([proposalOf(chain, yes)['Result'], proposalOf(chain, no)['Result']]).toEqual(['', ''])
    expect(succeed(chain, second, 'svc_vote', { proposalId: yes, answer: 'Y' }).data).toBe('')
    succeed(chain, second, 'svc_vote', { proposalId: no, answer: 'N' })
    expect([proposalOf(chain, yes)['Result'], proposalOf(chain, no)['Result']]).toEqual(['Approved', 'Rejected'])
  })

  test('unresolved, expiry block reached: Result is Expired and ResultBlockHeight the expiry block, not one earlier', () => {
    const chain = conformanceChain()
    const expireBlockHeight = chain.height + 6
    const id = propose(chain, { expireBlockHeight })
    chain.advanceTo(expireBlockHeight - 1)
    expect(proposalOf(chain, id)).toMatchObject({ Result: '', ResultBlockHeight: 0 })
    chain.block()
    expect(proposalOf(chain, id)).toMatchObject({ Result: 'Expired', ResultBlockHeight: expireBlockHeight })
  })
})
