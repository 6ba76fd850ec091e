import { describe, expect, test } from '@jest/globals'
import { account, nodeKey, type TestChain, tokens } from '../../support/testChain.ts'
import { balanceOf, bytesOf, done, eventsOf, failure, keyText, lacking, recordOf, startChain } from '../support.ts'

const still = { params: { inflation_rate: 0 } }
const FEE = 1_000_000n * 2_000_000_000n
const ask = (chain: TestChain, from: number, to: number) =>
  done(chain, account(from), 'updateCandidacyAccount', { newCandidateAccount: bytesOf(account(to)) })
const accept = (chain: TestChain, by: number, accountUpdateRequestId: number) =>
  done(chain, account(by), 'acceptCandidacyAccountUpdate', { accountUpdateRequestId })
const refusal = (chain: TestChain, by: number, accountUpdateRequestId: number): string =>
  failure(chain, account(by), 'acceptCandidacyAccountUpdate', { accountUpdateRequestId })
const statusOf = (chain: TestChain, id: number): unknown =>
  (chain.query(`/stake/account-update/${id}`) as { status: string }).status

describe('updateAccount', () => {
  test('a PENDING request is made, its id is the data as decimal text, and the candidacy stays as it was', () => {
    const chain = startChain([1000, 1000], still)
    const before = recordOf(chain, account(1))
    const result = ask(chain, 1, 5)
    expect(Buffer.from(result.data ?? []).toString('base64')).toBe('MQ==')
    expect(chain.query('/stake/account-update/1')).toEqual({
      id: 1,
      status: 'PENDING',
      from: account(1).address,
      to: account(5).address,
      pub_key: keyText(1),
    })
    expect(recordOf(chain, account(1))).toEqual(before)
    expect([result.gasUsed, balanceOf(chain, account(1))]).toEqual([1_000_000, tokens(100_000) - FEE])
    expect(eventsOf(result)).toEqual([
      `svc.stake.updateAccount sender=${account(1).address} owner=${account(1).address} request_id=1`,
    ])
  })

  test('ids count over the chain and a later request replaces the earlier one of the same candidacy only', () => {
    const chain = startChain([1000, 1000], still)
    ask(chain, 1, 5)
    ask(chain, 2, 5)
    expect(Buffer.from(ask(chain, 1, 6).data ?? []).toString()).toBe('3')
    expect([1, 2, 3].map((id) => statusOf(chain, id))).toEqual(['REPLACED', 'PENDING', 'PENDING'])
    expect(refusal(chain, 5, 1)).toBe('21 Bad request')
  })

  test.each([
    ['to the zero address', new Uint8Array(20)],
    ['to itself', bytesOf(account(1))],
    ['to an address with a live candidacy', bytesOf(account(2))],
  ])('a request %s is a bad request', (_what, newCandidateAccount) => {
    const chain = startChain([1000, 1000], still)
    expect(failure(chain, account(1), 'updateCandidacyAccount', { newCandidateAccount })).toBe('21 Bad request')
  })

  test('a request of a withdrawn candidacy is a bad request', () => {
    const chain = startChain([1000, 1000], still)
    done(chain, account(1), 'withdrawCandidacy')
    const request = { newCandidateAccount: bytesOf(account(6)) }
    expect(failure(chain, account(1), 'updateCandidacyAccount', request)).toBe('21 Bad request')
  })

  test('a withdrawn record of the new address is no hindrance', () => {
    const chain = startChain([1000, 1000], still)
    done(chain, account(2), 'withdrawCandidacy')
    ask(chain, 1, 2)
    expect(statusOf(chain, 1)).toBe('PENDING')
  })
})

describe('acceptAccountUpdate', () => {
  test('the new address pays the old one for the shares and owns the candidacy; the old address has none', () => {
    const chain = startChain([1000, 1000], still)
    const before = recordOf(chain, account(1))
    ask(chain, 1, 5)
    const result = accept(chain, 5, 1)
    expect(recordOf(chain, account(5))).toEqual({ ...before, ownerAddress: account(5).address, updatedAt: chain.time })
    expect([balanceOf(chain, account(1)), balanceOf(chain, account(5))]).toEqual([
      tokens(101_000) - FEE,
      tokens(99_000) - FEE,
    ])
    expect(chain.query(`/stake/validator/${account(1).address}`)).toBeNull()
    expect([statusOf(chain, 1), result.data ?? new Uint8Array(0), result.gasUsed]).toEqual([
      'COMPLETED',
      new Uint8Array(0),
      1_000_000,
    ])
    expect(eventsOf(result)).toEqual([
      `svc.stake.acceptAccountUpdate sender=${account(5).address} owner=${account(5).address} pub_key=${keyText(1)} request_id=1`,
    ])
    expect(refusal(chain, 5, 1)).toBe('21 Bad request')
  })

  test('who it is not asked of, who has a candidacy, and an unknown id are bad requests', () => {
    const chain = startChain([1000, 1000], still)
    ask(chain, 1, 5)
    expect(refusal(chain, 6, 1)).toBe('21 Bad request')
    expect(refusal(chain, 5, 2)).toBe('21 Bad request')
    expect(refusal(chain, 5, 0)).toBe('21 Bad request')
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    expect(refusal(chain, 5, 1)).toBe('21 Bad request')
  })

  test('a balance of shares and fee is enough; one unit less is insufficient bond shares', () => {
    const chain = startChain([1000, 1000], {
      ...still,
      accounts: [
        { address: account(1).address, balance: tokens(1) },
        { address: account(5).address, balance: tokens(1000) + FEE },
        { address: account(6).address, balance: tokens(1000) + FEE - 1n },
      ],
    })
    ask(chain, 1, 6)
    expect(refusal(chain, 6, 1)).toBe('20 Insufficient bond shares')
    const needed = tokens(1000) + FEE
    expect(lacking(chain, account(6), 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })).toBe(
      `${account(6).address} needs ${needed} (fee ${FEE}), has ${needed - 1n}`,
    )
    ask(chain, 1, 5)
    accept(chain, 5, 2)
    expect(balanceOf(chain, account(5))).toBe(0n)
  })

  test('a withdrawn record of the new address is replaced, and what it unbonds goes on', () => {
    const chain = startChain([1000, 700], still)
    done(chain, account(2), 'withdrawCandidacy')
    ask(chain, 1, 2)
    accept(chain, 2, 1)
    expect(recordOf(chain, account(2))).toMatchObject({ id: 1, withdrawn: false })
    expect(chain.query(`/stake/unbonding/${account(2).address}`)).toMatchObject([{ amount: String(tokens(700)) }])
    expect(chain.abciQuery('/store/candidacies/2').value).toEqual(new Uint8Array(0))
  })
})

describe('the pending requests of an address', () => {
  const idsOf = (chain: TestChain, number: number, search = ''): readonly number[] =>
    (chain.query(`/stake/account-updates/${account(number).address}${search}`) as { id: number }[]).map(({ id }) => id)

  test('are those that it made or may accept, the newest first, each as its id shows it', () => {
    const chain = startChain([1000, 1000, 1000], still)
    ask(chain, 1, 5)
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    ask(chain, 5, 9)
    done(chain, account(5), 'withdrawCandidacy')
    ask(chain, 2, 5)
    ask(chain, 3, 6)
    expect([1, 2, 3, 5, 6, 9, 20].map((number) => idsOf(chain, number))).toEqual([[1], [3], [4], [3, 1], [4], [], []])
    expect(chain.query(`/stake/account-updates/${account(6).address}`)).toEqual([
      chain.query('/stake/account-update/4'),
    ])
  })

  test('its own request stands in the order of the ids', () => {
    const chain = startChain([1000, 1000, 1000], still)
    ask(chain, 1, 5)
    done(chain, account(5), 'declareCandidacy', { pubKey: nodeKey(5) })
    ask(chain, 5, 9)
    done(chain, account(5), 'withdrawCandidacy')
    ask(chain, 2, 5)
    done(chain, account(5), 'activateCandidacy')
    ask(chain, 5, 9)
    expect(idsOf(chain, 5)).toEqual([4, 3, 1])
    expect([idsOf(chain, 5, '?limit=2'), idsOf(chain, 5, '?offset=2'), idsOf(chain, 5, '?limit=0')]).toEqual([
      [4, 3],
      [1],
      [],
    ])
    expect(idsOf(chain, 9)).toEqual([4])
  })

  test('no longer has one that was replaced, completed or cancelled', () => {
    const chain = startChain([1000, 1000, 1000], still)
    for (const number of [1, 2, 3]) ask(chain, number, 5)
    ask(chain, 1, 6)
    done(chain, account(2), 'withdrawCandidacy')
    expect(idsOf(chain, 5)).toEqual([3])
    accept(chain, 5, 3)
    expect([1, 2, 3, 5, 6].map((number) => idsOf(chain, number))).toEqual([[4], [], [], [], [4]])
  })

  test('a malformed address or option is refused', () => {
    const chain = startChain([1000], still)
    for (const path of ['0x12', '', `${account(1).address}?limit=x`, `${account(1).address}?newest=true`]) {
      expect(chain.abciQuery(`/stake/account-updates/${path}`)).toMatchObject({
        code: 20,
        log: expect.stringMatching(/^Invalid parameter: (address|limit|newest): expected /),
      })
    }
  })
})

describe('verify', () => {
  const foundation = account(20)
  const verify = { candidateAddress: bytesOf(account(1)), verified: 'Y' }

  test('the foundation sets verified both ways, at no cost', () => {
    const chain = startChain([1000], {
      ...still,
      stake: { foundation_address: foundation.address.toUpperCase().replace('0X', '0x') },
    })
    const result = done(chain, foundation, 'verifyCandidacy', verify)
    expect(recordOf(chain, account(1))).toMatchObject({ verified: true, updatedAt: chain.time })
    expect([result.gasUsed, eventsOf(result)]).toEqual([
      0,
      [`svc.stake.verify sender=${foundation.address} owner=${account(1).address} pub_key=${keyText(1)}`],
    ])
    done(chain, foundation, 'verifyCandidacy', { ...verify, verified: 'N' })
    expect(recordOf(chain, account(1)).verified).toBe(false)
  })

  test('errors win in the order: form, sender, candidacy', () => {
    const chain = startChain([1000], { ...still, stake: { foundation_address: foundation.address } })
    expect(failure(chain, account(1), 'verifyCandidacy', { ...verify, verified: 'y' })).toBe(
      '20 Invalid parameter: verified: expected Y or N, got "y"',
    )
    expect(failure(chain, account(1), 'verifyCandidacy', { ...verify, candidateAddress: bytesOf(account(9)) })).toBe(
      '3 Verification disallowed',
    )
    expect(failure(chain, foundation, 'verifyCandidacy', { ...verify, candidateAddress: bytesOf(account(9)) })).toBe(
      '5 unknown candidacy',
    )
  })

  test('a withdrawn candidacy is unknown, and without a foundation nobody verifies', () => {
    const chain = startChain([1000, 1000], { ...still, stake: { foundation_address: foundation.address } })
    done(chain, account(1), 'withdrawCandidacy')
    expect(failure(chain, foundation, 'verifyCandidacy', verify)).toBe('5 unknown candidacy')
    expect(failure(startChain([1000], still), account(1), 'verifyCandidacy', verify)).toBe('3 Verification disallowed')
  })
})
