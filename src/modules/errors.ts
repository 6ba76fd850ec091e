import { type CatalogueError, catalogue } from '../base/txError.ts'

const fixed = catalogue({
  badSignature: { code: 3, log: 'signature verification failed', source: 'protocol.md §2, check 3' },
  insufficientBalance: {
    code: 20,
    log: 'Insufficient balance',
    source: 'interface: Errors, proposeChangeParam and vote; protocol.md §2, check 7, and §6, transfer_fund',
  },
  tooManyFree: { code: 20, log: 'Too many free transactions waiting', source: 'protocol.md §2, CheckTx' },
  defect: { code: 1000, log: 'internal defect', source: 'protocol.md §2, Codes' },
})

/** The code of a transaction whose nonce is not the next one of its sender. Source: protocol.md §2, check 4. */
export const BAD_NONCE_CODE = 6

/** The codes of a query that is refused, by which the gateway chooses its own error. Source: protocol.md §8. */
export const queryCodes = { unknownPath: 4, badArgument: 20, busy: 30, tooMuch: 31, unavailable: 32 } as const

/** The errors of any transaction or query, whatever it asks for; `ok` is none. */
export const kernelErrors = {
  ...fixed,
  /** Code 0. */
  ok: { code: 0, log: '' },
  cannotDecode: (why: string): CatalogueError => ({
    code: 2,
    log: `cannot decode transaction: ${why}`,
    source: 'protocol.md §2, check 1',
  }),
  wrongChain: (expected: string, got: string): CatalogueError => ({
    code: 3,
    log: `wrong chain id: expected ${expected}, got ${got}`,
    source: 'protocol.md §2, check 2',
  }),
  badNonce: (expected: number, got: number): CatalogueError => ({
    code: BAD_NONCE_CODE,
    log: `bad nonce: expected ${expected}, got ${got}`,
    source: 'protocol.md §2, check 4',
  }),
  unknownRequest: (operation: string): CatalogueError => ({
    code: 4,
    log: `unknown operation ${operation}`,
    source: 'protocol.md §2, Codes',
  }),
  unknownPath: (path: string, known: string): CatalogueError => ({
    code: queryCodes.unknownPath,
    log: `unknown path ${path}: expected one of ${known}`,
    source: 'protocol.md §8',
  }),
  badArgument: (why: string): CatalogueError => ({
    code: queryCodes.badArgument,
    log: `Invalid parameter: ${why}`,
    source: 'protocol.md §8',
  }),
  busy: (why: string): CatalogueError => ({
    code: queryCodes.busy,
    log: `busy: ${why}; try again later`,
    source: 'protocol.md §8',
  }),
  tooMuch: (why: string): CatalogueError => ({
    code: queryCodes.tooMuch,
    log: `too much for one answer: ${why}`,
    source: 'protocol.md §8',
  }),
  unavailable: (why: string): CatalogueError => ({
    code: queryCodes.unavailable,
    log: `unavailable: ${why}`,
    source: 'protocol.md §8',
  }),
} as const
