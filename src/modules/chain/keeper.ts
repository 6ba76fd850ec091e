import type { Amount } from '../../base/amount.ts'
import { stateCodec } from '../../codec/state.ts'
import type { State, StateReader } from '../../store/state.ts'
import { type RowOf, table } from '../../store/table.ts'
import { addressOrNone } from '../../values/address.ts'
import { amount, ratio, uint } from '../../values/number.ts'
import { text } from '../../values/text.ts'
import type { Block } from '../define.ts'

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

type Counter = 'nextCandidacyId' | 'nextUnbondingNumber' | 'nextRequestId'

/** False before InitChain, and until a snapshot is restored. */
export const hasChain = (state: StateReader): boolean => state.get(chain, {}) !== undefined

/** The chain's constants and last block. Throws before InitChain. */
export function getChain(state: StateReader): ChainRow {
  const row = state.get(chain, {})
  if (row === undefined) throw new Error('chain: no InitChain yet')
  return row
}

/** Of which block these rows are the state. Throws when they are none. */
export function headOfState(state: StateReader): Pick<Block, 'chainId' | 'height' | 'timeMs'> {
  const { chainId, lastHeight, lastTimeMs } = getChain(state)
  return { chainId, height: lastHeight, timeMs: lastTimeMs }
}

/** Minted, burned and genesis supply. */
export function getTotals(state: StateReader): RowOf<typeof totals> {
  return state.get(totals, {}) ?? { genesisSupply: 0n, minted: 0n, burned: 0n }
}

/** genesis supply + minted − burned, in base units. */
export function supplyOf(state: StateReader): Amount {
  const { genesisSupply, minted, burned } = getTotals(state)
  return genesisSupply + minted - burned
}

/** Counts newly minted or burned units. */
export function addToTotals(state: State, total: 'minted' | 'burned', units: Amount): void {
  const row = getTotals(state)
  state.put(totals, { ...row, [total]: row[total] + units })
}

/** The program version of a chain's first block. Source: protocol.md §7, retire_program. */
export const FIRST_PROGRAM_VERSION = 1

function getCounters(state: StateReader): RowOf<typeof counters> {
  return (
    state.get(counters, {}) ?? {
      nextCandidacyId: 1,
      nextUnbondingNumber: 1,
      nextRequestId: 1,
      programVersion: FIRST_PROGRAM_VERSION,
    }
  )
}

/** The next number of a kind, 1, 2, 3 …; it is used up. */
export function takeNumber(state: State, counter: Counter): number {
  const row = getCounters(state)
  state.put(counters, { ...row, [counter]: row[counter] + 1 })
  return row[counter]
}

/** The program version that the chain is at. Source: protocol.md §7, retire_program. */
export const programVersion = (state: StateReader): number => getCounters(state).programVersion

/** Raises the program version by one: the program of the version before is retired. */
export function raiseProgramVersion(state: State): void {
  const row = getCounters(state)
  state.put(counters, { ...row, programVersion: row.programVersion + 1 })
}

/** Writes the rows that InitChain makes. */
export function putGenesis(
  state: State,
  row: Omit<ChainRow, 'lastHeight' | 'lastTimeMs'>,
  genesisTimeMs: number,
  genesisSupply: Amount,
): void {
  state.put(chain, { ...row, lastHeight: 0, lastTimeMs: genesisTimeMs })
  state.put(counters, getCounters(state))
  state.put(totals, { genesisSupply, minted: 0n, burned: 0n })
}

/** Notes the block that was just executed. */
export function putLastBlock(state: State, lastHeight: number, lastTimeMs: number): void {
  state.put(chain, { ...getChain(state), lastHeight, lastTimeMs })
}
