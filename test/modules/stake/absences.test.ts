import { describe, expect, test } from '@jest/globals'
import { account, type TestChain } from '../../support/testChain.ts'
import { bytesOf, key, keyText, startChain } from '../support.ts'

const params = { inflation_rate: 0, gas_price: 0, stake_limit: '1' }

const rowOf = (owner: number, absent: number, pubKey = owner) => ({
  pub_key: { type: 'tendermint/PubKeyEd25519', value: keyText(pubKey) },
  owner_address: account(owner).address,
  absent_blocks: absent,
})

const asked = (chain: TestChain, search = ''): unknown => chain.query(`/stake/absences${search}`)

/** Rows as the chain orders them: by the bytes of the keys. */
const ordered = (...rows: readonly ReturnType<typeof rowOf>[]) =>
  [...rows].sort((a, b) =>
    Buffer.compare(Buffer.from(a.pub_key.value, 'base64'), Buffer.from(b.pub_key.value, 'base64')),
  )

describe('/stake/absences', () => {
  test('has each member of the set with the blocks that it missed in a row, and nobody else', () => {
    const chain = startChain([1000, 500, 400, 300, 200], { params })
    expect(asked(chain)).toEqual(ordered(rowOf(1, 0), rowOf(2, 0), rowOf(3, 0), rowOf(4, 0)))
    for (let at = 0; at < 3; at++) chain.block({ absent: [key(2)] })
    chain.block({ absent: [key(2), key(3)] })
    const rows = ordered(rowOf(1, 0), rowOf(2, 4), rowOf(3, 1), rowOf(4, 0))
    expect(asked(chain)).toEqual(rows)
    expect(asked(chain, '?limit=2&offset=1')).toEqual(rows.slice(1, 3))
    expect(asked(chain, '?limit=0')).toEqual([])
    chain.block({ absent: [key(3)] })
    expect(asked(chain)).toEqual(ordered(rowOf(1, 0), rowOf(2, 0), rowOf(3, 2), rowOf(4, 0)))
  })

  test('keeps the count when the candidacy changes hands', () => {
    const chain = startChain([1000, 500], { params })
    const [from, to] = [account(2), account(9)]
    const absent = [key(2)]
    chain.block({ absent, txs: [chain.tx(from, 'updateCandidacyAccount', { newCandidateAccount: bytesOf(to) })] })
    chain.block({ absent, txs: [chain.tx(to, 'acceptCandidacyAccountUpdate', { accountUpdateRequestId: 1 })] })
    expect(asked(chain)).toEqual(ordered(rowOf(1, 0), { ...rowOf(2, 2), owner_address: to.address }))
  })
})
