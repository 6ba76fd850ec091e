import { stateCodec } from '../../codec/state.ts'
import { addressOrNone, amount, ratio, text, u64 } from '../../store/columns.ts'
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
  row: { nextCandidacyId: u64, nextUnbondingNumber: u64, nextRequestId: u64, programVersion: u64 },
  message: stateCodec('svc.state.Counters'),
})

/** What InitChain fixed for the chain's life, and the last block. */
export const chain = table('chain', {
  tag: 0x22,
  key: {},
  row: {
    chainId: text,
    initialHeight: u64,
    evidenceMaxBytes: u64,
    defaultMaxAmount: amount,
    defaultCompRate: ratio,
    foundationAddress: addressOrNone,
    maxAbsentBlocks: u64,
    slashRatio: ratio,
    lastHeight: u64,
    lastTimeMs: u64,
  },
  message: stateCodec('svc.state.Chain'),
})

/** The one row of `chain`. */
export type ChainRow = RowOf<typeof chain>

/** Hashed tables of this module. */
export const chainTables = [totals, counters, chain] as const
