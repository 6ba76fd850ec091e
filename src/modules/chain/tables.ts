import { stateCodec } from '../../codec/state.ts'
import { addressOrNone } from '../../values/account.ts'
import { amount, ratio, uint } from '../../values/number.ts'
import { text } from '../../values/text.ts'
import { type RowOf, table } from '../../store/table.ts'

/** Supply, in base units: what genesis made, what awards minted, what slashing burned. */
export const totals = table('totals', {
  tag: 0x20,
  key: {},
  row: { genesisSupply: amount, minted: amount, burned: amount },
  message: stateCodec('svc.state.Totals'),
})

/** The next id of each kind that is numbered, and the counter of retired programs. */
export const counters = table('counters', {
  tag: 0x21,
  key: {},
  row: { nextCandidacyId: uint, nextUnbondingNumber: uint, nextRequestId: uint, programVersion: uint },
  message: stateCodec('svc.state.Counters'),
})

/** What InitChain fixed for the chain's life, and the last block. */
export const chain = table('chain', {
  tag: 0x22,
  key: {},
  row: {
    chainId: text,
    initialHeight: uint,
    evidenceMaxBytes: uint,
    defaultMaxAmount: amount,
    defaultCompRate: ratio,
    foundationAddress: addressOrNone,
    maxAbsentBlocks: uint,
    slashRatio: ratio,
    lastHeight: uint,
    lastTimeMs: uint,
  },
  message: stateCodec('svc.state.Chain'),
})

/** The one row of `chain`. */
export type ChainRow = RowOf<typeof chain>

/** Hashed tables of this module. */
export const chainTables = [totals, counters, chain] as const
