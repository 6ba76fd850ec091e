import { catalogue } from '../base/txError.ts'
import { BAD_NONCE_CODE } from '../tx/nonceQueue.ts'

/** The codes of a query that is refused, by which the gateway chooses its own error. Source: protocol.md §8. */
export const queryCodes = { unknownPath: 4, badArgument: 20, busy: 30, tooMuch: 31, unavailable: 32 } as const

/** The errors of any transaction or query, whatever it asks for; `ok` is none. */
export const kernelErrors = {
  /** Code 0. */
  ok: { code: 0, log: '' },
  ...catalogue({
    cannotDecode: [2, (why: string) => `cannot decode transaction: ${why}`, 'protocol.md §2, check 1'],
    wrongChain: [
      3,
      (expected: string, got: string) => `wrong chain id: expected ${expected}, got ${got}`,
      'protocol.md §2, check 2',
    ],
    badSignature: [3, 'signature verification failed', 'protocol.md §2, check 3'],
    badNonce: [
      BAD_NONCE_CODE,
      (expected: number, got: number) => `bad nonce: expected ${expected}, got ${got}`,
      'protocol.md §2, check 4',
    ],
    unknownRequest: [4, (operation: string) => `unknown operation ${operation}`, 'protocol.md §2, Codes'],
    insufficientBalance: [
      20,
      'Insufficient balance',
      'interface: Errors, proposeChangeParam and vote; protocol.md §2, check 7, and §6, transfer_fund',
    ],
    tooManyFree: [20, 'Too many free transactions waiting', 'protocol.md §2, CheckTx'],
    leftOut: [20, (blocks: number) => `Transaction was left out of ${blocks} blocks`, 'protocol.md §2, CheckTx'],
    defect: [1000, 'internal defect', 'protocol.md §2, Codes'],
    unknownPath: [
      queryCodes.unknownPath,
      (path: string, known: string) => `unknown path ${path}: expected one of ${known}`,
      'protocol.md §8',
    ],
    badArgument: [queryCodes.badArgument, (why: string) => `Invalid parameter: ${why}`, 'protocol.md §8'],
    busy: [queryCodes.busy, (why: string) => `busy: ${why}; try again later`, 'protocol.md §8'],
    tooMuch: [queryCodes.tooMuch, (why: string) => `too much for one answer: ${why}`, 'protocol.md §8'],
    unavailable: [queryCodes.unavailable, (why: string) => `unavailable: ${why}`, 'protocol.md §8'],
  }),
} as const
