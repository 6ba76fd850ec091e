import { address, type Address, addressBytes, addressOf, addressOrNone } from '../../src/values/address.ts'
import { concat, u64be, utf8 } from '../../src/base/bytes.ts'
import {
  type ProposalId,
  proposalId,
  proposalIdBytes,
  proposalIdOf,
  pubKey,
  type PubKey,
  pubKeyOf,
} from '../../src/values/pubKey.ts'
import { descriptor } from '../../src/codec/gen/state.descriptor.js'
import { svc } from '../../src/codec/gen/state.js'
import { codecsOf } from '../../src/codec/message.ts'
import { amount, uint } from '../../src/values/number.ts'
import { flag, text } from '../../src/values/text.ts'
import type { RowCodec } from '../../src/store/rowCodec.ts'
import { derivedTable, table } from '../../src/store/table.ts'

const codec = codecsOf(svc, descriptor) as (name: string) => RowCodec

const json: RowCodec = {
  name: '',
  encode: (row) => utf8(JSON.stringify(row)),
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as Readonly<Record<string, never>>,
}

/**
 * Tables of every shape of key: one column in SQL order, base64, several columns, text, none; and one that is not
 * hashed.
 */
export const accounts = table('accounts', {
  tag: 0x01,
  key: { address },
  row: { balance: amount, nonce: uint },
  message: codec('svc.state.Account'),
})

export const absences = table('absences', {
  tag: 0x05,
  key: { candidacyId: uint },
  row: { count: uint },
  message: codec('svc.state.Absence'),
  indexes: { byCount: (row) => (row.count > 50 ? undefined : u64be(row.count)) },
})

export const members = table('validator_set', {
  tag: 0x04,
  key: { pubKey },
  row: { candidacyId: uint, lastHeight: uint },
  message: codec('svc.state.ValidatorKey'),
})

export const votes = table('votes', {
  tag: 0x11,
  key: { proposalId, candidacyId: uint },
  row: { voter: addressOrNone, answer: text, blockHeight: uint },
  message: codec('svc.state.Vote'),
  indexes: {
    byVoter: (row) => (row.voter === '' ? undefined : addressBytes(row.voter)),
    byAnswer: (row) => concat(utf8(row.answer), Uint8Array.of(0), u64be(row.blockHeight)),
  },
})

/** Values have one letter, and no two rows the same: `step` (model.ts) sees to it. */
export const letters = table('letters', {
  tag: 0x07,
  key: { id: uint },
  row: { value: text },
  message: codec('svc.state.Param'),
  indexes: { byLetter: (row) => (row.id === 0 ? undefined : utf8(row.value)) },
})

export const params = table('params', {
  tag: 0x18,
  key: { name: text, height: uint },
  row: { value: text },
  message: codec('svc.state.Param'),
})

export const totals = table('totals', {
  tag: 0x20,
  key: {},
  row: { genesisSupply: amount, minted: amount, burned: amount },
  message: codec('svc.state.Totals'),
})

export const notes = table('notes', {
  tag: 0xf0,
  hashed: false,
  key: { id: uint },
  row: { verified: flag, name: text },
  message: json,
})

/** How many votes there are on each proposal. */
export const voteCounts = derivedTable('vote_counts', {
  tag: 0xf1,
  key: { proposalId },
  derive: (state, { proposalId: id }) => {
    const on = [...state.scan(votes, { prefix: proposalIdBytes(id) })]
    return { proposalId: id, count: on.length }
  },
  sizeOf: ({ count }) => count,
})

export const tables = [accounts, absences, members, votes, letters, params, totals, notes] as const

/** The n-th address, key or id of a test: spread over all values, the same each time. */
const spread = (n: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => ((n * 2654435761 + at * 40503 * (n + 7)) >>> ((at % 4) * 8)) & 0xff)
export const addressAt = (n: number): Address => addressOf(spread(n, 20))
export const pubKeyAt = (n: number): PubKey => pubKeyOf(spread(n, 32))
export const proposalIdAt = (n: number): ProposalId => proposalIdOf(spread(n, 32))
