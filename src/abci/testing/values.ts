/** What responses hold, with the defaults of what they leave out, and as text to compare. */
import { toHex } from '../../base/bytes.ts'
import type { ExecTxResult, FinalizeBlockResponse } from '../types.ts'

/** No bytes. */
export const NOTHING = new Uint8Array(0)

const isDefault = (value: unknown): boolean =>
  value === undefined ||
  value === 0 ||
  value === '' ||
  value === false ||
  (value instanceof Uint8Array && value.length === 0)

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => !isDefault(member))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, plain(member)]),
  )
}

/** Text that is equal for equal messages: bytes in hex, and without the members that have their default. */
export const textOf = (value: unknown): string => JSON.stringify(plain(value))

/** What all nodes must agree on of one transaction's result. */
const resultOf = ({ code, data, gasWanted, gasUsed }: ExecTxResult): object => ({ code, data, gasWanted, gasUsed })

/** Of the answer to a block what requirement 11 is about: the state, as far as CometBFT sees it. */
export const stateText = ({ appHash, validatorUpdates = [], consensusParamUpdates }: FinalizeBlockResponse): string =>
  textOf({ appHash, validatorUpdates, consensusParamUpdates })

/** Of the answer to a block what requirement 12 is about: the results of its transactions. */
export const resultsText = ({ txResults = [] }: FinalizeBlockResponse): string => textOf(txResults.map(resultOf))

/** `1 transaction`, `2 transactions`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
