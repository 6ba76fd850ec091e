import { parseProposalId, type ProposalId } from '../../../src/values/pubKey.ts'
import { describe, expect, test } from '@jest/globals'
import type { Signer } from '../../../src/tx/sign.ts'
import { proposals } from '../../../src/modules/governance/tables.ts'
import { account, GENESIS_TIME, type TestChain } from '../../support/testChain.ts'
import { change, deploy, fund, govChain, idOf, proposed, retire, shown, voted, voteOf } from './support.ts'

const resolvedBy = (chain: TestChain, id: string, heights: number): readonly unknown[] => {
  const events: unknown[] = []
  for (let at = 0; at < heights; at++) {
    const { response, height } = chain.block()
    for (const { type, attributes = [] } of response.events ?? []) {
      if (type === 'svc.governance.resolved' && attributes[0]?.value === id) events.push([height, attributes[1]?.value])
    }
  }
  return events
}

const KINDS: Readonly<
  Record<string, readonly [operation: string, height: string, timestamp: string | undefined, message: object]>
> = {
  change_param: ['proposeChangeParam', 'expireBlockHeight', 'expireTimestamp', change()],
  deploy_libeni: ['proposeDeployLibEni', 'deployBlockHeight', 'deployTimestamp', deploy()],
  retire_program: ['proposeRetireProgram', 'retiredBlockHeight', undefined, retire([1])],
  transfer_fund: ['proposeTransferFund', 'expireBlockHeight', 'expireTimestamp', fund(account(1), account(5), 7n)],
}

describe.each(Object.entries(KINDS))('%s', (type, [operation, heightName, timestampName, message]) => {
  const open = (chain: TestChain, extra: object): string =>
    proposed(chain, account(1), operation, { ...message, ...extra })

  test('is open with nothing resolved, and shows what was sent', () => {
    const chain = govChain([60, 40])
    const id = open(chain, { reason: 'because' })
    const { Detail, ...rest } = shown(chain, id)
    expect(rest).toEqual({
      Id: id,
      Type: type,
      Proposer: account(1).address,
      BlockHeight: 2,
      ExpireBlockHeight: 60482,
      CreatedAt: '2023-11-14T22:13:22Z',
      Result: '',
      ResultMsg: '',
      ResultBlockHeight: 0,
      ResultAt: '',
      Votes: [],
      Tally: { Yes: 0, No: 0, Total: 100 },
    })
    expect(Detail).toMatchObject({ reason: 'because' })
  })

  test('expires in exactly the block of its height, with the tally of then, once', () => {
    const chain = govChain([60, 40])
    const id = open(chain, { [heightName]: 5 })
    voted(chain, account(1), id)
    voted(chain, account(2), id, 'N')
    expect(chain.height).toBe(4)
    expect(shown(chain, id)['Result']).toBe('')
    expect(resolvedBy(chain, id, 5)).toEqual([[5, 'Expired']])
    expect(shown(chain, id)).toMatchObject({
      Result: 'Expired',
      ResultMsg: '',
      ResultBlockHeight: 5,
      ResultAt: '2023-11-14T22:13:25Z',
      Tally: { Yes: 60, No: 40, Total: 100 },
    })
  })

  // The interface gives a retirement no timestamp.
  if (timestampName !== undefined)
    test('expires in the first block whose time reaches its timestamp', () => {
      const chain = govChain([60, 40])
      const point = GENESIS_TIME + 12
      const id = open(chain, { [timestampName]: point })
      expect(shown(chain, id)).toMatchObject({ ExpireBlockHeight: 0, ExpireTimestamp: point })
      chain.block({ seconds: 9 }) // now 11 s after genesis
      expect(shown(chain, id)['Result']).toBe('')
      chain.block({ seconds: 1 })
      expect(shown(chain, id)).toMatchObject({ Result: 'Expired', ResultBlockHeight: 4 })
    })

  test('is rejected by two thirds that say N, in that block, and stays so at its point', () => {
    const chain = govChain([200, 100])
    const id = open(chain, { [heightName]: 6 })
    voted(chain, account(1), id, 'N')
    const rejected = { Result: 'Rejected', ResultMsg: '', ResultBlockHeight: 3, Tally: { Yes: 0, No: 200, Total: 300 } }
    expect(shown(chain, id)).toMatchObject(rejected)
    expect(resolvedBy(chain, id, 5)).toEqual([])
    expect(shown(chain, id)).toMatchObject(rejected)
  })

  test('is approved by two thirds that say Y, in that block', () => {
    const chain = govChain([200, 100])
    const id = open(chain, { [heightName]: 6 })
    voted(chain, account(1), id)
    const approved = {
      Result: 'Approved',
      ResultMsg: '',
      ResultBlockHeight: 3,
      ResultAt: '2023-11-14T22:13:23Z',
      Tally: { Yes: 200, No: 0, Total: 300 },
    }
    expect(shown(chain, id)).toMatchObject(approved)
    expect(resolvedBy(chain, id, 5)).toEqual([])
    expect(shown(chain, id)).toMatchObject(approved)
  })

  test('is approved at its point when the set of then gives its votes two thirds', () => {
    const chain = govChain([60, 40])
    const id = open(chain, { [heightName]: 8 })
    voted(chain, account(1), id)
    expect(chain.deliver(account(2), 'deactivateCandidacy').code).toBe(0)
    expect(shown(chain, id)['Result']).toBe('')
    expect(resolvedBy(chain, id, 4)).toEqual([[8, 'Approved']]) // and carried out in this very block
    expect(shown(chain, id)).toMatchObject({
      Result: 'Approved',
      ResultBlockHeight: 8,
      Tally: { Yes: 60, No: 0, Total: 60 },
    })
    expect(chain.store.get(proposals, { id: parseProposalId(id) as ProposalId })?.pending).toBe(false)
    const status = { deploy_libeni: 'collapsed', retire_program: 'success' }[type]
    expect(shown(chain, id).Detail['status']).toBe(status)
  })

  test('counts a vote in the block of its point', () => {
    const chain = govChain([60, 40])
    const id = open(chain, { [heightName]: 4 })
    voted(chain, account(1), id)
    voted(chain, account(2), id)
    expect(shown(chain, id)).toMatchObject({ Result: 'Approved', ResultBlockHeight: 4, Tally: { Yes: 100 } })
  })

  test('the vote that decides says so in its event, and all say the proposal', () => {
    const chain = govChain([60, 40])
    const made = chain.deliver(account(1), operation, message as Record<string, unknown>)
    const id = idOf(made)
    const name = (message as { name?: string }).name
    const attribute = (key: string, value: string) => ({ key, value, index: true })
    expect(made.events?.slice(0, 1)).toEqual([
      {
        type: `svc.governance.${operation}`,
        attributes: [
          attribute('sender', account(1).address),
          attribute('proposal_id', id),
          ...(name === undefined ? [] : [attribute('name', name)]),
        ],
      },
    ])
    const first = chain.deliver(account(2), 'vote', voteOf(id))
    expect(first).toMatchObject({ code: 0, log: '', gasWanted: 10, gasUsed: 10 })
    expect(first.data).toHaveLength(0)
    expect(first.events?.slice(0, 1)).toEqual([
      {
        type: 'svc.governance.vote',
        attributes: [attribute('sender', account(2).address), attribute('proposal_id', id)],
      },
    ])
    const last = chain.deliver(account(1), 'vote', voteOf(id))
    expect(last.events?.[0]?.attributes).toEqual([
      attribute('sender', account(1).address),
      attribute('proposal_id', id),
      attribute('result', 'Approved'),
    ])
  })
})

describe('the point of a proposal', () => {
  const HEIGHT = 2
  const TIME = GENESIS_TIME + 2
  const wrongHeight = [20, 'Invalid expire block height']
  const wrongTime = [20, 'Invalid expire timestamp']
  const points: [string, Record<string, unknown>, unknown][] = [
    ['none given: proposal_expire_period ahead', {}, [0, '']],
    ['the next block', { expireBlockHeight: HEIGHT + 1 }, [0, '']],
    ['this block', { expireBlockHeight: HEIGHT }, wrongHeight],
    ['height 0', { expireBlockHeight: 0 }, wrongHeight],
    ['1,000,000 blocks ahead', { expireBlockHeight: HEIGHT + 1_000_000 }, [0, '']],
    ['1,000,001 blocks ahead', { expireBlockHeight: HEIGHT + 1_000_001 }, wrongHeight],
    ['the largest height', { expireBlockHeight: Number.MAX_SAFE_INTEGER }, wrongHeight],
    ['the next second', { expireTimestamp: TIME + 1 }, [0, '']],
    ['this second', { expireTimestamp: TIME }, wrongTime],
    ['timestamp 0', { expireTimestamp: 0 }, wrongTime],
    ['10,000,000 s ahead', { expireTimestamp: TIME + 10_000_000 }, [0, '']],
    ['10,000,001 s ahead', { expireTimestamp: TIME + 10_000_001 }, wrongTime],
    ['both', { expireTimestamp: TIME + 1, expireBlockHeight: HEIGHT + 1 }, [20, 'Provide one expiration at most']],
    ['both, 0', { expireTimestamp: 0, expireBlockHeight: 0 }, [20, 'Provide one expiration at most']],
  ]
  test.each(points)('is a height or a timestamp, and not both: %s', (_name, extra, expected) => {
    const chain = govChain([100])
    const { code, log } = chain.deliver(account(1), 'proposeChangeParam', change(extra))
    expect([code, log]).toEqual(expected)
  })

  test('the default is the period in force in the block of the proposal', () => {
    const chain = govChain([100], { proposal_expire_period: 3 })
    const id = proposed(chain, account(1), 'proposeChangeParam', change())
    expect(shown(chain, id)['ExpireBlockHeight']).toBe(5)
  })
})

test('a block resolves its due proposals by their block, then their place, whatever their kind of point, each once', () => {
  const chain = govChain([60, 40])
  const due = 6
  const message = (timed: boolean): Record<string, unknown> =>
    change(timed ? { expireTimestamp: GENESIS_TIME + due } : { expireBlockHeight: due })
  const block = (senders: readonly (readonly [Signer, boolean])[]): string[] => {
    const nonces = new Map<Signer, number>()
    const txs = senders.map(([signer, timed]) => {
      const nonce = nonces.get(signer) ?? chain.nonceOf(signer)
      nonces.set(signer, nonce + 1)
      return chain.tx(signer, 'proposeChangeParam', message(timed), nonce)
    })
    return chain.block({ txs }).results.map(idOf)
  }
  const [one, two] = [account(1), account(2)]
  const ids = [
    ...block([
      [two, true],
      [one, false],
      [one, true],
    ]),
    ...block([
      [one, false],
      [two, true],
      [two, false],
    ]),
  ]
  chain.advanceTo(due - 1)
  const { events = [] } = chain.block().response
  expect(events.map(({ type, attributes = [] }) => [type, attributes[0]?.value, attributes[1]?.value])).toEqual(
    ids.map((id) => ['svc.governance.resolved', id, 'Expired']),
  )
  expect((chain.query('/governance/proposals') as { Id: string }[]).map(({ Id }) => Id)).toEqual(ids)
})
