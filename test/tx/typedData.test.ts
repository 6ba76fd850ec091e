import { SignTypedDataVersion, TypedDataUtils } from '@metamask/eth-sig-util'
import { expect, test } from '@jest/globals'
import { TypedDataEncoder } from 'ethers'
import { hashTypedData as viemHash } from 'viem'
import { toHex } from '../../src/base/bytes.ts'
import type { TxEntry } from '../../src/modules/define.ts'
import { txEntries, txEntryOf } from '../../src/modules/registry.ts'
import { encodeBody, encodeTx, decodeTx, type Tx, type TxBody } from '../../src/tx/envelope.ts'
import { checkFields } from '../../src/tx/fields.ts'
import type { TypedData } from '../../src/tx/typedData.ts'
import { hashTypedData } from '../../src/tx/typedDataHash.ts'
import { addressBytes } from '../../src/values/address.ts'
import { random } from '../chain/support.ts'
import { randomMessage } from '../sim/traffic.ts'
import { account, TestChain, tokens } from '../support/testChain.ts'
import { typedDataOfBody } from '../support/wallet.ts'

/** The digest by three libraries that are not ours. */
function theirDigests(data: TypedData): readonly string[] {
  const { EIP712Domain: _, ...types } = data.types
  return [
    viemHash({ ...data, types } as never).slice(2),
    TypedDataEncoder.hash(data.domain, types as never, data.message).slice(2),
    toHex(TypedDataUtils.eip712Hash(data as never, SignTypedDataVersion.V4)),
  ]
}

const COUNT = Number(process.env['TYPED_DATA_COUNT'] ?? 40)

/** The body as a node decodes it: what is absent on the wire is absent in the message. */
function decoded(body: TxBody): TxBody {
  const tx = decodeTx(encodeTx(encodeBody(body), new Uint8Array(0), new Uint8Array(65)))
  if ('why' in tx) throw new Error(tx.why)
  return (tx as Tx).body
}

test.each(txEntries.map(({ operation }) => operation))(
  `the digest of ${COUNT} random messages of %s is that of viem, ethers and eth-sig-util`,
  (operation) => {
    const next = random(7)
    const chain = new TestChain()
    chain.init({
      accounts: [{ address: account(1).address, balance: tokens(10) }],
      candidacies: [{ owner: account(1), key: new Uint8Array(32).fill(1), shares: tokens(10) }],
    })
    const { input } = txEntryOf.get(operation) as TxEntry
    for (let at = 0; at < COUNT; ) {
      const sender = account(1 + next(12))
      const message = randomMessage(next, operation, chain, sender)
      const body = decoded({
        chainId: `c-${next(9)}`,
        from: addressBytes(sender.address),
        nonce: next(2 ** 40),
        operation,
        message,
      })
      // A body with a field that is not of its form has no digest.
      if (checkFields(input, body.message) !== undefined) continue
      at++
      const data = typedDataOfBody(body)
      expect(new Set([toHex(hashTypedData(data)), ...theirDigests(data)]).size).toBe(1)
    }
  },
)

const body = (operation: string, message: TxBody['message']): TxBody => ({
  chainId: 'svc-vectors',
  from: new Uint8Array(20).fill(0x11),
  nonce: 7,
  operation,
  message,
})

// protocol.md §13 has them too.
const VECTORS = [
  [
    'vote',
    { proposalId: new Uint8Array(32).fill(0xfb), answer: 'Y' },
    '4366ddc86618c785bce32d25d13325d16d3d6b5a03a9260b1c70aebf0f6ce344',
  ],
  [
    'transfer',
    { to: new Uint8Array(20).fill(0x22), value: '1000000000000000000' },
    'bcb92651848680b0bf5dab61abebc1475aabf2d75b1e04782fd985e460fb4207',
  ],
  [
    'declareCandidacy',
    { pubKey: new Uint8Array(32).fill(1) },
    '327a2f8cfc5fb2dacc933e9297075726e88661cb3e907475261eb197df03b088',
  ],
  [
    'declareCandidacy',
    {
      pubKey: new Uint8Array(32).fill(1),
      description: { name: 'né', website: 'https://a.example' },
      maxAmount: '10000000000000000000',
      compRate: '0.50',
    },
    'a1c644e3235011493063ab3975a86b2055742cdcb40fe1fb9d59b806846ea547',
  ],
  [
    'declareCandidacy',
    { pubKey: new Uint8Array(32).fill(1), description: {} },
    '6d3f9c89a1a491234553ec925ba2657741fa92cf5c3c358f3e3841921763a1f7',
  ],
] as const

test.each(VECTORS)('vector %#: %s', (operation, message, digest) => {
  const data = typedDataOfBody(body(operation, message))
  expect(toHex(hashTypedData(data))).toBe(digest)
  expect(new Set(theirDigests(data))).toEqual(new Set([digest]))
})

test('what is not given is neither in the type nor in the data', () => {
  const data = typedDataOfBody(body('updateCandidacy', { description: { email: '' } }))
  expect(data.types['UpdateCandidacy']?.map(({ name }) => name)).toEqual(['chain', 'from', 'nonce', 'description'])
  expect(data.types['Description']).toEqual([{ name: 'email', type: 'string' }])
  expect(data.message['description']).toEqual({ email: '' })
})
